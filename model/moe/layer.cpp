#include "model/moe/layer.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/numerics/f32.hpp"

namespace mx::moe {
namespace {

using fault::Fault;
using fault::planted;

/// The tokens that one expert serves, as (token, slot) pairs in ascending order.
using Work = std::vector<std::pair<std::size_t, std::size_t>>;

/// Results of fp32 operations are the processor's: they are nearest even with subnormals only in the default environment.
void check_environment() {
  if (f32::environment_is_default()) return;
  throw Error(ErrorCode::unsupported,
              "floating point rounds another way than to nearest, or flushes subnormals, in this process (mxact doctor tells)");
}

/// True for the experts of this rank.
bool is_held(std::int64_t expert, std::int64_t experts, const ExpertParallel& parallel) {
  const std::int64_t count = experts / parallel.size;
  const std::int64_t first = parallel.rank * count;
  std::int64_t local = expert - first;
  if (planted(Fault::expert_offset_twice)) local -= first;
  return local >= 0 && local < count;
}

void check_ranks(std::int64_t experts, const ExpertParallel& parallel) {
  if (parallel.size < 1 || experts % parallel.size != 0 || parallel.rank < 0 || parallel.rank >= parallel.size) {
    throw Error(ErrorCode::usage, "rank " + std::to_string(parallel.rank) + " of " + std::to_string(parallel.size) + " holds no equal part of " +
                                      std::to_string(experts) + " experts");
  }
}

/// x as exact values, each row zero padded to `width`.
std::vector<Value> widened(std::span<const std::uint32_t> x_bf16, std::int64_t hidden) {
  if (hidden < 1 || x_bf16.size() % static_cast<std::size_t>(hidden) != 0) {
    throw Error(ErrorCode::usage, "x has " + std::to_string(x_bf16.size()) + " values, not rows of " + std::to_string(hidden));
  }
  std::vector<Value> values;
  for (const std::uint32_t code : x_bf16) values.push_back(decode(kBf16, code));
  return values;
}

template <class A>
typename A::Number rounded_number(const typename A::Number& number, StageRounding rounding) {
  return rounding == StageRounding::none ? number : A::from(rounded(A::value(number), rounding));
}

template <class A>
typename A::Number activated(const LayerChoices<typename A::Number>& choices, const typename A::Number& gate, const typename A::Number& up) {
  using Number = typename A::Number;
  const auto swish = [](const Number& x, const Number& inner) { return A::div(x, A::add(A::kOne, A::exp(A::negated(inner)))); };
  if (choices.gated == GatedKind::silu_and_mul) return A::mul(swish(gate, gate), up);
  if constexpr (std::is_same_v<A, F32Arithmetic>) {
    return swiglu_oai(gate, up, {choices.alpha, choices.beta, choices.limit});
  } else {
    const Number g = A::min(gate, choices.limit);
    const Number u = A::max(A::min(up, choices.limit), A::negated(choices.limit));
    return A::mul(swish(g, A::mul(choices.alpha, g)), A::add(u, choices.beta));
  }
}

template <class A>
class Layer {
 public:
  using Number = typename A::Number;
  using Numbers = std::vector<Number>;
  using Row = typename A::Row;
  using Slots = std::vector<SlotOf<Number>>;

  Layer(const A& arithmetic, const Experts& experts, const LayerChoices<Number>& choices, std::span<const Value> x, std::size_t hidden_in,
        std::span<const Slots> slots, bool keep_stages)
      : arithmetic_(arithmetic),
        experts_(experts),
        choices_(choices),
        sizes_(experts.sizes()),
        x_(x),
        hidden_in_(hidden_in),
        slots_(slots),
        keep_stages_(keep_stages) {
    check();
    std::size_t total = 0;
    for (const Slots& token : slots_) {
      first_slot_.push_back(total);
      total += token.size();
    }
    outputs_.resize(total);
    if (keep_stages_) {
      result_.h13.resize(total);
      result_.act.resize(total);
    }
  }

  LayerOutputs<Number> run() {
    const std::vector<Work> work = work_by_expert();
    for (std::size_t expert = 0; expert < work.size(); ++expert) {
      if (!work[expert].empty()) run_expert(static_cast<std::int64_t>(expert), work[expert]);
    }
    combine();
    if (keep_stages_) result_.expert_out = std::move(outputs_);
    return std::move(result_);
  }

 private:
  void check() const {
    check_environment();
    const auto hidden = static_cast<std::size_t>(sizes_.hidden);
    if (hidden_in_ < 1 || hidden_in_ > hidden || x_.size() != slots_.size() * hidden_in_) {
      throw Error(ErrorCode::usage, "x has " + std::to_string(x_.size()) + " values, " + std::to_string(slots_.size()) + " tokens of hidden " +
                                        std::to_string(hidden_in_) + " are routed and the experts take hidden " + std::to_string(hidden));
    }
    check_ranks(sizes_.experts, choices_.stages.expert_parallel);
  }

  bool contributes(const SlotOf<Number>& slot) const { return is_held(slot.expert, sizes_.experts, choices_.stages.expert_parallel); }

  std::vector<Work> work_by_expert() const {
    std::vector<Work> work(static_cast<std::size_t>(sizes_.experts));
    for (std::size_t token = 0; token < slots_.size(); ++token) {
      for (std::size_t slot = 0; slot < slots_[token].size(); ++slot) {
        const std::int64_t expert = slots_[token][slot].expert;
        if (expert < 0 || expert >= sizes_.experts) {
          throw Error(ErrorCode::usage, "expert " + std::to_string(expert) + " is not in 0.." + std::to_string(sizes_.experts - 1));
        }
        if (keep_stages_ || contributes(slots_[token][slot])) work[static_cast<std::size_t>(expert)].emplace_back(token, slot);
      }
    }
    return work;
  }

  Number weight_of(const SlotOf<Number>& slot) const { return rounded_number<A>(slot.weight, choices_.stages.round_weight); }

  /// What enters the first product for one slot: a row of the experts' hidden size.
  std::vector<Value> operand(std::size_t token, std::size_t slot) const {
    std::vector<Value> row;
    for (const Value& value : x_.subspan(token * hidden_in_, hidden_in_)) {
      Number number = A::mul(A::from(value), choices_.input_scale);
      if (choices_.stages.weight_on == WeightPlace::input) number = A::mul(number, weight_of(slots_[token][slot]));
      row.push_back(A::value(number));
    }
    row.resize(static_cast<std::size_t>(sizes_.hidden));
    quantize_row(row, choices_.stages.quant_x);
    return row;
  }

  /// The activations of one expert's work, [work][I], after rounding and quantization.
  std::vector<std::vector<Value>> activations(std::int64_t expert, const Work& work) {
    const auto intermediate = static_cast<std::size_t>(sizes_.intermediate);
    std::vector<Row> operands;
    for (const auto& [token, slot] : work) {
      operands.push_back(arithmetic_.prepared(Side::a, operand(planted(Fault::layer_first_operand) ? work[0].first : token, slot)));
      if (keep_stages_) result_.h13[first_slot_[token] + slot].resize(2 * intermediate);
    }
    std::vector<std::vector<Value>> rows(work.size(), std::vector<Value>(intermediate));
    std::vector<Value> values(static_cast<std::size_t>(sizes_.hidden));
    for (std::size_t i = 0; i < intermediate; ++i) {
      const auto row = static_cast<std::int64_t>(i);
      experts_.w13_row(expert, 0, row, values);
      const Row gate = arithmetic_.prepared(Side::b, values);
      experts_.w13_row(expert, 1, row, values);
      const Row up = arithmetic_.prepared(Side::b, values);
      const std::int64_t biased = planted(Fault::layer_first_bias) ? 0 : expert;
      const Value gate_bias = decode(kF32, experts_.w13_bias(biased, 0, row));
      const Value up_bias = decode(kF32, experts_.w13_bias(biased, 1, row));
      for (std::size_t item = 0; item < work.size(); ++item) {
        const Number g = rounded_number<A>(arithmetic_.dot(operands[item], gate, gate_bias), choices_.stages.round_h13);
        const Number u = rounded_number<A>(arithmetic_.dot(operands[item], up, up_bias), choices_.stages.round_h13);
        rows[item][i] = rounded(A::value(activated<A>(choices_, g, u)), choices_.stages.round_act);
        if (keep_stages_) {
          Numbers& h13 = result_.h13[first_slot_[work[item].first] + work[item].second];
          h13[i] = g;
          h13[intermediate + i] = u;
        }
      }
    }
    for (std::vector<Value>& row : rows) quantize_row(row, choices_.stages.quant_act);
    return rows;
  }

  void run_expert(std::int64_t expert, const Work& work) {
    const std::vector<std::vector<Value>> rows = activations(expert, work);
    std::vector<Row> operands;
    for (const std::vector<Value>& row : rows) operands.push_back(arithmetic_.prepared(Side::a, row));
    std::vector<Value> values(static_cast<std::size_t>(sizes_.intermediate));
    for (const auto& [token, slot] : work) outputs_[first_slot_[token] + slot].resize(hidden_in_);
    for (std::size_t n = 0; n < hidden_in_; ++n) {
      experts_.w2_row(expert, static_cast<std::int64_t>(n), values);
      const Row down = arithmetic_.prepared(Side::b, values);
      const Value bias = choices_.stages.add_w2_bias ? decode(kF32, experts_.w2_bias(expert, static_cast<std::int64_t>(n))) : Value{};
      for (std::size_t item = 0; item < work.size(); ++item) {
        const auto [token, slot] = work[item];
        outputs_[first_slot_[token] + slot][n] = rounded_number<A>(arithmetic_.dot(operands[item], down, bias), choices_.stages.round_expert_out);
      }
    }
    if (!keep_stages_) return;
    for (std::size_t item = 0; item < work.size(); ++item) {
      Numbers& act = result_.act[first_slot_[work[item].first] + work[item].second];
      for (const Value& value : rows[item]) act.push_back(A::from(value));
    }
  }

  void combine() {
    Numbers weights;
    Numbers column;
    for (std::size_t token = 0; token < slots_.size(); ++token) {
      for (std::size_t n = 0; n < hidden_in_; ++n) {
        weights.clear();
        column.clear();
        for (std::size_t slot = 0; slot < slots_[token].size(); ++slot) {
          if (!contributes(slots_[token][slot])) continue;
          weights.push_back(choices_.stages.weight_on == WeightPlace::input ? A::kOne : weight_of(slots_[token][slot]));
          column.push_back(outputs_[first_slot_[token] + slot][n]);
        }
        result_.out.push_back(arithmetic_.weighted_sum(weights, column));
      }
    }
  }

  const A& arithmetic_;
  const Experts& experts_;
  const LayerChoices<Number>& choices_;
  layout::Sizes sizes_;
  std::span<const Value> x_;
  std::size_t hidden_in_;
  std::span<const Slots> slots_;
  bool keep_stages_;
  std::vector<std::size_t> first_slot_;  ///< of each token, in the order of all slots
  std::vector<Numbers> outputs_;         ///< [slot][hidden_in]
  LayerOutputs<Number> result_;
};

}  // namespace

template <class A>
LayerOutputs<typename A::Number> run_layer(const A& arithmetic, const Experts& experts, const LayerChoices<typename A::Number>& choices,
                                           std::span<const Value> x, std::int64_t hidden_in,
                                           std::span<const std::vector<SlotOf<typename A::Number>>> slots, bool keep_stages) {
  return Layer<A>(arithmetic, experts, choices, x, hidden_in < 1 ? 0 : static_cast<std::size_t>(hidden_in), slots, keep_stages).run();
}

template LayerOutputs<std::uint32_t> run_layer(const F32Arithmetic&, const Experts&, const LayerChoices<std::uint32_t>&, std::span<const Value>,
                                               std::int64_t, std::span<const std::vector<SlotOf<std::uint32_t>>>, bool);
template LayerOutputs<std::uint32_t> run_layer(const Bf16Arithmetic&, const Experts&, const LayerChoices<std::uint32_t>&, std::span<const Value>,
                                               std::int64_t, std::span<const std::vector<SlotOf<std::uint32_t>>>, bool);
template LayerOutputs<Value> run_layer(const WideArithmetic&, const Experts&, const LayerChoices<Value>&, std::span<const Value>, std::int64_t,
                                       std::span<const std::vector<SlotOf<Value>>>, bool);

std::vector<std::uint32_t> run_experts(const Experts& experts, const RunConfig& config, std::span<const std::uint32_t> x_bf16, std::int64_t hidden_in,
                                       std::span<const std::vector<Slot>> slots) {
  LayerChoices<std::uint32_t> choices{GatedKind::swiglu_oai, config.activation.alpha, config.activation.beta, config.activation.limit, f32::kOne, {}};
  choices.stages.add_w2_bias = config.add_w2_bias;
  return run_layer(F32Arithmetic{config.contract}, experts, choices, widened(x_bf16, hidden_in), hidden_in, slots, false).out;
}

std::vector<std::vector<Slot>> route(Contract contract, const Router& router, std::int64_t top_k, std::span<const std::uint32_t> x_bf16) {
  check_environment();
  const std::vector<Value> x = widened(x_bf16, router.hidden);
  const auto hidden = static_cast<std::size_t>(router.hidden);
  std::vector<std::vector<Slot>> slots;
  for (std::size_t token = 0; token * hidden < x.size(); ++token) {
    slots.push_back(route_topk_softmax(contract, std::span(x).subspan(token * hidden, hidden), router, top_k));
  }
  return slots;
}

std::optional<GatedKind> gated_kind(const Activation& row) {
  struct Gated {
    std::string_view name;
    GatedKind kind;
  };
  static constexpr std::array kRows{Gated{"swiglu_oai", GatedKind::swiglu_oai}, Gated{"silu_and_mul", GatedKind::silu_and_mul}};
  const auto* const found = std::ranges::find(kRows, row.name, &Gated::name);
  return found == kRows.end() ? std::nullopt : std::optional(found->kind);
}

}  // namespace mx::moe
