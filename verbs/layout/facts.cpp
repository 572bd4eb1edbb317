#include "verbs/layout/facts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "model/error.hpp"
#include "verbs/layout/where.hpp"

namespace mx::verbs {
namespace {

using families::BackendLayout;
using families::Setting;
using layout::Role;
using layout::Sizes;

// No multiple of a tile: whatever pads shows it.
constexpr std::int64_t kAwkwardRows = 10;
constexpr std::int64_t kAwkwardCols = 6;
constexpr std::int64_t kAwkwardGroups = 5;
constexpr std::int64_t kLargestGroup = 32;

std::string way_back_of(const Subject& subject) {
  const layout::Cast& cast = *subject.cast;
  const bool cuts = std::ranges::any_of(subject.layout.steps(), [](const layout::Step& step) { return std::holds_alternative<layout::Slice>(step); });
  if (cuts) return "elements are cut off";
  if (cast.keeps()) return "bijection";
  return fmt::format("{}, {}", cast.name, layout::Uncast(cast).is_lossless() ? "every code comes back" : "some codes do not come back");
}

std::string padding_of(const layout::Layout& program) {
  std::vector<std::string> contents;
  for (std::size_t i = 0; i < program.steps().size(); ++i) {
    const auto* pad = std::get_if<layout::Pad>(&program.steps()[i]);
    if (pad == nullptr || pad->extent == program.axes_before(i)[static_cast<std::size_t>(pad->axis)].extent) continue;
    const std::string content = padding_text(pad->content).substr(std::string("padding, ").size());
    if (std::ranges::find(contents, content) == contents.end()) contents.push_back(content);
  }
  std::string text;
  for (const std::string& content : contents) text += (text.empty() ? "" : ", ") + content;
  return text.empty() ? "none" : text;
}

LayoutFacts facts_of(const Subject& subject) {
  return {subject.layout.unit_bits(), subject.layout.grain_bits(), padding_of(subject.layout), way_back_of(subject)};
}

std::optional<Subject> awkward(const BackendLayout& row, Role role, families::Arch arch) {
  const std::int64_t group = std::max<std::int64_t>(layout::group_of(row.format), 1);
  const std::int64_t size = kAwkwardGroups * std::max(group, kLargestGroup);
  const deployment::Engine engine = row.engines.has(deployment::kDefaultEngine) ? deployment::kDefaultEngine : row.engines.since;
  const layout::SourceOrder order = row.gpt_oss_order.has(engine) ? layout::SourceOrder::gpt_oss : layout::SourceOrder::standard;
  const Sizes sizes{1, size, size, group};
  const std::optional<BackendChoice> choice =
      next_taken(BackendChoice{&row, role, {.sizes = sizes, .padded = sizes, .form = {row.format, order}, .engine = engine, .arch = arch}});
  if (!choice) return std::nullopt;
  try {
    return subject_of(*choice);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

LayoutFacts facts_of(const families::BuildingBlock& block) {
  constexpr int kByte = 8;
  const std::optional<BlockChoice> choice = next_taken(BlockChoice{&block,
                                                                   {.version = block.versions.front(),
                                                                    .batch = 1,
                                                                    .rows = kAwkwardRows,
                                                                    .cols = kAwkwardCols,
                                                                    .unit_bits = block.unit_bits != 0 ? block.unit_bits : kByte,
                                                                    .params = {}}});
  if (!choice) return {block.unit_bits, block.unit_bits, "unknown", "unknown"};
  LayoutFacts facts = facts_of(subject_of(*choice));
  facts.unit_bits = block.unit_bits;
  return facts;
}

LayoutFacts facts_of(const BackendLayout& row, Role role) {
  std::optional<Subject> subject = awkward(row, role, Setting{}.arch);
  for (families::Arch arch = families::Arch::sm75; !subject && arch <= families::Arch::cpu;
       arch = static_cast<families::Arch>(static_cast<int>(arch) + 1)) {
    subject = awkward(row, role, arch);
  }
  const int bits = layout::unit_bits(role, row.format);
  if (!subject) return {bits, bits, "unknown", "unknown"};
  LayoutFacts facts = facts_of(*subject);
  facts.unit_bits = bits;
  if (row.values != nullptr) facts.way_back = row.undo_values != nullptr ? "values change, and come back" : "values change and do not come back";
  return facts;
}

std::vector<Role> roles_of(const BackendLayout& row) {
  std::vector<Role> roles;
  std::ranges::copy_if(layout::kAllRoles, std::back_inserter(roles), [&](Role role) { return layout::has_role(row.format, role); });
  return roles;
}

std::string engines_text(const deployment::Versions& engines) {
  std::string text;
  for (deployment::Engine engine : families::kConversionEngines) {
    if (engines.has(engine)) text += (text.empty() ? "" : ", ") + std::string(deployment::name_of(engine));
  }
  return text;
}

}  // namespace mx::verbs
