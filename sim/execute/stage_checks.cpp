#include "sim/execute/stage_checks.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "model/error.hpp"

namespace mx::sim {
namespace {

[[noreturn]] void refuse(const std::string& text, std::string_view where) { throw Error(ErrorCode::usage, text, std::string(where)); }

std::string names(std::span<const StageValues> stages) {
  std::string text;
  for (const StageValues& one : stages) text += (text.empty() ? "" : ", ") + std::string(row_of(one.stage).name);
  return text;
}

void check_form(const StageValues& given, const StageValues& wanted) {
  const std::string_view name = row_of(given.stage).name;
  if (given.dtype != wanted.dtype || given.shape != wanted.shape) {
    refuse("is " + std::string(given.dtype) + " " + shape_text(given.shape) + ", here it is " + std::string(wanted.dtype) + " " +
               shape_text(wanted.shape),
           name);
  }
  if (given.words.size() != elements_of(given.shape)) refuse("has " + std::to_string(given.words.size()) + " elements", name);
}

}  // namespace

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "[" + text + "]";
}

std::size_t elements_of(std::span<const std::int64_t> shape) {
  return static_cast<std::size_t>(std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()));
}

const StageValues& form_of(std::span<const StageValues> forms, LayerStage stage, std::string_view whose, std::string_view where) {
  const auto found = std::ranges::find(forms, stage, &StageValues::stage);
  if (found != forms.end()) return *found;
  refuse(std::string(whose) + " has no " + std::string(row_of(stage).name) + " here; its stages are " + names(forms), where);
}

void check_start(std::span<const StageValues> forms, std::span<const StageValues> from, std::string_view whose) {
  const int step = row_of(from.front().stage).step;
  for (const StageValues& given : from) {
    check_form(given, form_of(forms, given.stage, whose, "from"));
    if (row_of(given.stage).step != step) refuse("a run starts from one step: " + names(from), "from");
  }
  for (const StageValues& one : forms) {
    const bool is_given = std::ranges::find(from, one.stage, &StageValues::stage) != from.end();
    if (row_of(one.stage).step == step && !is_given) refuse(std::string(row_of(one.stage).name) + " is missing beside " + names(from), "from");
  }
}

int last_step(std::span<const StageValues> forms, std::span<const StageValues> from, std::span<const LayerStage> wanted, std::string_view whose) {
  const int start = from.empty() ? -1 : row_of(from.front().stage).step;
  int last = -1;
  for (const LayerStage stage : wanted) {
    static_cast<void>(form_of(forms, stage, whose, "stages"));
    if (row_of(stage).step <= start)
      refuse(std::string(row_of(stage).name) + " lies before the run, which starts from " + std::string(row_of(from.front().stage).name), "stages");
    last = std::max(last, row_of(stage).step);
  }
  return last;
}

void check_experts(std::span<const std::int32_t> ids, std::int64_t top_k, std::int64_t experts) {
  for (std::size_t slot = 0; slot < ids.size(); ++slot) {
    if (ids[slot] >= -1 && ids[slot] < experts) continue;
    const auto place = static_cast<std::int64_t>(slot);
    refuse("token " + std::to_string(place / top_k) + ", slot " + std::to_string(place % top_k) + " goes to expert " + std::to_string(ids[slot]) +
               ", of 0.." + std::to_string(experts - 1) + ", or -1 for none",
           "ids");
  }
}

}  // namespace mx::sim
