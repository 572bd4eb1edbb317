#include "verbs/layout/identify/candidates.hpp"

#include <algorithm>
#include <set>

#include "model/error.hpp"
#include "model/families/setting_keys.hpp"
#include "verbs/layout/identify/backend_sizes.hpp"

namespace mx::verbs {
namespace {

using families::BackendLayout;
using families::BlockParam;
using families::BlockParams;
using families::BuildingBlock;
using families::Setting;
using layout::Role;

/// Programs seen so far of one row, so that settings without effect count once.
class Programs {
 public:
  explicit Programs(std::vector<Subject>& found) : found_(found) {}

  /// True when the choice gives a program that is new; a choice that the converter refuses gives none.
  bool add(const Choice& choice) {
    try {
      Subject subject = program_of(choice);
      if (!seen_.insert(std::string(subject.cast->name) + "\n" + subject.layout.describe() + table_text(subject.layout)).second) return false;
      found_.push_back(std::move(subject));
      return true;
    } catch (const Error&) {
      return false;
    }
  }

 private:
  /// Tables are not part of what describe() prints in full.
  static std::string table_text(const layout::Layout& layout) {
    std::string text;
    for (const layout::Step& step : layout.steps()) {
      const auto* table = std::get_if<layout::Table>(&step);
      if (table == nullptr) continue;
      for (std::int64_t source : table->source) text += " " + std::to_string(source);
    }
    return text;
  }

  std::vector<Subject>& found_;
  std::set<std::string> seen_;
};

std::vector<std::int64_t> trials_of(const BlockParam& param) {
  constexpr std::int64_t kSmallRange = 4;
  constexpr std::int64_t kLargestTrial = 512;
  std::vector<std::int64_t> values{param.standard};
  const auto add = [&](std::int64_t value) {
    if (value >= param.low && value <= param.high && std::ranges::find(values, value) == values.end()) values.push_back(value);
  };
  if (param.high - param.low < kSmallRange) {
    for (std::int64_t value = param.low; value <= param.high; ++value) add(value);
  } else {
    for (std::int64_t value = 1; value <= kLargestTrial; value *= 2) add(value);
  }
  return values;
}

/// Every combination of the parameters' trials.
std::vector<BlockParams> combinations(std::span<const BlockParam> params) {
  std::vector<BlockParams> out{{}};
  for (const BlockParam& param : params) {
    std::vector<BlockParams> longer;
    for (const BlockParams& shorter : out) {
      for (std::int64_t value : trials_of(param)) {
        longer.push_back(shorter);
        longer.back()[std::string(param.key)] = value;
      }
    }
    out = std::move(longer);
  }
  return out;
}

void add_block_subject(const BuildingBlock& block, const MatrixShape& matrix, std::vector<Subject>& found) {
  if (block.unit_bits != 0 && block.unit_bits != matrix.unit_bits) return;
  Programs programs(found);
  for (std::string_view version : block.versions) {
    for (const BlockParams& params : combinations(block.params)) {
      programs.add(BlockChoice{
          &block,
          {.version = version, .batch = matrix.batch, .rows = matrix.rows, .cols = matrix.cols, .unit_bits = matrix.unit_bits, .params = params}});
    }
  }
}

/// The setting with one field changed; its row must still be the same.
BackendChoice changed(BackendChoice choice, const families::SettingKey& key, std::string_view value) {
  key.set(choice.setting, value);
  return choice;
}

bool fits(const BackendChoice& choice) { return choice.row->converts(choice.setting.form, choice.setting.engine); }

/// Fields besides the form, which the shape decides.
bool is_free(const families::SettingKey& key) { return key.key != std::string_view("source-order") && key.key != std::string_view("not-gated"); }

/// What tells a setting from others of the same sizes and form.
std::string every_choice(const Setting& setting) {
  std::string text;
  for (const families::SettingKey& key : families::setting_keys()) text += key.get(setting) + ",";
  return text;
}

/// From a first choice to every program that other settings give.
void add_settings(const BackendChoice& first, Programs& programs) {
  std::vector<BackendChoice> open{first};
  // A setting that was tried gives nothing new, by whatever changes it was reached.
  std::set<std::string> settings{every_choice(first.setting)};
  const auto is_new = [&](const BackendChoice& tried) {
    return settings.insert(every_choice(tried.setting)).second && fits(tried) && programs.add(tried);
  };
  if (programs.add(first)) {
    for (const families::SettingKey& one : families::setting_keys()) {
      if (!is_free(one)) continue;
      std::vector<BackendChoice> halves;
      for (std::string_view value : one.trials) halves.push_back(changed(first, one, value));
      for (const families::SettingKey& other : families::setting_keys()) {
        if (!is_free(other) || &one >= &other) continue;
        for (const BackendChoice& half : halves) {
          for (std::string_view other_value : other.trials) {
            const BackendChoice tried = changed(half, other, other_value);
            if (is_new(tried)) open.push_back(tried);
          }
        }
      }
    }
  }
  while (!open.empty()) {
    const BackendChoice from = open.back();
    open.pop_back();
    for (const families::SettingKey& key : families::setting_keys()) {
      if (!is_free(key)) continue;
      for (std::string_view value : key.trials) {
        const BackendChoice tried = changed(from, key, value);
        if (is_new(tried)) open.push_back(tried);
      }
    }
  }
}

void add_backend(const BackendLayout& row, const MatrixShape& matrix, std::vector<Subject>& found) {
  for (Role role : layout::kAllRoles) {
    for (const Setting& setting : settings_for(row, role, matrix)) {
      // Programs of different row orders look alike and do different things to the file.
      Programs programs(found);
      const BackendChoice choice{&row, role, setting};
      add_settings(choice, programs);
    }
  }
}

}  // namespace

std::vector<Subject> candidates_for(const MatrixShape& matrix) {
  std::vector<Subject> found;
  for (const BuildingBlock& block : families::all_building_blocks()) add_block_subject(block, matrix, found);
  for (const BackendLayout& row : families::all_backend_layouts()) add_backend(row, matrix, found);
  return found;
}

}  // namespace mx::verbs
