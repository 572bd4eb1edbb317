#include "verbs/layout/subject.hpp"

#include <fmt/core.h>

#include <array>

#include "model/error.hpp"
#include "model/families/setting_keys.hpp"
#include "verbs/layout/acceptable.hpp"

namespace mx::verbs {
namespace {

using families::BlockRequest;
using families::Setting;
using layout::Layout;
using Pair = std::array<std::int64_t, 2>;

BackendChoice sized(BackendChoice choice, const Pair& padded) {
  choice.setting.padded.intermediate = padded[0];
  choice.setting.padded.hidden = padded[1];
  return choice;
}

/// Another layer, without padding.
BackendChoice reshaped(BackendChoice choice, const Pair& sizes) {
  choice = sized(choice, sizes);
  choice.setting.sizes = choice.setting.padded;
  return choice;
}

BlockChoice sized(BlockChoice choice, const Pair& sizes) {
  choice.request.rows = sizes[0];
  choice.request.cols = sizes[1];
  return choice;
}

Pair sizes_of(const BackendChoice& choice) { return {choice.setting.padded.intermediate, choice.setting.padded.hidden}; }
Pair sizes_of(const BlockChoice& choice) { return {choice.request.rows, choice.request.cols}; }

std::vector<std::string> broken_quantities(const BackendChoice& choice) {
  std::vector<std::string> quantities;
  for (const families::BrokenNeed& broken : families::broken_needs(*choice.row, choice.setting)) {
    quantities.emplace_back(families::name_of(broken.need.quantity));
  }
  return quantities;
}

std::vector<std::string> broken_quantities(const BlockChoice& choice) {
  std::vector<std::string> quantities;
  for (const families::BlockNeed& broken : families::broken_needs(*choice.block, choice.request)) quantities.emplace_back(broken.quantity);
  return quantities;
}

Subject program_of(BlockChoice choice) {
  Layout program = families::block_layout(*choice.block, choice.request);
  return {std::move(choice), std::move(program), &layout::kKeep};
}

Subject program_of(BackendChoice choice) {
  families::check_needs(*choice.row, choice.setting);
  layout::TensorPlan plan = choice.row->build(choice.role, choice.setting);
  return {choice, std::move(plan.layout), plan.cast};
}

std::string_view option_of(const BlockChoice&, const BlockChoice&) { return "--shape"; }
std::string_view option_of(const BackendChoice& refused, const BackendChoice& next) {
  if (next.setting.sizes == refused.setting.sizes) return "--padded";
  return refused.setting.tp_size > 1 ? "--rank-shape" : "--shape";
}

/// Throws the model's text, of the error that is being handled, with the sizes that would do; other refusals than those of sizes have none.
template <class AnyChoice>
[[noreturn]] void refuse(const Error& error, const AnyChoice& choice) {
  const std::optional<AnyChoice> next = next_taken(choice);
  if (!next || sizes_of(*next) == sizes_of(choice)) throw;
  const Pair sizes = sizes_of(*next);
  throw Error(error.code(), fmt::format("{}; the next sizes that it takes are {} {}x{}", error.what(), option_of(choice, *next), sizes[0], sizes[1]));
}

}  // namespace

std::optional<BackendChoice> next_taken(const BackendChoice& choice) {
  const std::int64_t step = choice.setting.sizes.group;
  const auto padded = next_acceptable(sizes_of(choice), step, [&](const Pair& tried) { return broken_quantities(sized(choice, tried)); });
  if (padded) return sized(choice, *padded);
  const auto other = next_acceptable(sizes_of(choice), step, [&](const Pair& tried) { return broken_quantities(reshaped(choice, tried)); });
  return other ? std::optional(reshaped(choice, *other)) : std::nullopt;
}

std::optional<BlockChoice> next_taken(const BlockChoice& choice) {
  const auto next = next_acceptable(sizes_of(choice), 1, [&](const Pair& tried) { return broken_quantities(sized(choice, tried)); });
  return next ? std::optional(sized(choice, *next)) : std::nullopt;
}

Subject program_of(Choice choice) {
  return std::visit([](const auto& any) { return program_of(any); }, choice);
}

Subject subject_of(const Choice& choice) {
  try {
    return program_of(choice);
  } catch (const Error& error) {
    std::visit([&](const auto& any) { refuse(error, any); }, choice);
    throw;
  }
}

std::string name_of(const Choice& choice) {
  if (const auto* block = std::get_if<BlockChoice>(&choice)) return std::string(block->block->name);
  const auto& backend = std::get<BackendChoice>(choice);
  return fmt::format("{} {}", backend.row->backend, layout::name_of(backend.role));
}

std::string choices_of(const Choice& choice) {
  if (const auto* block = std::get_if<BlockChoice>(&choice)) {
    const BlockRequest& request = block->request;
    std::string text =
        fmt::format("shape={}x{}x{},unit-bits={},version={}", request.batch, request.rows, request.cols, request.unit_bits, request.version);
    for (const auto& [key, value] : request.params) text += fmt::format(",{}={}", key, value);
    return text;
  }
  const auto& backend = std::get<BackendChoice>(choice);
  const Setting& setting = backend.setting;
  const Setting base{.sizes = setting.sizes, .padded = setting.padded, .form = {setting.form.format, setting.form.order}};
  const std::int64_t side = layout::block_side(setting.sizes.group);
  const std::string block = layout::has_squares(setting.form.format) && side != layout::kBlockSide ? fmt::format(",block={}", side) : "";
  return fmt::format("tensor={},{}={}x{}x{},padded={}x{},format={}{},source-order={}{}", layout::name_of(backend.role),
                     setting.tp_size > 1 ? "rank-shape" : "shape", setting.sizes.experts, setting.sizes.intermediate, setting.sizes.hidden,
                     setting.padded.intermediate, setting.padded.hidden, layout::name_of(setting.form.format), block,
                     layout::name_of(setting.form.order), families::setting_text(setting, base));
}

std::string spec_of(const Choice& choice) {
  const auto* block = std::get_if<BlockChoice>(&choice);
  const std::string_view name = block != nullptr ? block->block->name : std::get<BackendChoice>(choice).row->backend;
  return fmt::format("{},{}", name, choices_of(choice));
}

const layout::Source& source_of(const Choice& choice) {
  const auto* block = std::get_if<BlockChoice>(&choice);
  return block != nullptr ? block->block->source : std::get<BackendChoice>(choice).row->source;
}

std::string version_of(const Choice& choice) {
  if (const auto* block = std::get_if<BlockChoice>(&choice)) return std::string(block->request.version);
  return fmt::format("engine {}", mx::deployment::name_of(std::get<BackendChoice>(choice).setting.engine));
}

}  // namespace mx::verbs
