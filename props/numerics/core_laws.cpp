// N10: the sums of tensor and matrix cores, restated in 128-bit integers from facts typed in again, one law a family of adders.

#include <rapidcheck.h>

#include <algorithm>
#include <optional>
#include <set>

#include "model/numerics/tile.hpp"
#include "props/numerics/core_cases.hpp"
#include "props/numerics/laws.hpp"

namespace mx::props::numerics {
namespace {

constexpr std::uint32_t kTopNan = 0x7FFFFFFFU;
constexpr Fields kE23{&kE2m3, 3, 1};
constexpr Fields kE32{&kE3m2, 2, 3};

constexpr const Fields* kHalfs[] = {&kH16};
constexpr const Fields* kBrains[] = {&kB16};
constexpr const Fields* kRegisters[] = {&kRegister};
constexpr const Fields* kBytes[] = {&kE4, &kE5};
constexpr const Fields* kSmall[] = {&kE4, &kE5, &kE23, &kE32, &kE2};
constexpr const Fields* kNibbles[] = {&kE2};

/// What the documents say of one aligned sum with truncation.
struct Core {
  std::string_view name;
  std::span<const Fields* const> operands;
  std::size_t group;
  int alignment;
  int kept;                     ///< bits; 0: the sum is rounded to fp16
  int zero;                     ///< exponent of a term that is zero
  std::size_t instruction = 0;  ///< FP8 by fp16: k of one instruction, else 0
  bool c_is_fp16 = false;       ///< also where results are fp32
};
constexpr Core kCores[] = {
    {"volta-f16", kHalfs, 4, 23, 24, -131},
    {"volta-f16-c16", kHalfs, 4, 23, 24, -131, 0, true},
    {"volta-f16-f16", kHalfs, 4, 23, 0, -19},
    {"turing-f16", kHalfs, 8, 24, 24, -132},
    {"turing-f16-f16", kHalfs, 8, 24, 0, -20},
    {"ampere-f16", kHalfs, 8, 24, 24, -132},
    {"ampere-bf16", kBrains, 8, 24, 24, -132},
    {"ampere-tf32", kRegisters, 4, 24, 24, -132},
    {"ampere-f16-f16", kHalfs, 8, 24, 0, -20},
    {"ada-f16", kHalfs, 8, 24, 24, -132},
    {"ada-bf16", kBrains, 8, 24, 24, -132},
    {"ada-tf32", kRegisters, 4, 24, 24, -132},
    {"ada-f16-f16", kHalfs, 8, 24, 0, -20},
    {"ada-fp8", kBytes, 16, 13, 14, -132},
    {"ada-fp8-f16", kBytes, 16, 13, 0, -20},
    {"hopper-f16", kHalfs, 16, 25, 24, -133},
    {"cublas-bf16-odd", kBrains, 8, 25, 24, -133},
    {"hopper-tf32", kRegisters, 8, 25, 24, -133},
    {"hopper-f16-f16", kHalfs, 16, 25, 0, -21},
    {"hopper-fp8-f16", kBytes, 32, 13, 0, -21},
    {"hopper-mma-fp8-f16", kBytes, 16, 25, 0, -21, 32},
    {"hopper-mma-fp8-k16", kBytes, 8, 25, 24, -133, 16},
    {"hopper-mma-fp8-k16-f16", kBytes, 8, 25, 0, -21, 16},
    {"blackwell-f16", kHalfs, 16, 25, 24, -133},
    {"blackwell-bf16", kBrains, 16, 25, 24, -133},
    {"blackwell-tf32", kRegisters, 8, 25, 24, -133},
    {"blackwell-f16-f16", kHalfs, 16, 25, 0, -21},
    {"blackwell-mma-fp8", kBytes, 16, 25, 24, -133, 32},
    {"blackwell-mma-fp8-f16", kBytes, 16, 25, 0, -21, 32},
    {"blackwell-f8f6f4", kSmall, 32, 25, 24, -133},
    {"blackwell-f8f6f4-f16", kSmall, 32, 25, 0, -21},
};
constexpr std::string_view kLibrary[] = {"cublaslt-fp8",      "cublaslt-fp8-promoted",     "cublaslt-fp8-rows", "cublaslt-fp8-rows-promoted",
                                         "torch-grouped-fp8", "torch-grouped-fp8-promoted"};
constexpr std::string_view kBlocks[] = {
    "ada-fp8-block-1x128", "ada-fp8-block-128x128",    "blackwell-f8f6f4-block-1x128", "blackwell-f8f6f4-block-128x128",
    "hopper-fp8-as-fp16",  "hopper-fp8-as-fp16-block", "hopper-fp8-block-exchanged"};  // restated in dot_laws.cpp
constexpr std::string_view kScaled[] = {"blackwell-mxf8f6f4", "blackwell-mxf4", "blackwell-mxf4nvf4-16", "blackwell-nvf4"};
/// A result, or the bits of an infinite one.
struct Result {
  Dyadic number;
  std::optional<std::uint32_t> infinite = {};
};

std::uint32_t bits_of(const Result& result) { return result.infinite ? *result.infinite : f32_of(result.number); }

Result in_fp16(const Dyadic& total) {
  const Dyadic rounded = rounded_into(kH16, total);
  if (rounded.magnitude != 0 && leading(rounded) > 15) return {{}, total.negative ? 0xFF800000U : 0x7F800000U};
  return {rounded};
}

/// Zeros have no sign here.
Result plus(Result result) {
  if (result.number.magnitude == 0) result.number = {};
  return result;
}

struct Pair {
  Element a, b;
};

Result group_of(const Core& core, std::span<const Pair> pairs, const Dyadic& c, int c_least) {
  std::vector<Addend> addends{addend_c(c, c_least, core.zero)};
  for (const Pair& pair : pairs) {
    const Dyadic number = product(pair.a.number, pair.b.number);
    addends.push_back({number, number.magnitude == 0 ? core.zero : pair.a.nominal + pair.b.nominal});
  }
  const Dyadic total = aligned_total(addends, core.alignment);
  return plus(core.kept == 0 ? in_fp16(total) : Result{truncated_to_unit(truncated_to_bits(total, core.kept), -126 - core.kept + 1)});
}

Result groups_of(const Core& core, const std::vector<Pair>& pairs, Result c) {
  int c_least = core.kept == 0 || core.c_is_fp16 ? -14 : -126;
  for (std::size_t first = 0; first < pairs.size() && !c.infinite; first += core.group) {
    c = group_of(core, std::span(pairs).subspan(first, std::min(core.group, pairs.size() - first)), c.number, c_least);
    c_least = core.kept == 0 ? -14 : -126;
  }
  return c;
}

/// FP8 as fp16 numbers: the exponent of a subnormal code is that of its number.
Element as_fp16(const Element& element) { return {0, element.number, element.number.magnitude == 0 ? -14 : std::max(leading(element.number), -14)}; }

Result restated(const Core& core, std::vector<Pair> pairs, const Dyadic& c) {
  if (core.instruction == 0) return groups_of(core, pairs, {c});
  Result total{c};
  for (std::size_t first = 0; first < pairs.size(); first += core.instruction) {
    std::vector<Pair> early, late;
    for (std::size_t k = first; k < first + core.instruction; ++k) {
      const Pair pair = k < pairs.size() ? Pair{as_fp16(pairs[k].a), as_fp16(pairs[k].b)} : Pair{};
      ((k - first) % 4 < 2 ? early : late).push_back(pair);
    }
    early.insert(early.end(), late.begin(), late.end());
    const Result part = groups_of(core, early, {});
    if (part.infinite && total.infinite && *part.infinite != *total.infinite) return {{}, kTopNan};
    if (part.infinite || total.infinite) {
      total = part.infinite ? part : total;
      continue;
    }
    total = core.kept == 0 ? in_fp16(sum(total.number, part.number)) : Result{fp32_sum(total.number, part.number)};
  }
  return total;
}

const Core& pick_core() {
  const Core& core = kCores[pick_uniform(0, static_cast<std::uint32_t>(std::size(kCores)) - 1)];
  RC_LOG(std::string(core.name));
  return core;
}

}  // namespace

Outcome cores_are_restated(const Law& law) {
  std::set<std::string_view> known(std::begin(kLibrary), std::end(kLibrary));
  known.insert(std::begin(kScaled), std::end(kScaled));
  known.insert(std::begin(kBlocks), std::end(kBlocks));
  known.insert(std::begin(kMatrix), std::end(kMatrix));
  for (const Core& core : kCores) known.insert(core.name);
  for (const ContractRow& row : tensor_core_contracts()) {
    if (!known.contains(row.name)) return {false, 1, "nothing restates " + std::string(row.name)};
  }
  constexpr int kCases = 3000;
  return check_property(
      law,
      [] {
        const Core& core = pick_core();
        Case one;
        one.a_fields = core.operands[pick_uniform(0, static_cast<std::uint32_t>(core.operands.size()) - 1)];
        one.b_fields = core.operands[pick_uniform(0, static_cast<std::uint32_t>(core.operands.size()) - 1)];
        const std::size_t count = pick_uniform(1, 70);
        one.a = elements_of(*one.a_fields, count);
        one.b = elements_of(*one.b_fields, count);
        one.c = pick_c(core.kept == 0 || core.c_is_fp16);
        std::vector<Pair> pairs;
        for (std::size_t k = 0; k < count; ++k) pairs.push_back({one.a[k], one.b[k]});
        RC_ASSERT(modelled(core.name, one) == bits_of(restated(core, pairs, from_f32(*one.c))));
        one.c = pick_nan();
        RC_ASSERT(modelled(core.name, one) == kTopNan);
      },
      kCases);
}

Outcome library_products_are_restated(const Law& law) {
  return check_property(law, [] {
    const std::string_view name = kLibrary[pick_uniform(0, std::size(kLibrary) - 1)];
    const bool promoted = name.ends_with("promoted");
    const bool rows = name.find("rows") != std::string_view::npos;
    const bool grouped = name.find("grouped") != std::string_view::npos;
    const Core core{"hopper-fp8", kBytes, 32, 13, 14, -1000};
    Case one;
    one.a_fields = &kE4;
    one.b_fields = &kE5;
    const std::size_t count = pick_uniform(1, 300);
    one.a = pick_elements(kE4, count);
    one.b = pick_elements(kE5, count);
    // Often nothing but zeros: the sign of their sum is what the row is about.
    if (pick_uniform(0, 2) == 0) std::ranges::fill(one.a, Element{0, {}, -6});
    pick_block_scales(one, count);
    for (std::vector<std::uint32_t>* scales : {&one.scales_a, &one.scales_b}) {
      for (std::uint32_t& scale : *scales) scale |= pick_uniform(0, 1) << 31;
    }
    std::vector<Pair> pairs;
    for (std::size_t k = 0; k < count; ++k) pairs.push_back({one.a[k], one.b[k]});
    Dyadic total;
    const std::size_t chain = promoted ? 128 : count;
    for (std::size_t first = 0; first < count; first += chain) {
      const std::vector<Pair> part(pairs.begin() + static_cast<std::ptrdiff_t>(first),
                                   pairs.begin() + static_cast<std::ptrdiff_t>(std::min(first + chain, count)));
      const Dyadic of_part = groups_of(core, part, {}).number;
      total = promoted ? fp32_sum(total, of_part) : of_part;
    }
    const Dyadic scale_a = from_f32(one.scales_a.empty() ? 0x3F800000U : one.scales_a[0]);
    const Dyadic scale_b = from_f32(one.scales_b.empty() ? 0x3F800000U : one.scales_b[0]);
    const Dyadic result = rows      ? fp32_product(fp32_product(total, scale_b), scale_a)
                          : grouped ? fp32_product(fp32_product(total, scale_a), scale_b)
                                    : fp32_fma(total, fp32_product(scale_a, scale_b), {});
    RC_ASSERT(modelled(name, one) == f32_of(result));
  });
}

namespace {

/// A scale: its byte, its number, its exponent field.
struct Scale {
  std::uint32_t code;
  Dyadic number;
  int exponent;
};

Scale e8m0_scale(std::uint32_t code) { return {code, {1, static_cast<int>(code) - 127, false}, static_cast<int>(code) - 127}; }

Scale pick_scale(bool is_e8m0) {
  if (is_e8m0) return e8m0_scale(pick_uniform(117, 137));
  const std::uint32_t code = pick_uniform(0, 0x7E);
  const std::uint32_t field = code >> 3;
  const std::uint32_t mantissa = (code & 7U) + (field == 0 ? 0U : 8U);
  const int exponent = std::max(static_cast<int>(field), 1) - 7;
  return {code, {mantissa, exponent - 3, false}, exponent};
}

}  // namespace

Outcome scaled_cores_are_restated(const Law& law) {
  constexpr int kCases = 1500;
  return check_property(
      law,
      [] {
        const std::uint32_t which = pick_uniform(0, 3);
        const std::string_view name = kScaled[which];
        RC_LOG(std::string(name));
        const bool nibbles = which != 0;
        const std::size_t block = which < 2 ? 32 : 16;
        const bool is_e8m0 = which != 3;
        const auto side = [&] { return nibbles ? kNibbles[0] : kSmall[pick_uniform(0, 4)]; };
        const Fields& fields_a = *side();
        const Fields& fields_b = *side();
        const std::size_t count = pick_uniform(1, 150);
        std::vector<Element> a = pick_elements(fields_a, count);
        std::vector<Element> b = pick_elements(fields_b, count);
        // Runs that cancel keep the exponent of their scales.
        for (std::size_t k = 0; nibbles && pick_uniform(0, 1) == 0 && k + 1 < count; k += 2) {
          a[k + 1] = negated(fields_a, a[k]);
          b[k + 1] = b[k];
        }
        std::vector<Scale> scales_a, scales_b;
        for (std::size_t k = 0; k < count; k += block) {
          scales_a.push_back(pick_scale(is_e8m0));
          scales_b.push_back(pick_scale(is_e8m0));
          // The least scale beside a great one.
          if (is_e8m0 && pick_uniform(0, 7) == 0) {
            scales_a.back() = e8m0_scale(0);
            scales_b.back() = e8m0_scale(pick_uniform(244, 254));
          }
        }
        const std::uint32_t c = pick_c(false);
        Result total{from_f32(c)};
        const std::size_t run = nibbles ? 16 : 1;
        const std::size_t group = nibbles ? 64 : 32;
        const int zero = nibbles ? -139 : -133;
        for (std::size_t first = 0; first < count; first += group) {
          std::vector<Addend> addends{addend_c(total.number, -126, zero)};
          for (std::size_t begin = first; begin < std::min(first + group, count); begin += run) {
            Dyadic term;
            bool any = false;
            for (std::size_t k = begin; k < std::min(begin + run, count); ++k) {
              term = sum(term, product(a[k].number, b[k].number));
              any = any || (a[k].number.magnitude != 0 && b[k].number.magnitude != 0);
            }
            const Scale& of_a = scales_a[begin / block];
            const Scale& of_b = scales_b[begin / block];
            any = any && of_a.number.magnitude != 0 && of_b.number.magnitude != 0;
            const int own = nibbles ? 0 : a[begin].nominal + b[begin].nominal;
            addends.push_back({product(term, product(of_a.number, of_b.number)), any ? own + of_a.exponent + of_b.exponent : zero});
          }
          total = plus({truncated_to_bits(aligned_total(addends, nibbles ? 35 : 25), 24)});
        }
        const auto values = [](const Fields& fields, const std::vector<Element>& elements) {
          std::vector<Value> decoded;
          for (const Element& element : elements) decoded.push_back(decode(*fields.format, element.code));
          return decoded;
        };
        const Format& scale_format = is_e8m0 ? kE8m0 : kUe4m3;
        const auto numbers = [&](const std::vector<Scale>& scales) {
          std::vector<Value> decoded;
          for (const Scale& scale : scales) decoded.push_back(decode(scale_format, scale.code));
          return decoded;
        };
        const std::vector<Value> left = values(fields_a, a), right = values(fields_b, b);
        const std::vector<Value> of_left = numbers(scales_a);
        std::vector<Value> of_right = numbers(scales_b);
        const auto modelled = [&] {
          return dot(row_of(contract_named(name)), {left, fields_a.format, of_left, static_cast<int>(block), &scale_format},
                     {right, fields_b.format, of_right, static_cast<int>(block), &scale_format}, {.c = c, .bias = {}});
        };
        RC_ASSERT(modelled() == bits_of(total));
        of_right[0] = decode(scale_format, is_e8m0 ? 0xFFU : 0x7FU);
        RC_ASSERT(modelled() == kTopNan);
      },
      kCases);
}

}  // namespace mx::props::numerics
