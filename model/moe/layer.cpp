#include "model/moe/layer.hpp"

#include <string>
#include <utility>

#include "model/error.hpp"
#include "model/numerics/exact_sum.hpp"
#include "model/numerics/f32.hpp"

namespace mx::moe {
namespace {

/// The tokens that one expert serves, as (token, slot) pairs in ascending order.
using Work = std::vector<std::pair<std::size_t, std::size_t>>;

std::vector<Work> work_by_expert(std::int64_t experts, std::span<const std::vector<Slot>> slots) {
  std::vector<Work> work(static_cast<std::size_t>(experts));
  for (std::size_t token = 0; token < slots.size(); ++token) {
    for (std::size_t slot = 0; slot < slots[token].size(); ++slot) {
      const std::int64_t expert = slots[token][slot].expert;
      if (expert < 0 || expert >= experts) {
        throw Error(ErrorCode::usage, "expert " + std::to_string(expert) + " is not in 0.." + std::to_string(experts - 1));
      }
      work[static_cast<std::size_t>(expert)].emplace_back(token, slot);
    }
  }
  return work;
}

/// Results of fp32 operations are the processor's: they are nearest even with subnormals only in the default environment.
void check_environment() {
  if (f32::environment_is_default()) return;
  throw Error(ErrorCode::unsupported,
              "floating point rounds another way than to nearest, or flushes subnormals, in this process (mxact doctor tells)");
}

/// x as exact values, each row zero padded to `width`.
std::vector<Value> widened(std::span<const std::uint32_t> x_bf16, std::int64_t hidden_in, std::int64_t width) {
  const std::size_t tokens = x_bf16.size() / static_cast<std::size_t>(hidden_in);
  std::vector<Value> values(tokens * static_cast<std::size_t>(width));
  for (std::size_t token = 0; token < tokens; ++token) {
    for (std::size_t k = 0; k < static_cast<std::size_t>(hidden_in); ++k) {
      values[token * static_cast<std::size_t>(width) + k] = decode(kBf16, x_bf16[token * static_cast<std::size_t>(hidden_in) + k]);
    }
  }
  return values;
}

/// One expert on all its tokens: activations [work, I], then outputs [work, hidden_in] as fp32 bits.
std::vector<std::uint32_t> run_expert(const Experts& experts, const RunConfig& config, std::int64_t expert, const Work& work,
                                      std::span<const Value> x, std::size_t hidden_in) {
  const auto hidden = static_cast<std::size_t>(experts.sizes().hidden);
  const auto intermediate = static_cast<std::size_t>(experts.sizes().intermediate);
  std::vector<Value> gate(hidden);
  std::vector<Value> up(hidden);
  std::vector<Value> activations(work.size() * intermediate);
  for (std::size_t i = 0; i < intermediate; ++i) {
    const auto row = static_cast<std::int64_t>(i);
    experts.w13_row(expert, 0, row, gate);
    experts.w13_row(expert, 1, row, up);
    for (std::size_t item = 0; item < work.size(); ++item) {
      const std::span<const Value> token = x.subspan(work[item].first * hidden, hidden);
      const std::uint32_t g = dot(config.contract, token, gate, experts.w13_bias(expert, 0, row));
      const std::uint32_t u = dot(config.contract, token, up, experts.w13_bias(expert, 1, row));
      activations[item * intermediate + i] = decode(kF32, swiglu_oai(g, u, config.activation));
    }
  }
  std::vector<Value> down(intermediate);
  std::vector<std::uint32_t> outputs(work.size() * hidden_in);
  for (std::size_t n = 0; n < hidden_in; ++n) {
    experts.w2_row(expert, static_cast<std::int64_t>(n), down);
    const std::uint32_t bias = config.add_w2_bias ? experts.w2_bias(expert, static_cast<std::int64_t>(n)) : 0;
    for (std::size_t item = 0; item < work.size(); ++item) {
      outputs[item * hidden_in + n] = dot(config.contract, std::span(activations).subspan(item * intermediate, intermediate), down, bias);
    }
  }
  return outputs;
}

std::uint32_t combine(Contract contract, const std::vector<Slot>& slots, std::span<const std::uint32_t> outputs) {
  ExactSum exact;
  std::uint32_t sequential = 0;
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    if (contract == Contract::exact) {
      exact.add_product(decode(kF32, slots[slot].weight), decode(kF32, outputs[slot]));
    } else {
      sequential = f32::fma(slots[slot].weight, outputs[slot], sequential);
    }
  }
  return contract == Contract::exact ? exact.to_f32() : sequential;
}

}  // namespace

std::vector<std::uint32_t> run_experts(const Experts& experts, const RunConfig& config, std::span<const std::uint32_t> x_bf16, std::int64_t hidden_in,
                                       std::span<const std::vector<Slot>> slots) {
  check_environment();
  const layout::Sizes sizes = experts.sizes();
  if (hidden_in < 1 || hidden_in > sizes.hidden || x_bf16.size() != slots.size() * static_cast<std::size_t>(hidden_in)) {
    throw Error(ErrorCode::usage, "x has " + std::to_string(x_bf16.size()) + " values, " + std::to_string(slots.size()) + " tokens of hidden " +
                                      std::to_string(hidden_in) + " are routed and the experts take hidden " + std::to_string(sizes.hidden));
  }
  const auto width = static_cast<std::size_t>(hidden_in);
  const std::vector<Value> x = widened(x_bf16, hidden_in, sizes.hidden);
  const std::vector<Work> work = work_by_expert(sizes.experts, slots);
  std::vector<std::vector<std::vector<std::uint32_t>>> slot_outputs(slots.size());  // [token][slot][hidden_in]
  for (std::size_t token = 0; token < slots.size(); ++token) slot_outputs[token].resize(slots[token].size());
  for (std::size_t expert = 0; expert < work.size(); ++expert) {
    if (work[expert].empty()) continue;
    const std::vector<std::uint32_t> outputs = run_expert(experts, config, static_cast<std::int64_t>(expert), work[expert], x, width);
    for (std::size_t item = 0; item < work[expert].size(); ++item) {
      const auto [token, slot] = work[expert][item];
      const auto begin = outputs.begin() + static_cast<std::ptrdiff_t>(item * width);
      slot_outputs[token][slot].assign(begin, begin + static_cast<std::ptrdiff_t>(width));
    }
  }
  std::vector<std::uint32_t> out(slots.size() * width);
  std::vector<std::uint32_t> column;
  for (std::size_t token = 0; token < slots.size(); ++token) {
    for (std::size_t n = 0; n < width; ++n) {
      column.clear();
      for (const auto& output : slot_outputs[token]) column.push_back(output[n]);
      out[token * width + n] = combine(config.contract, slots[token], column);
    }
  }
  return out;
}

std::vector<std::vector<Slot>> route(Contract contract, const Router& router, std::int64_t top_k, std::span<const std::uint32_t> x_bf16) {
  check_environment();
  if (router.hidden < 1 || x_bf16.size() % static_cast<std::size_t>(router.hidden) != 0) {
    throw Error(ErrorCode::usage, "x has " + std::to_string(x_bf16.size()) + " values, not rows of " + std::to_string(router.hidden), "router");
  }
  const std::vector<Value> x = widened(x_bf16, router.hidden, router.hidden);
  const auto hidden = static_cast<std::size_t>(router.hidden);
  std::vector<std::vector<Slot>> slots;
  for (std::size_t token = 0; token * hidden < x.size(); ++token) {
    slots.push_back(route_topk_softmax(contract, std::span(x).subspan(token * hidden, hidden), router, top_k));
  }
  return slots;
}

}  // namespace mx::moe
