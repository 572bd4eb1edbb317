// S1: what an activation declares matters, what it does not declare does not; clamps bound where they say; zeros stay zeros, so padding is neutral.

#include <rapidcheck.h>

#include <array>
#include <bit>
#include <cmath>

#include "model/error.hpp"
#include "model/moe/activation.hpp"
#include "model/numerics/f32.hpp"
#include "props/numerics/grid.hpp"
#include "props/numerics/laws.hpp"

namespace mx::props::numerics {
namespace {

using moe::Activation;
using moe::ActivationConstants;
using moe::Clamp;

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

const Activation& pick_row() { return moe::all_activations()[pick_uniform(0, static_cast<std::uint32_t>(moe::all_activations().size()) - 1)]; }

/// -16 to 16.
std::uint32_t pick_input() { return bits((static_cast<float>(pick_uniform(0, 1U << 20)) - 0x1p19F) * 0x1p-15F); }

std::uint32_t fp32(const Activation& row, std::uint32_t gate, std::uint32_t up, const ActivationConstants& constants) {
  return moe::activate(row, kF32, gate, up, constants);
}

bool clamps(const Activation& row) { return row.gate_clamp != Clamp::none || row.up_clamp != Clamp::none || row.curve_clamp != Clamp::none; }

/// One constant: how to change it, and whether a row's text says that it is used.
struct Constant {
  std::uint32_t moe::ActivationConstants::*field;
  float other;
  bool (*used)(const Activation&);
  bool (*wired)(const Activation&);
};

bool mentions(const Activation& row, std::string_view word) { return row.formula.find(word) != std::string_view::npos; }

constexpr std::array<Constant, 4> kConstants{{
    {&ActivationConstants::alpha, 1.25F, [](const Activation& row) { return mentions(row, "alpha"); },
     [](const Activation& row) { return row.wired.alpha; }},
    {&ActivationConstants::beta, 2.5F, [](const Activation& row) { return mentions(row, "beta"); },
     [](const Activation& row) { return row.wired.beta; }},
    {&ActivationConstants::limit, 0.5F, clamps, [](const Activation& row) { return row.wired.limit; }},
    {&ActivationConstants::linear_beta, 1.5F, [](const Activation& row) { return mentions(row, "linear_beta"); },
     [](const Activation&) { return false; }},
}};

bool refuses(const Activation& row, const ActivationConstants& constants) {
  try {
    fp32(row, 0, 0, constants);
  } catch (const Error&) {
    return true;
  }
  return false;
}

}  // namespace

Outcome activation_constants_matter(const Law& law) {
  Exhaustive all(law);
  for (const Activation& row : moe::all_activations()) {
    for (const Constant& constant : kConstants) {
      ActivationConstants changed = row.constants;
      changed.*constant.field = bits(constant.other);
      const bool refused = refuses(row, changed);
      all.expect(refused == constant.wired(row), [&] { return std::string(row.name) + " with a constant that it has compiled in changed"; });
      if (refused) continue;
      const std::uint32_t gate = bits(1.75F);
      const std::uint32_t up = bits(1.25F);
      const bool matters = fp32(row, gate, up, row.constants) != fp32(row, gate, up, changed);
      all.expect(matters == constant.used(row), [&] { return std::string(row.name) + " under another constant, " + std::to_string(constant.other); });
    }
  }
  return all.outcome();
}

Outcome activation_limits_bound(const Law& law) {
  return check_property(law, [] {
    const Activation& row = pick_row();
    const std::uint32_t gate = pick_input();
    const std::uint32_t up = pick_input();
    const float limit = std::bit_cast<float>(row.constants.limit);
    const float g = std::bit_cast<float>(gate);
    const float u = std::bit_cast<float>(up);
    // The same result from inputs bounded by hand.
    const std::uint32_t bounded_gate = row.gate_clamp == Clamp::none ? gate : bits(std::fmin(g, limit));
    const std::uint32_t bounded_up = row.up_clamp == Clamp::none ? up : bits(std::fmax(std::fmin(u, limit), -limit));
    const std::uint32_t result = fp32(row, gate, up, row.constants);
    RC_ASSERT(fp32(row, bounded_gate, bounded_up, row.constants) == result);
    // Below the limit the gate is free: under no limit at all the result is the same.
    if (!clamps(row) || g > limit || std::fabs(u) > limit || row.curve_clamp != Clamp::none || row.wired.limit) return;
    ActivationConstants free = row.constants;
    free.limit = bits(1e30F);
    RC_ASSERT(fp32(row, gate, up, free) == result);
  });
}

Outcome activation_zeros_stay(const Law& law) {
  Exhaustive all(law);
  for (const Activation& row : moe::all_activations()) {
    for (std::uint32_t zero : {0U, 0x80000000U}) {
      const std::uint32_t result = fp32(row, zero, zero, row.constants);
      all.expect((result & 0x7FFFFFFFU) == 0, [&] { return std::string(row.name) + " of zeros: " + hex(result); });
    }
  }
  return all.outcome();
}

}  // namespace mx::props::numerics
