// A whole layer of experts, small enough to stand in one line with all its weights.

#include <algorithm>
#include <array>

#include "golden/vectors/arithmetic_ops.hpp"
#include "golden/vectors/number_bins.hpp"
#include "model/error.hpp"
#include "model/moe/arithmetic.hpp"
#include "model/moe/layer.hpp"
#include "model/numerics/block.hpp"
#include "model/numerics/f32.hpp"

namespace mx::golden {
namespace {

constexpr std::string_view kFamily = "moe";
constexpr std::string_view kName = "moe_layer";
constexpr std::array<std::string_view, 1> kTaken{"contract"};

constexpr std::int64_t kExperts = 4;
constexpr std::int64_t kHidden = 32;
constexpr std::int64_t kIntermediate = 32;
constexpr std::int64_t kTopK = 2;
constexpr std::int64_t kRows13 = 2 * kIntermediate;  ///< gate rows of an expert, then its up rows

/// The columns of a vector, in their order; each is one MXFP4 block a row where it has scales.
enum Part : std::size_t { kX, kRouter, kRouterBias, kW13Scale, kW13, kW13Bias, kW2Scale, kW2, kW2Bias, kParts };

std::vector<Column> layer_columns() {
  const auto lanes = [](std::int64_t count) { return static_cast<int>(count); };
  return {{"x", lanes(kHidden), 16, &kBf16},
          {"router", lanes(kExperts * kHidden), 16, &kBf16},
          {"router_bias", lanes(kExperts), 32, &kF32},
          {"w13_scale", lanes(kExperts * kRows13), 8, &kE8m0},
          {"w13", lanes(kExperts * kRows13 * kHidden), 4, &kE2m1},
          {"w13_bias", lanes(kExperts * kRows13), 16, &kBf16},
          {"w2_scale", lanes(kExperts * kHidden), 8, &kE8m0},
          {"w2", lanes(kExperts * kHidden * kIntermediate), 4, &kE2m1},
          {"w2_bias", lanes(kExperts * kHidden), 16, &kBf16}};
}

/// Lanes of one part.
Lanes part_of(Lanes operands, Part part) {
  const std::vector<Column> columns = layer_columns();
  const std::size_t first = lane_count(std::span(columns).first(part));
  return operands.subspan(first, static_cast<std::size_t>(columns[part].lanes));
}
MutableLanes part_of(MutableLanes operands, Part part) {
  const Lanes lanes = part_of(Lanes(operands), part);
  return operands.subspan(static_cast<std::size_t>(lanes.data() - operands.data()), lanes.size());
}

/// The experts as a vector holds them.
class LaneExperts final : public moe::Experts {
 public:
  explicit LaneExperts(Lanes operands) {
    for (std::size_t part = 0; part < kParts; ++part) parts_[part] = part_of(operands, static_cast<Part>(part));
  }

  layout::Sizes sizes() const override { return {.experts = kExperts, .intermediate = kIntermediate, .hidden = kHidden}; }
  void w13_row(std::int64_t expert, std::int64_t half, std::int64_t row, std::span<Value> out) const override {
    read_row(kW13, kW13Scale, index13(expert, half, row), out);
  }
  void w2_row(std::int64_t expert, std::int64_t row, std::span<Value> out) const override {
    read_row(kW2, kW2Scale, static_cast<std::size_t>(expert * kHidden + row), out);
  }
  std::uint32_t w13_bias(std::int64_t expert, std::int64_t half, std::int64_t row) const override {
    return to_f32(parts_[kW13Bias][index13(expert, half, row)], kBf16);
  }
  std::uint32_t w2_bias(std::int64_t expert, std::int64_t row) const override {
    return to_f32(parts_[kW2Bias][static_cast<std::size_t>(expert * kHidden + row)], kBf16);
  }

 private:
  static std::size_t index13(std::int64_t expert, std::int64_t half, std::int64_t row) {
    return static_cast<std::size_t>(expert * kRows13 + half * kIntermediate + row);
  }
  void read_row(Part codes, Part scales, std::size_t row, std::span<Value> out) const {
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = scaled_value(parts_[codes][row * out.size() + k], parts_[scales][row], kMxfp4);
  }

  std::array<Lanes, kParts> parts_;
};

/// The answer: which experts, with which weights; of each, its gate rows, its up rows and what the activation makes of them; what comes out.
std::vector<Column> result_columns() {
  const auto per_slot = [](std::int64_t count) { return static_cast<int>(kTopK * count); };
  return {{"experts", per_slot(1), 8},
          {"weights", per_slot(1), 32, &kF32},
          {"gate_up", per_slot(kRows13), 32, &kF32},
          {"act", per_slot(kIntermediate), 32, &kF32},
          {"out", static_cast<int>(kHidden), 32, &kF32}};
}
Lanes out_of(Lanes results) { return results.last(kHidden); }

/// The answer for a vector's operands.
void run_into(Contract contract, Lanes operands, MutableLanes results) {
  moe::Router router{kExperts, kHidden, {}, {}};
  for (std::uint32_t code : part_of(operands, kRouter)) router.weight.push_back(decode(kBf16, code));
  const Lanes bias = part_of(operands, kRouterBias);
  router.bias.assign(bias.begin(), bias.end());
  const Lanes x = part_of(operands, kX);
  const auto slots = moe::route(contract, router, kTopK, x);
  std::vector<Value> values;
  for (std::uint32_t code : x) values.push_back(decode(kBf16, code));
  constexpr moe::SwigluOai kConstants{};
  const moe::LayerChoices<std::uint32_t> choices{moe::GatedKind::swiglu_oai, kConstants.alpha, kConstants.beta, kConstants.limit, f32::kOne, {}};
  const auto run = moe::run_layer(moe::F32Arithmetic{contract}, LaneExperts(operands), choices, values, kHidden, slots, true);
  auto place = results.begin();
  for (const moe::Slot& slot : slots[0]) *place++ = static_cast<std::uint32_t>(slot.expert);
  for (const moe::Slot& slot : slots[0]) *place++ = slot.weight;
  for (const auto* rows : {&run.h13, &run.act}) {
    for (const std::vector<std::uint32_t>& row : *rows) place = std::ranges::copy(row, place).out;
  }
  std::ranges::copy(run.out, place);
}

std::uint32_t small_bf16(support::SplitMix64& random) {
  // Sign, one of eight exponents around 2^-4, seven bits of mantissa.
  const std::uint64_t word = random.next();
  return (static_cast<std::uint32_t>(word) & 0x807FU) | (120U + static_cast<std::uint32_t>(word >> 60U) % 8U) << 7U;
}

class LayerOp final : public VectorOp {
 public:
  LayerOp(const AskedContract& asked, Edition edition) : VectorOp(std::string(kName), kFamily, edition), contract_(asked.contract) {
    operands_ = layer_columns();
    results_ = result_columns();
    settings_ = {{"contract", asked.name},     {"experts", "4"},          {"hidden", "32"}, {"intermediate", "32"}, {"top-k", "2"},
                 {"activation", "swiglu_oai"}, {"router", "topk-softmax"}};
    axes_ = {{"first expert", {"0", "1", "2", "3"}},
             {"logits", {"all different", "two equal", "all equal"}},
             {"scales", {"ordinary", "a NaN scale", "all zero weights"}},
             {"out", {"finite", "zero", "a NaN"}}};
  }

  void evaluate(Lanes operands, MutableLanes results) const override { run_into(contract_, operands, results); }
  void bins(Lanes operands, Lanes results, std::span<std::uint8_t> bins) const override;
  std::string why_unreachable(std::size_t axis, std::size_t bin) const override {
    return axes_[axis].name + ": no layer has '" + axes_[axis].bins[bin] + "'";
  }
  void directed(const std::function<void(Lanes)>& sink) const override;

  void random(support::SplitMix64& random, MutableLanes operands) const override {
    for (const Part part : {kX, kRouter, kW13Bias, kW2Bias}) std::ranges::generate(part_of(operands, part), [&] { return small_bf16(random); });
    for (const Part part : {kW13, kW2})
      std::ranges::generate(part_of(operands, part), [&] { return static_cast<std::uint32_t>(random.next() >> 60U); });
    for (const Part part : {kW13Scale, kW2Scale})
      std::ranges::generate(part_of(operands, part), [&] { return 122U + static_cast<std::uint32_t>(random.next() >> 62U); });
    std::ranges::generate(part_of(operands, kRouterBias), [&] { return small_bf16(random) << 16U; });
  }

  std::string_view kind(Lanes /*operands*/, Lanes right) const override {
    const Lanes out = out_of(right);
    return std::ranges::any_of(out, [](std::uint32_t lane) { return is_nan_code(kF32, lane); }) ? "NaN output" : "output";
  }

  std::vector<WrongRule> wrong_rules() const override;

 private:
  Contract contract_;
};

void LayerOp::bins(Lanes operands, Lanes results, std::span<std::uint8_t> bins) const {
  bins[0] = static_cast<std::uint8_t>(results[0] + 1U);
  const Lanes router = part_of(operands, kRouter);
  const Lanes bias = part_of(operands, kRouterBias);
  const auto same = [&](std::size_t a, std::size_t b) {
    return bias[a] == bias[b] && std::ranges::equal(router.subspan(a * kHidden, kHidden), router.subspan(b * kHidden, kHidden));
  };
  bins[1] = same(0, 1) && same(0, 2) && same(0, 3) ? 3 : same(0, 1) || same(2, 3) ? 2 : 1;
  const auto any_nan = [&](Part part) { return std::ranges::find(part_of(operands, part), 0xFFU) != part_of(operands, part).end(); };
  const bool zeros = std::ranges::all_of(part_of(operands, kW13), [](std::uint32_t code) { return code == 0; });
  bins[2] = any_nan(kW13Scale) || any_nan(kW2Scale) ? 2 : zeros ? 3 : 1;
  const Lanes out = out_of(results);
  if (std::ranges::any_of(out, [](std::uint32_t lane) { return is_nan_code(kF32, lane); })) {
    bins[3] = 3;
  } else {
    bins[3] = std::ranges::all_of(out, [](std::uint32_t lane) { return lane << 1U == 0; }) ? 2 : 1;
  }
}

void LayerOp::directed(const std::function<void(Lanes)>& sink) const {
  constexpr std::uint64_t kSeed = 20260501;  // fixes the directed set, whatever --seed says
  support::SplitMix64 generator(kSeed);
  std::vector<std::uint32_t> operands(lane_count(operands_));
  const auto fresh = [&] { random(generator, operands); };
  const auto zero = [&](Part part) { std::ranges::fill(part_of(MutableLanes(operands), part), 0U); };
  const auto copy_router_row = [&](std::size_t from, std::size_t to) {
    const MutableLanes router = part_of(MutableLanes(operands), kRouter);
    std::ranges::copy(router.subspan(from * kHidden, kHidden), router.subspan(to * kHidden, kHidden).begin());
    const MutableLanes bias = part_of(MutableLanes(operands), kRouterBias);
    bias[to] = bias[from];
  };
  for (int i = 0; i < 8; ++i) {
    fresh();
    sink(operands);
  }
  for (std::size_t first = 0; first < kExperts; ++first) {
    fresh();
    part_of(MutableLanes(operands), kRouterBias)[first] = 0x42C80000U;  // 100: this expert comes first
    sink(operands);
  }
  fresh();
  copy_router_row(0, 1);
  sink(operands);
  for (std::size_t to = 1; to < kExperts; ++to) copy_router_row(0, to);
  sink(operands);
  fresh();
  part_of(MutableLanes(operands), kW13Scale)[0] = 0xFF;
  std::ranges::fill(part_of(MutableLanes(operands), kW2Scale), 0xFFU);
  sink(operands);
  fresh();
  for (const Part part : {kW13, kW13Bias}) zero(part);
  sink(operands);
  for (const Part part : {kW2, kW2Bias}) zero(part);
  sink(operands);
  fresh();
  zero(kX);
  sink(operands);
}

std::vector<WrongRule> LayerOp::wrong_rules() const {
  std::vector<WrongRule> rules;
  const auto add = [&](FaultClass cls, std::string name, const auto& change) {
    rules.push_back({cls, std::move(name), [contract = contract_, change](Lanes operands, Lanes, MutableLanes answer) {
                       std::vector<std::uint32_t> other(operands.begin(), operands.end());
                       change(MutableLanes(other));
                       run_into(contract, other, answer);
                     }});
  };
  const auto swap_pairs = [](MutableLanes lanes) {
    for (std::size_t i = 0; i + 1 < lanes.size(); i += 2) std::swap(lanes[i], lanes[i + 1]);
  };
  add(FaultClass::order, "nibbles of the weights swapped", [swap_pairs](MutableLanes operands) {
    swap_pairs(part_of(operands, kW13));
    swap_pairs(part_of(operands, kW2));
  });
  add(FaultClass::order, "gate and up exchanged", [](MutableLanes operands) {
    for (const auto& [part, row] : {std::pair{kW13, kHidden}, std::pair{kW13Scale, std::int64_t{1}}, std::pair{kW13Bias, std::int64_t{1}}}) {
      const MutableLanes lanes = part_of(operands, part);
      const auto half = static_cast<std::size_t>(kIntermediate * row);
      for (std::size_t e = 0; e < kExperts; ++e)
        std::swap_ranges(lanes.begin() + static_cast<std::ptrdiff_t>(2 * e * half), lanes.begin() + static_cast<std::ptrdiff_t>((2 * e + 1) * half),
                         lanes.begin() + static_cast<std::ptrdiff_t>((2 * e + 1) * half));
    }
  });
  for (const auto& [part, name] :
       {std::pair{kW13Bias, "the bias of gate and up is missing"}, std::pair{kW2Bias, "the bias of the second product is missing"},
        std::pair{kRouterBias, "the bias of the router is missing"}}) {
    add(FaultClass::value, name, [part = part](MutableLanes operands) { std::ranges::fill(part_of(operands, part), 0U); });
  }
  for (const ContractRow& row : all_contracts()) {
    if (row.contract == contract_) continue;
    rules.push_back({FaultClass::rounding, "contract " + std::string(row.name),
                     [contract = row.contract](Lanes operands, Lanes, MutableLanes answer) { run_into(contract, operands, answer); }});
  }
  return rules;
}

}  // namespace

std::vector<std::string> layer_names() { return {std::string(kName)}; }

std::unique_ptr<VectorOp> make_layer(std::string_view name, const OpOptions& options) {
  if (name != kName) return nullptr;
  require_taken(name, options, kTaken);
  auto op = std::make_unique<LayerOp>(contract_of(options), options.edition());
  // The contract says itself whether it takes plain numbers.
  std::vector<std::uint32_t> zeros(lane_count(op->operands()));
  std::vector<std::uint32_t> results(lane_count(op->results()));
  op->evaluate(zeros, results);
  return op;
}

}  // namespace mx::golden
