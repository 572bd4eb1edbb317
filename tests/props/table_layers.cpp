// Changes of the tables of routers, activations, layouts and roundings; and the exams that say whether a change alters any answer.

#include <array>
#include <sstream>

#include "checkpoint/rounding.hpp"
#include "model/families/memory.hpp"
#include "model/moe/activation.hpp"
#include "model/moe/routing.hpp"
#include "model/numerics/f32.hpp"
#include "props/families/takes_laws.hpp"
#include "tests/props/restated_answers.hpp"
#include "tests/props/table_mutants.hpp"

namespace mx::tests {
namespace {

using Random = Draws;

/// fp32 numbers of many magnitudes, specials and ties among them.
std::uint32_t pick_number(Random& random) {
  constexpr std::array<std::uint32_t, 14> kSpecial{0,           0x80000000U, 0x7F800000U, 0xFF800000U, 0x7FC00000U, 0x3F800000U, 0xBF800000U,
                                                   0x40E00000U, 0xC0E00000U, 0x00000001U, 0x7F7FFFFFU, 0x42B20000U, 0xC2B20000U, 0x40E00001U};
  switch (random() % 4) {
    case 0: return kSpecial[random() % kSpecial.size()];
    case 1: return random();
    default: return (random() % 2 << 31U) | (0x3C000000U + random() % 0x06800000U);
  }
}

/// Groups and a bias are given where the own row takes them.
std::string routed(const moe::RouterRecipe& recipe, const moe::RouterRecipe& own, Random random) {
  return told([&](std::ostream& out) {
    const std::int64_t groups = own.group_score == moe::GroupScore::none ? 1 : 1 + random() % 4;
    const std::int64_t members = 2 + random() % 4;
    const std::int64_t kept = 1 + random() % static_cast<std::uint32_t>(groups);
    const std::int64_t top_k = 1 + random() % static_cast<std::uint32_t>(members * kept);
    std::vector<std::uint32_t> logits;
    std::vector<std::uint32_t> bias;
    const std::uint32_t kind = random() % 3;
    for (std::int64_t e = 0; e < groups * members; ++e) {
      logits.push_back(kind == 0 ? pick_number(random) : (random() % 2 << 31U) | (0x3E000000U + random() % 8 * 0x00200000U));
      bias.push_back((random() % 2 << 31U) | (0x3E000000U + random() % 16 * 0x00200000U));
    }
    if (own.choice != moe::Choice::score_plus_bias) bias.clear();
    const moe::RouterSizes sizes{top_k, groups, kept, decode(kF32, 0x40200000U)};
    for (const moe::Slot& slot : moe::route_logits<moe::F32Arithmetic>(recipe, sizes, logits, bias)) out << slot.expert << ':' << slot.weight << ' ';
    out << static_cast<int>(recipe.weight_on);
  });
}

std::string different_route(const moe::RouterRecipe& own, const moe::RouterRecipe& changed) {
  for (std::uint32_t seed = 1; seed <= 4000; ++seed) {
    if (routed(own, own, Random(seed)) != routed(changed, own, Random(seed))) return "logits of seed " + std::to_string(seed);
  }
  return {};
}

std::string different_activation(const moe::Activation& own, const moe::Activation& changed) {
  Random random(5);
  const std::array<moe::ActivationConstants, 4> kOthers{
      {own.constants, {0x3FA00000U, 0x40200000U, 0x3F000000U, 0x41C80000U}, {f32::kOne, f32::kOne, 0, 0}, changed.constants}};
  if (own.pairing != changed.pairing) return "the place of up";
  if (!(own.constants == changed.constants)) return "the constants that are configured";
  for (int i = 0; i < 20000; ++i) {
    const std::uint32_t gate = pick_number(random);
    const std::uint32_t up = pick_number(random);
    for (const Format* type : {&kF32, &kBf16, &kFp16}) {
      for (const moe::ActivationConstants& constants : kOthers) {
        const auto result = [&](const moe::Activation& row) {
          return told([&](std::ostream& out) { out << moe::activate(row, *type, gate, up, constants); });
        };
        if (result(own) != result(changed)) return "gate " + std::to_string(gate) + " up " + std::to_string(up) + " " + std::string(type->name);
      }
    }
  }
  return {};
}

using families::BackendLayout;

std::string versions_of(const BackendLayout& row) {
  if (row.engines.has(deployment::kVllm2026_05) && row.engines.has(deployment::kVllm2026_08)) return "both";
  return row.engines.has(deployment::kVllm2026_05) ? "2026-05" : "2026-08";
}

/// The check that a setting fails first, as it is told.
std::string refusal_of(const BackendLayout& row, const families::Setting& setting) {
  const std::vector<families::BrokenNeed> broken = families::broken_needs(row, setting);
  return broken.empty() ? std::string() : broken.front().text();
}

/// How a tensor is made, for settings that the row takes.
std::string made_by(const BackendLayout& row, layout::Role role, const families::Setting& setting) {
  return told([&](std::ostream& out) {
    const layout::TensorPlan plan = row.build(role, setting);
    out << plan.layout.describe() << plan.cast->name;
  });
}

bool takes(const BackendLayout& row, const families::Setting& setting) {
  return row.engines.has(setting.engine) && row.converts(setting.form, setting.engine) && refusal_of(row, setting).empty();
}

/// Where a row of layouts says anything else; how its memory differs the laws say.
std::string different_layout(const BackendLayout& own, const BackendLayout& changed) {
  for (const layout::SourceOrder order : {layout::SourceOrder::gpt_oss, layout::SourceOrder::standard}) {
    for (const bool gated : {true, false}) {
      for (const deployment::Engine engine : families::kConversionEngines) {
        const layout::Form form(own.format, order, gated);
        if (own.converts(form, engine) != changed.converts(form, engine))
          return std::string(layout::name_of(order)) + (gated ? "" : " not gated") + " of engine " + std::string(deployment::name_of(engine));
      }
    }
  }
  for (const families::Setting& setting : props::settings_of(own.format)) {
    if (own.engines.has(setting.engine) && refusal_of(own, setting) != refusal_of(changed, setting)) return "refuses: " + refusal_of(own, setting);
  }
  if (own.values != changed.values || own.undo_values != changed.undo_values) return "values on their way";
  for (const families::Setting& setting : props::settings_of(own.format)) {
    if (!takes(own, setting)) continue;
    if (families::padded_by(own, setting) != families::padded_by(changed, setting)) return "the sizes that a kernel works with";
    if (own.build == changed.build) continue;
    for (const layout::Role role : layout::kAllRoles) {
      if (!layout::has_role(own.format, role) || (layout::is_bias(role) && !setting.has_bias)) continue;
      if (made_by(own, role, setting) != made_by(changed, role, setting)) return "how " + std::string(layout::name_of(role)) + " is made";
    }
  }
  return {};
}

std::vector<std::pair<std::string, std::vector<families::Need>>> need_changes(std::span<const families::Need> own) {
  std::vector<std::pair<std::string, std::vector<families::Need>>> all;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::string name = "needs#" + std::to_string(i);
    const auto add = [&](const std::string& what, const families::Need& need) {
      std::vector<families::Need> changed(own.begin(), own.end());
      changed[i] = need;
      all.push_back({name + " " + what, std::move(changed)});
    };
    std::vector<families::Need> fewer(own.begin(), own.end());
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    all.push_back({name + " left out", std::move(fewer)});
    families::Need need = own[i];
    if (need.rule == families::Rule::multiple_of) {
      need.operand = own[i].operand * 2;
      add("twice", need);
      need.operand = own[i].operand / 2;
      if (need.operand > 0) add("half", need);
    } else if (need.rule != families::Rule::power_of_two) {
      need.operand = own[i].operand + 1;
      add("+ 1", need);
    }
    if (own[i].applies != nullptr) {
      need = own[i];
      need.applies = nullptr;
      add("always", need);
    }
  }
  return all;
}

/// A range of versions becomes each other one that there is.
template <class Row, class Member>
void add_versions(Changes<Row>& changes, const std::string& name, const deployment::Versions& own, Member member) {
  struct Range {
    std::string_view name;
    deployment::Versions versions;
  };
  const std::array<Range, 4> ranges{{{"all", deployment::since(deployment::kVllm2026_05)},
                                     {"the older", deployment::before(deployment::kVllm2026_08)},
                                     {"the newer", deployment::since(deployment::kVllm2026_08)},
                                     {"none", deployment::kNever}}};
  const auto same = [&](const deployment::Versions& other) {
    return std::ranges::all_of(families::kConversionEngines, [&](deployment::Engine engine) { return own.has(engine) == other.has(engine); });
  };
  for (const Range& range : ranges) {
    if (!same(range.versions)) changes.add(name + " " + std::string(range.name), member, range.versions);
  }
}

/// Rows whose builds are taken for one another: of one family, or branches of one converter.
bool are_mistaken(const BackendLayout& a, const BackendLayout& b) {
  return a.format == b.format && (a.family == b.family || a.source.symbol == b.source.symbol);
}

/// Each number of a converter's padding doubled; where there is no padding, one to whole tiles.
void add_padding(Changes<BackendLayout>& changes, const families::ConverterPadding& own) {
  using Padding = families::ConverterPadding;
  struct Number {
    const char* name;
    std::int64_t Padding::*member;
  };
  const auto add = [&](const Number& number) {
    const std::int64_t value = own.*number.member == 1 ? 128 : 2 * (own.*number.member);
    changes.add(
        "padding." + std::string(number.name) + " " + std::to_string(value),
        [member = number.member](BackendLayout& r) -> std::int64_t& { return r.padding.*member; }, value);
  };
  for (const Number& number : {Number{"hidden", &Padding::hidden}, {"gated", &Padding::gated}, {"not gated", &Padding::not_gated}}) add(number);
  if (own.wide == 1) return;
  for (const Number& number : {Number{"wide", &Padding::wide}, {"narrow", &Padding::narrow}}) add(number);
}

std::vector<Changes<BackendLayout>::Change> changes_of(const BackendLayout& row, std::span<const BackendLayout> all) {
  Changes<BackendLayout> changes(row);
  add_versions(changes, "engines", row.engines, [](BackendLayout& r) -> deployment::Versions& { return r.engines; });
  add_versions(changes, "standard order", row.standard_order, [](BackendLayout& r) -> deployment::Versions& { return r.standard_order; });
  add_versions(changes, "gpt-oss order", row.gpt_oss_order, [](BackendLayout& r) -> deployment::Versions& { return r.gpt_oss_order; });
  changes.flag("takes not gated", [](BackendLayout& r) -> bool& { return r.takes_not_gated; });
  add_padding(changes, row.padding);
  for (const BackendLayout& other : all) {
    if (other.build == row.build || !are_mistaken(other, row)) continue;
    changes.add(
        "build of " + std::string(other.backend) + " " + versions_of(other), [](BackendLayout& r) -> auto& { return r.build; }, other.build);
  }
  if (row.values != nullptr) {
    using Values = decltype(BackendLayout::values);
    changes.add(
        "values dropped", [](BackendLayout& r) -> auto& { return r.values; }, Values{nullptr});
  }
  if (row.undo_values != nullptr) {
    using Undo = decltype(BackendLayout::undo_values);
    changes.add(
        "undo_values dropped", [](BackendLayout& r) -> auto& { return r.undo_values; }, Undo{nullptr});
  }
  return changes.all();
}

struct LayoutRows {
  std::vector<families::Need> needs;
  std::vector<BackendLayout> rows;
};

TableMutant layout_mutant(std::size_t at, const std::string& change, const BackendLayout& changed, std::vector<families::Need> needs,
                          bool has_needs) {
  const std::span<const BackendLayout> all = families::all_backend_layouts();
  const BackendLayout own = all[at];
  const auto rows = std::make_shared<LayoutRows>(LayoutRows{std::move(needs), {all.begin(), all.end()}});
  rows->rows[at] = changed;
  if (has_needs) rows->rows[at].needs = rows->needs;
  const std::string name = std::string(own.backend) + " " + std::string(layout::name_of(own.format)) + " " + versions_of(own);
  return {"layouts",
          name,
          change,
          std::string(own.family),
          fault::Table::backend_layouts,
          {rows, rows->rows.data()},
          all.size(),
          [own, rows, at] { return different_layout(own, rows->rows[at]); },
          &rows->rows[at]};
}

}  // namespace

std::vector<TableMutant> router_mutants() {
  std::vector<TableMutant> all;
  const std::span<const moe::RouterRecipe> own = moe::all_routers();
  for (std::size_t r = 0; r < own.size(); ++r) {
    using Row = moe::RouterRecipe;
    Changes<Row> changes(own[r]);
    changes.choice(
        "score", [](Row& row) -> moe::Score& { return row.score; }, 4);
    changes.choice(
        "choice", [](Row& row) -> moe::Choice& { return row.choice; }, 3);
    changes.choice(
        "group_score", [](Row& row) -> moe::GroupScore& { return row.group_score; }, 3);
    changes.choice(
        "excluded", [](Row& row) -> moe::Excluded& { return row.excluded; }, 2);
    changes.choice(
        "renormalise", [](Row& row) -> moe::Renormalise& { return row.renormalise; }, 3);
    changes.choice(
        "weight_on", [](Row& row) -> moe::WeightPlace& { return row.weight_on; }, 2);
    if (own[r].eps != 0) changes.bits("eps", [](Row& row) -> std::uint32_t& { return row.eps; });
    for (const auto& change : changes.all()) {
      const auto rows = with_row(own, r, change.row);
      all.push_back({"routers",
                     std::string(own[r].name),
                     change.name,
                     std::string(own[r].name),
                     fault::Table::routers,
                     {rows, rows->data()},
                     rows->size(),
                     [row = own[r], changed = change.row] { return different_route(row, changed); }});
    }
  }
  return all;
}

std::vector<TableMutant> activation_mutants() {
  std::vector<TableMutant> all;
  const std::span<const moe::Activation> own = moe::all_activations();
  for (std::size_t r = 0; r < own.size(); ++r) {
    using Row = moe::Activation;
    Changes<Row> changes(own[r]);
    changes.choice(
        "pairing", [](Row& row) -> moe::Pairing& { return row.pairing; }, 4);
    changes.choice(
        "gate_clamp", [](Row& row) -> moe::Clamp& { return row.gate_clamp; }, 3);
    changes.choice(
        "up_clamp", [](Row& row) -> moe::Clamp& { return row.up_clamp; }, 3);
    changes.choice(
        "curve_clamp", [](Row& row) -> moe::Clamp& { return row.curve_clamp; }, 3);
    changes.choice(
        "clamped_nan", [](Row& row) -> moe::ClampedNan& { return row.clamped_nan; }, 3);
    changes.flag("limit_is_optional", [](Row& row) -> bool& { return row.limit_is_optional; });
    changes.choice(
        "curve", [](Row& row) -> moe::Curve& { return row.curve; }, 7);
    changes.choice(
        "join", [](Row& row) -> moe::Join& { return row.join; }, 5);
    changes.choice(
        "rounding", [](Row& row) -> moe::TypeRounding& { return row.rounding; }, 3);
    changes.flag("wired.alpha", [](Row& row) -> bool& { return row.wired.alpha; });
    changes.flag("wired.beta", [](Row& row) -> bool& { return row.wired.beta; });
    changes.flag("wired.limit", [](Row& row) -> bool& { return row.wired.limit; });
    for (const auto& change : changes.all()) {
      const auto rows = with_row(own, r, change.row);
      all.push_back({"activations",
                     std::string(own[r].name),
                     change.name,
                     std::string(own[r].name),
                     fault::Table::activations,
                     {rows, rows->data()},
                     rows->size(),
                     [row = own[r], changed = change.row] { return different_activation(row, changed); }});
    }
  }
  return all;
}

std::vector<TableMutant> layout_mutants() {
  std::vector<TableMutant> all;
  const std::span<const BackendLayout> rows = families::all_backend_layouts();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (const auto& change : changes_of(rows[r], rows)) all.push_back(layout_mutant(r, change.name, change.row, {}, false));
    for (auto& [name, needs] : need_changes(rows[r].needs)) all.push_back(layout_mutant(r, name, rows[r], std::move(needs), true));
  }
  return all;
}

std::vector<TableMutant> rounding_mutants() {
  std::vector<TableMutant> all;
  const std::span<const engine::RoundingRow> own = engine::rounding_rows();
  const auto add = [&](std::size_t r, const std::string& change, std::vector<engine::RoundingRow> changed) {
    const auto rows = std::make_shared<std::vector<engine::RoundingRow>>(std::move(changed));
    all.push_back({"roundings", "row " + std::to_string(r), change, "", fault::Table::roundings, {rows, rows->data()}, rows->size(), [rows] {
                     return different_rounding(*rows);
                   }});
  };
  for (std::size_t r = 0; r < own.size(); ++r) {
    using Row = engine::RoundingRow;
    Changes<Row> changes(own[r]);
    add_versions(changes, "versions", own[r].versions, [](Row& row) -> deployment::Versions& { return row.versions; });
    for (const std::int64_t factor : {2, 4}) {
      changes.add(
          "hidden * " + std::to_string(factor), [](Row& row) -> std::int64_t& { return row.hidden; }, own[r].hidden* factor);
      changes.add(
          "intermediate * " + std::to_string(factor), [](Row& row) -> std::int64_t& { return row.intermediate; }, own[r].intermediate* factor);
    }
    if (own[r].hidden > 1)
      changes.add(
          "hidden / 2", [](Row& row) -> std::int64_t& { return row.hidden; }, own[r].hidden / 2);
    changes.add(
        "intermediate / 2", [](Row& row) -> std::int64_t& { return row.intermediate; }, own[r].intermediate / 2);
    if (own[r].platform)
      changes.add(
          "every platform", [](Row& row) -> auto& { return row.platform; }, std::optional<deployment::PlatformKind>());
    changes.flag("activations", [](Row& row) -> bool& { return row.silu_or_situ; });
    if (!own[r].backends.empty()) {
      changes.add(
          "every backend", [](Row& row) -> auto& { return row.backends; }, std::span<const std::string_view>());
      changes.add(
          "its first backend left out", [](Row& row) -> auto& { return row.backends; }, own[r].backends.subspan(1));
    }
    for (const auto& change : changes.all()) add(r, change.name, *with_row(own, r, change.row));
    if (r + 1 == own.size()) continue;
    std::vector<Row> changed(own.begin(), own.end());
    std::swap(changed[r], changed[r + 1]);
    add(r, "behind its neighbour", changed);
    changed.assign(own.begin(), own.end());
    changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(r));
    add(r, "left out", changed);
  }
  return all;
}

std::vector<TableMutant> table_mutants() {
  std::vector<TableMutant> all;
  for (const auto part : {recipe_mutants, dequantizer_mutants, contract_mutants, router_mutants, activation_mutants, layout_mutants, rounding_mutants,
                          simulator_mutants}) {
    std::vector<TableMutant> of_part = part();
    std::move(of_part.begin(), of_part.end(), std::back_inserter(all));
  }
  return all;
}

std::vector<TableMutant> sample_of(std::vector<TableMutant> mutants, std::size_t count) {
  constexpr std::uint32_t kSeed = 20261122;
  Draws random(kSeed);
  while (mutants.size() > count) mutants.erase(mutants.begin() + static_cast<std::ptrdiff_t>(random() % mutants.size()));
  return mutants;
}

}  // namespace mx::tests
