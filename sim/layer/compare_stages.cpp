#include "sim/layer/compare_stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "model/error.hpp"
#include "model/numerics/contract.hpp"
#include "sim/execute/product.hpp"

namespace mx::sim {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

bool is_nan(std::uint32_t word, std::string_view dtype) {
  if (dtype == "U8") return false;
  const std::uint32_t bits = (dtype == "BF16" ? word << 16U : word) & 0x7FFFFFFFU;
  return bits > 0x7F800000U;
}

bool alike(std::uint32_t a, std::uint32_t b, std::string_view dtype) { return a == b || (is_nan(a, dtype) && is_nan(b, dtype)); }

/// The run's stage in the type of what it is held against.
StageValues in_type_of(const StageValues& given, StageValues made) {
  if (given.dtype == "BF16" && made.dtype == "F32") {
    made.dtype = given.dtype;
    for (std::uint32_t& word : made.words) word = to_bf16(word) >> 16U;
    for (auto& [element, words] : made.possible) {
      for (std::uint32_t& word : words) word = to_bf16(word) >> 16U;
    }
  }
  if (given.dtype == made.dtype && given.shape == made.shape) return made;
  throw Error(
      ErrorCode::usage,
      fmt::format("is {} [{}] in the file, here it is {} [{}]", given.dtype, fmt::join(given.shape, ", "), made.dtype, fmt::join(made.shape, ", ")),
      std::string(row_of(given.stage).name));
}

std::string value_text(std::uint32_t word, std::string_view dtype) {
  if (dtype == "U8") return fmt::format("{:#04x}", word);
  const bool is_bf16 = dtype == "BF16";
  return fmt::format("{:#0{}x} ({:.9g})", word, is_bf16 ? 6 : 10, std::bit_cast<float>(is_bf16 ? word << 16U : word));
}

bool is_of_slots(LayerStage stage) { return stage != LayerStage::a1_codes && stage != LayerStage::a1_scales && stage != LayerStage::out; }

/// `half`: the intermediate size.
std::string place_text(std::int64_t half, const LayerTokens& tokens, const StageValues& stage, std::int64_t index) {
  if (stage.shape.size() < 2) return "the scale of the tensor";
  const std::int64_t row = index / stage.shape[1], column = index % stage.shape[1];
  std::string text = fmt::format("token {}", row);
  if (is_of_slots(stage.stage)) text = fmt::format("token {}, slot {} (expert {})", row / tokens.top_k, row % tokens.top_k, tokens.ids[at(row)]);
  if (stage.stage == LayerStage::h13 && stage.shape[1] == 2 * half)
    return fmt::format("{}, {} {}", text, column < half ? "gate" : "up", column % half);
  const bool is_scale = stage.stage == LayerStage::a1_scales || stage.stage == LayerStage::act_scales;
  return fmt::format("{}, {} {}", text, is_scale ? "scale" : "column", column);
}

/// Rows of `count` tokens from `token` on; the scale of a tensor stays.
StageValues rows_of(const StageValues& all, std::int64_t token, std::int64_t count, std::int64_t top_k) {
  if (all.shape.size() < 2) return all;
  const std::int64_t rows = is_of_slots(all.stage) ? top_k : 1;
  const auto first = all.words.begin() + token * rows * all.shape[1];
  return {all.stage, all.dtype, {rows * count, all.shape[1]}, {first, first + rows * count * all.shape[1]}};
}

LayerTokens token_alone(const LayerTokens& all, std::int64_t token, std::int64_t hidden) {
  LayerTokens one{all.top_k, {}};
  const auto slots = token * all.top_k;
  one.ids.assign(all.ids.begin() + slots, all.ids.begin() + slots + all.top_k);
  if (!all.weights.empty()) one.weights.assign(all.weights.begin() + slots, all.weights.begin() + slots + all.top_k);
  if (!all.x.empty()) one.x.assign(all.x.begin() + token * hidden, all.x.begin() + (token + 1) * hidden);
  return one;
}

/// One other way to compute a step.
struct Rule {
  std::string text;
  std::function<void(Execution&, families::ExecutionRow&)> change;
};

template <class Enum>
void add_words(std::vector<Rule>& rules, std::string_view what, Enum families::ExecutionRow::*member, std::initializer_list<Enum> words,
               const families::ExecutionRow& own) {
  for (const Enum word : words) {
    if (own.*member != word)
      rules.push_back({fmt::format("{}: {}", what, families::name_of(word)), [=](auto&, families::ExecutionRow& row) { row.*member = word; }});
  }
}

void add_epilogues(std::vector<Rule>& rules, const Execution& execution) {
  using families::EpilogueScale;
  const std::pair<EpilogueScale, const char*> orders[] = {
      {EpilogueScale::product, "d * (a * w)"}, {EpilogueScale::weight_first, "(d * w) * a"}, {EpilogueScale::activation_first, "(d * a) * w"}};
  for (const auto& [order, text] : orders) {
    if (execution.epilogue() != order)
      rules.push_back(
          {fmt::format("scales meet the sum as {}", text), [order = order](Execution& changed, auto&) { changed.launch->epilogue = order; }});
  }
}

void add_product_rules(std::vector<Rule>& rules, const families::ExecutionRow& own, const Execution& execution) {
  using families::BiasEntry;
  add_words(rules, "bias", &families::ExecutionRow::bias, {BiasEntry::dropped, BiasEntry::f32, BiasEntry::after_bf16}, own);
  add_epilogues(rules, execution);
  for (const ContractRow& contract : all_contracts()) {
    if (contract.contract != execution.contract)
      rules.push_back({fmt::format("sums of contract {}", contract.name),
                       [contract = contract.contract](Execution& changed, auto&) { changed.contract = contract; }});
  }
}

void add_activation_rules(std::vector<Rule>& rules, const UsedActivation& own) {
  for (const moe::Activation& other : moe::all_activations()) {
    if ((other.pairing == moe::Pairing::single) != (own.row->pairing == moe::Pairing::single)) continue;
    for (const bool is_models : {true, false}) {
      const moe::ActivationConstants constants = is_models ? own.constants : other.constants;
      if (&other == own.row && constants == own.constants) continue;
      rules.push_back({fmt::format("activation {}{}", other.name, is_models ? "" : ", its own constants"),
                       [name = other.name, constants](Execution& execution, families::ExecutionRow& row) {
                         row.callback = false;
                         execution.launch->applied = nullptr;
                         row.silu = row.swiglu_oai = {name, constants, false, false, false};
                         execution.activation.name = "SILU";
                       }});
    }
  }
}

void add_quantizer_rules(std::vector<Rule>& rules, const families::Quantizer* Execution::*member, const Execution& execution) {
  for (const families::Quantizer& other : families::all_quantizers()) {
    if (&other != execution.*member)
      rules.push_back({fmt::format("quantizer {}", other.name), [member, &other](Execution& changed, auto&) {
                         changed.*member = &other;
                         changed.launch->between = nullptr;
                       }});
  }
}

void add_weight_rules(std::vector<Rule>& rules, const families::ExecutionRow& own) {
  using families::SlotRule;
  add_words(rules, "slot", &families::ExecutionRow::slot, {SlotRule::weighted_rounded, SlotRule::rounded, SlotRule::rounded_weighted_again}, own);
  rules.push_back({own.bf16_weights ? "routing weights stay fp32" : "routing weights are rounded to bf16",
                   [](auto&, families::ExecutionRow& row) { row.bf16_weights = !row.bf16_weights; }});
}

/// Sums and orders, one changed and both.
void add_sum_rules(std::vector<Rule>& rules, const Execution& execution) {
  using families::SlotOrder, families::SlotSum;
  for (const SlotSum sum : {SlotSum::f32, SlotSum::bf16, SlotSum::moe_sum}) {
    for (const SlotOrder order : {SlotOrder::position, SlotOrder::expert}) {
      if (sum != execution.sum || order != execution.row->order)
        rules.push_back({fmt::format("slots summed in {}, {}", name_of(sum), name_of(order)), [=](Execution& changed, families::ExecutionRow& row) {
                           changed.sum = sum;
                           row.order = order;
                         }});
    }
  }
}

std::vector<Rule> rules_of(LayerStage stage, const Execution& execution) {
  const families::ExecutionRow& own = *execution.row;
  std::vector<Rule> rules;
  switch (stage) {
    case LayerStage::a1_codes:
    case LayerStage::a1_scales: add_quantizer_rules(rules, &Execution::first, execution); break;
    case LayerStage::h13: add_product_rules(rules, own, execution); break;
    case LayerStage::act: add_activation_rules(rules, used_activation(execution)); break;
    case LayerStage::act_codes:
    case LayerStage::act_scales: add_quantizer_rules(rules, &Execution::second, execution); break;
    case LayerStage::y:
      add_weight_rules(rules, own);
      add_product_rules(rules, own, execution);
      break;
    case LayerStage::out:
      add_sum_rules(rules, execution);
      add_weight_rules(rules, own);
      break;
  }
  return rules;
}

/// Whether the rows are as given, elements of rows in another order.
struct Arrangement {
  std::string_view text;
  std::size_t (*place)(std::size_t column, std::size_t half);
};
constexpr Arrangement kOfHalves[] = {
    {"columns of gate and up by turns", [](std::size_t column, std::size_t half) { return column % 2 * half + column / 2; }},
    {"columns of up before those of gate", [](std::size_t column, std::size_t half) { return (column + half) % (2 * half); }},
};

std::string arrangement(const StageValues& made, const StageValues& given, std::int64_t intermediate) {
  if (made.stage != LayerStage::h13 || made.shape[1] != 2 * intermediate) return {};
  const std::size_t width = at(made.shape[1]);
  for (const Arrangement& one : kOfHalves) {
    bool same = true;
    for (std::size_t i = 0; i < given.words.size() && same; ++i)
      same = alike(given.words[i], made.words[i - i % width + one.place(i % width, width / 2)], given.dtype);
    if (same) return std::string(one.text);
  }
  return {};
}

/// Slots by ascending expert, as kernels sort them.
bool is_sorted_by_expert(const LayerTokens& tokens, const StageValues& made, const StageValues& given) {
  if (!is_of_slots(made.stage) || made.shape.size() < 2) return false;
  std::vector<std::size_t> slots;
  for (std::size_t slot = 0; slot < tokens.ids.size(); ++slot) slots.push_back(slot);
  std::ranges::stable_sort(slots, {}, [&](std::size_t slot) { return tokens.ids[slot]; });
  const std::size_t width = at(made.shape[1]);
  for (std::size_t i = 0; i < given.words.size(); ++i) {
    if (!alike(given.words[i], made.words[slots[i / width] * width + i % width], given.dtype)) return false;
  }
  return true;
}

/// Whether an element without one value may have this one.
bool may_be(const StageValues& made, std::size_t element, std::uint32_t word) {
  const auto found = made.possible.find(element);
  return found != made.possible.end() && std::ranges::any_of(found->second, [&](std::uint32_t one) { return alike(one, word, made.dtype); });
}

StageComparison compare(std::int64_t intermediate, const LayerTokens& tokens, const StageValues& made, const StageValues& given) {
  const StageValues own = in_type_of(given, made);
  StageComparison result{given.stage};
  result.is_blind = given.words.size() > 1 && std::ranges::adjacent_find(given.words, std::not_equal_to<>()) == given.words.end();
  for (std::size_t i = 0; i < own.words.size(); ++i) {
    ++result.compared;
    if (alike(own.words[i], given.words[i], given.dtype) || may_be(own, i, given.words[i]) || ++result.differing > 1) continue;
    result.first = static_cast<std::int64_t>(i);
    result.where = place_text(intermediate, tokens, own, result.first);
    result.values = fmt::format("{} in the file, {} here", value_text(given.words[i], given.dtype), value_text(own.words[i], own.dtype));
  }
  return result;
}

/// The first differing token alone.
struct OneToken {
  LayerTokens tokens;
  StageValues wanted;
  std::vector<StageValues> from;
};
OneToken one_token(const LayerTokens& tokens, std::int64_t hidden, std::span<const StageValues> before, const StageValues& given,
                   const StageComparison& comparison) {
  const std::int64_t row = comparison.first / given.shape[1];
  const std::int64_t token = is_of_slots(given.stage) ? row / tokens.top_k : row;
  OneToken one{token_alone(tokens, token, hidden), rows_of(given, token, 1, tokens.top_k), {}};
  for (const StageValues& stage : before) one.from.push_back(rows_of(stage, token, 1, tokens.top_k));
  return one;
}

/// Whether experts that compute otherwise make that token's rows.
template <class Experts>
bool makes(const Experts& other, const OneToken& one) {
  const LayerStage stages[] = {one.wanted.stage};
  try {
    const std::vector<StageValues> tried = run_layer(other, one.tokens, one.from, stages);
    const StageValues& values = tried.front();
    if (values.dtype != one.wanted.dtype && !(values.dtype == "F32" && one.wanted.dtype == "BF16")) return false;
    return values.shape == one.wanted.shape && compare_stage(other, one.tokens, values, one.wanted).differing == 0;
  } catch (const Error&) {
    // No kernel computes this layer so: the rule explains nothing.
    return false;
  }
}

/// The same numbers elsewhere.
std::string moved(std::int64_t intermediate, const LayerTokens& tokens, const StageValues& own, const StageValues& given) {
  if (std::string text = arrangement(own, given, intermediate); !text.empty()) return text;
  return is_sorted_by_expert(tokens, own, given) ? "rows of slots sorted by expert" : "";
}

/// Other choices of a layer under a contract, in words.
std::vector<std::pair<std::string, moe::ScaledChoices>> other_choices(const ContractExperts& experts, LayerStage stage) {
  std::vector<std::pair<std::string, moe::ScaledChoices>> all;
  if (stage == LayerStage::h13 || stage == LayerStage::y) {
    for (const ContractRow& contract : all_contracts()) {
      moe::ScaledChoices other = experts.choices;
      other.contract = contract.contract;
      if (contract.contract == experts.choices.contract || recipe_under(contract.contract) != other.recipe) continue;
      if (experts.rows || has_panels(contract.contract, experts.panels->w13.format->format))
        all.emplace_back(fmt::format("sums of contract {}", contract.name), other);
    }
  }
  for (const moe::Activation& row : moe::all_activations()) {
    if (stage != LayerStage::act || &row == experts.choices.activation || (row.pairing == moe::Pairing::single) == experts.gated) continue;
    moe::ScaledChoices other = experts.choices;
    other.activation = &row;
    other.constants = row.constants;
    all.emplace_back(fmt::format("activation {}, its own constants", row.name), other);
  }
  return all;
}

}  // namespace

StageComparison compare_stage(const LayerExperts& experts, const LayerTokens& tokens, const StageValues& made, const StageValues& given) {
  return compare(experts.weights.sizes().intermediate, tokens, made, given);
}

StageComparison compare_stage(const ContractExperts& experts, const LayerTokens& tokens, const StageValues& made, const StageValues& given) {
  return compare(experts.sizes.intermediate, tokens, made, given);
}

std::string explanation(const LayerExperts& experts, const LayerTokens& tokens, std::span<const StageValues> before, const StageValues& made,
                        const StageValues& given, const StageComparison& comparison) {
  const StageValues own = in_type_of(given, made);
  if (std::string text = moved(experts.weights.sizes().intermediate, tokens, own, given); !text.empty()) return text;
  if (given.shape.size() < 2) return {};
  const OneToken one = one_token(tokens, experts.hidden, before, given, comparison);
  const LayerExperts launched = settled(experts, tokens.tokens(), tokens.top_k);
  for (const Rule& rule : rules_of(given.stage, launched.execution)) {
    families::ExecutionRow changed = *launched.execution.row;
    LayerExperts other = launched;
    rule.change(other.execution, changed);
    other.execution.row = &changed;
    if (makes(other, one)) return rule.text;
  }
  return {};
}

std::string explanation(const ContractExperts& experts, const LayerTokens& tokens, std::span<const StageValues> before, const StageValues& made,
                        const StageValues& given, const StageComparison& comparison) {
  if (std::string text = moved(experts.sizes.intermediate, tokens, in_type_of(given, made), given); !text.empty()) return text;
  const OneToken one = one_token(tokens, experts.sizes.hidden, before, given, comparison);
  for (const auto& [text, choices] : other_choices(experts, given.stage)) {
    ContractExperts other = experts;
    other.choices = choices;
    if (makes(other, one)) return text;
  }
  return {};
}

}  // namespace mx::sim
