#include "tests/props/restated_activations.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <random>
#include <vector>

#include "model/error.hpp"
#include "model/moe/activation.hpp"
#include "tests/moe/activation_formulas.hpp"

namespace mx::tests {
namespace {

using moe::Activation;
using moe::ActivationConstants;
using moe::Pairing;
using mx::tests::Single;

constexpr std::uint32_t kOne = 0x3F800000U;
constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr ActivationConstants kOai{0x3FD9DB23U, kOne, 0x40E00000U, 0};
constexpr ActivationConstants kLimit{0, 0, 0x40E00000U, 0};
constexpr ActivationConstants kNone{0, 0, 0, 0};

/// What is no value. Sources: those of the formulas.
struct Facts {
  std::string_view name;
  Pairing pairing;
  ActivationConstants constants;
  std::string_view compiled_in;  ///< alpha, beta, limit: those that cannot be others
  bool limited;                  ///< a limit bounds something
  bool limit_is_optional;        ///< one that is not above 0 bounds nothing, instead of being refused
};
constexpr std::array kFacts{
    Facts{"swiglu_oai", Pairing::interleaved, kOai, "", true, false},
    Facts{"swiglu_oai_torch", Pairing::interleaved, kOai, "", true, false},
    Facts{"swiglu_oai_cuda", Pairing::interleaved, kOai, "beta", true, false},
    Facts{"swiglu_oai_triton", Pairing::interleaved, kOai, "beta", true, false},
    Facts{"swiglu_oai_flashinfer", Pairing::halves_up_first, {kOne, 0, kInfinity, 0}, "", true, false},
    Facts{"swiglu_oai_aiter", Pairing::halves, kOai, "alpha beta limit", true, false},
    Facts{"swiglu_oai_uninterleave", Pairing::halves, kOai, "", true, false},
    Facts{"swiglu_step", Pairing::halves, kLimit, "", true, false},
    Facts{"silu_and_mul", Pairing::halves, kNone, "", false, false},
    Facts{"silu_and_mul_clamp_torch", Pairing::halves, kLimit, "", true, true},
    Facts{"silu_and_mul_clamp_cuda", Pairing::halves, kLimit, "", true, false},
    Facts{"gelu_and_mul", Pairing::halves, kNone, "", false, false},
    Facts{"gelu_tanh_and_mul", Pairing::halves, kNone, "", false, false},
    Facts{"situ_and_mul", Pairing::halves, {0, 0x40800000U, 0, 0x41C80000U}, "", false, false},
    Facts{"silu_no_mul", Pairing::single, kNone, "", false, false},
    Facts{"gelu_no_mul", Pairing::single, kNone, "", false, false},
    Facts{"gelu_tanh_no_mul", Pairing::single, kNone, "", false, false},
    Facts{"relu2_no_mul", Pairing::single, kNone, "", false, false},
    Facts{"relu2_no_mul_cuda", Pairing::single, kNone, "", false, false},
};

bool compiled_in(const Facts& facts, std::string_view constant) { return facts.compiled_in.find(constant) != std::string_view::npos; }

bool refused(const Facts& facts, const ActivationConstants& constants) {
  const float limit = std::bit_cast<float>(constants.limit);
  if (facts.limited && !facts.limit_is_optional && !(limit > 0)) return true;
  const float beta = std::bit_cast<float>(constants.beta);
  if (facts.name == "situ_and_mul" && !(beta > 0 && std::isfinite(beta))) return true;
  return (compiled_in(facts, "alpha") && constants.alpha != facts.constants.alpha) ||
         (compiled_in(facts, "beta") && constants.beta != facts.constants.beta) ||
         (compiled_in(facts, "limit") && constants.limit != facts.constants.limit);
}

std::uint32_t expected(const Facts& facts, std::uint32_t gate, std::uint32_t up, const ActivationConstants& constants, const IeeeRange& range) {
  // A limit that bounds nothing is as one that nothing reaches.
  const bool unbounded = facts.limit_is_optional && !(std::bit_cast<float>(constants.limit) > 0);
  const FormulaSetting setting{Single::of(constants.alpha), Single::of(constants.beta), Single::of(unbounded ? kInfinity : constants.limit),
                               Single::of(constants.linear_beta), range};
  return activation_formulas().at(facts.name)(Single::of(gate), Single::of(up), setting).pattern();
}

std::optional<std::uint32_t> made(const Activation& row, const Format& type, std::uint32_t gate, std::uint32_t up,
                                  const ActivationConstants& constants) {
  try {
    return moe::activate(row, type, gate, up, constants);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// NaN, infinities, zeros, limits and their neighbours, numbers beyond and below them, and numbers from -16 to 16.
const std::vector<std::uint32_t>& inputs() {
  static const std::vector<std::uint32_t> kInputs = [] {
    std::vector<std::uint32_t> all{0x7FC00000U, 0x7F800000U, 0xFF800000U, 0,           0x80000000U, 1,
                                   0x7F7FFFFFU, 0xFF7FFFFFU, 0x40E00000U, 0xC0E00000U, 0x40E00001U, 0xC0E00001U,
                                   0x41700000U, 0xC1700000U, 0x3F400000U, 0xBF400000U, 0x42B80000U, 0xC2B80000U};
    std::mt19937 random(9);
    for (int i = 0; i < 14; ++i) all.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-27F));
    return all;
  }();
  return kInputs;
}

}  // namespace

std::string wrong_activation(std::string_view name) {
  const auto facts = std::ranges::find(kFacts, name, &Facts::name);
  if (facts == kFacts.end()) return std::string(name) + " has no restatement";
  const Activation& row = moe::activation_named(name);
  if (row.pairing != facts->pairing) return "the place of up";
  if (!(row.constants == facts->constants)) return "the constants that are configured";
  const std::array<ActivationConstants, 10> kConstants{{facts->constants,
                                                        {0x3FA00000U, 0x40200000U, 0x3F000000U, 0x40400000U},
                                                        {kOne, kOne, 0x40E00000U, 0},
                                                        {0x3FD9DB23U, kOne, 0x40000000U, 0},
                                                        {kOne, 0x40000000U, 0, 0x40000000U},
                                                        {kOne, 0x40000000U, 0xBF800000U, 0},
                                                        {kOne, kOne, 0, 0},
                                                        {kOne, kOne, 0xBF800000U, 0},
                                                        {kOne, kOne, 0x7FC00000U, 0},
                                                        {kOne, 0x7FC00000U, 0x7FC00000U, 0}}};
  const std::array<std::pair<const Format*, IeeeRange>, 3> kTypes{{{&kF32, kF32Range}, {&kBf16, kBf16Range}, {&kFp16, kFp16Range}}};
  for (const ActivationConstants& constants : kConstants) {
    const bool no = refused(*facts, constants);
    for (const auto& [type, range] : kTypes) {
      for (const std::uint32_t gate : inputs()) {
        for (const std::uint32_t up : inputs()) {
          const std::optional<std::uint32_t> got = made(row, *type, gate, up, constants);
          if (no ? !got : got == expected(*facts, gate, up, constants, range)) continue;
          return "gate " + std::to_string(gate) + " up " + std::to_string(up) + " in " + std::string(type->name);
        }
        if (no) break;  // a refusal does not look at the numbers
      }
    }
  }
  return {};
}

}  // namespace mx::tests
