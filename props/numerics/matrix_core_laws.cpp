// N10: the sums of AMD's matrix cores, restated as those of tensor cores are.

#include <rapidcheck.h>

#include "props/numerics/core_cases.hpp"
#include "props/numerics/laws.hpp"

namespace mx::props::numerics {
namespace {

constexpr Fields kZ4{&kE4m3fnuz, 3, 8};
constexpr Fields kZ5{&kE5m2fnuz, 2, 16};
constexpr const Fields* kAmd[] = {&kZ4, &kZ5};

struct Pair {
  Element a, b;
};

/// CDNA3's step: products cut down in lanes, their sum and C by their own exponents, then one rounding.
Dyadic joined(std::span<const Pair> pairs, const Dyadic& c, bool in_two_lanes) {
  std::vector<Addend> lanes[2];
  int largest = -1000;
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const Dyadic number = product(pairs[k].a.number, pairs[k].b.number);
    if (number.magnitude == 0) continue;
    lanes[in_two_lanes ? k % 2 : 0].push_back({number, pairs[k].a.nominal + pairs[k].b.nominal});
    largest = std::max(largest, lanes[in_two_lanes ? k % 2 : 0].back().exponent);
  }
  Dyadic products;
  for (const std::vector<Addend>& lane : lanes) {
    if (!lane.empty()) products = sum(products, floored(aligned_total(lane, 24), largest - 24));
  }
  const int of_c = c.magnitude == 0 ? -126 : std::max(leading(c), -126);
  const int top = std::max(largest, of_c);
  const bool dropped = in_two_lanes && of_c < top - 25;
  Dyadic total = sum(floored(products, top - 32), dropped ? Dyadic{} : floored(c, top - 24));
  if (total.magnitude == 0) return {};
  total = floored(total, std::max(leading(total), -126) - 31);
  return rounded_to_bits(total, 24);
}

/// CDNA2's: subnormal operands and -0 are +0, products and sums are fp32 numbers.
Dyadic tree(std::vector<Pair> pairs, const Dyadic& c) {
  const auto read = [](const Element& element) {
    return element.number.magnitude == 0 || leading(element.number) < element.nominal ? Dyadic{} : element.number;
  };
  std::vector<Dyadic> sums;
  for (const Pair& pair : pairs) sums.push_back(product(read(pair.a), read(pair.b)));
  while (sums.size() > 1) {
    std::vector<Dyadic> next;
    for (std::size_t i = 0; i < sums.size(); i += 2) next.push_back(i + 1 < sums.size() ? fp32_sum(sums[i], sums[i + 1]) : sums[i]);
    sums = next;
  }
  return fp32_sum(sums[0], c.magnitude == 0 ? Dyadic{} : c);
}

/// k of a chain whose sum has scales of its own.
constexpr std::size_t kChain = 128;

Dyadic scale_at(const std::vector<std::uint32_t>& scales, std::size_t k) { return from_f32(scales.empty() ? 0x3F800000U : scales[k / kChain]); }

/// The total with a chain's sum and its scales.
Dyadic entered(std::string_view name, const Dyadic& part, const Dyadic& of_a, const Dyadic& of_b, const Dyadic& total) {
  if (name.ends_with("-1x128")) return fp32_fma(fp32_product(part, of_a), of_b, total);
  return fp32_fma(part, fp32_product(of_a, of_b), total);
}

}  // namespace

Outcome matrix_cores_are_restated(const Law& law) {
  constexpr int kCases = 1500;
  return check_property(
      law,
      [] {
        const std::string_view name = kMatrix[pick_uniform(0, static_cast<std::uint32_t>(std::size(kMatrix)) - 1)];
        RC_LOG(std::string(name));
        const std::size_t blocks = name.find("-block-");
        const bool in_blocks = blocks != std::string_view::npos;
        const std::string_view kind = name.substr(0, blocks).substr(name.find('-') + 1);
        const Fields* fields = kind == "f32" ? &kSingle : kind == "f16" ? &kH16 : kind == "tf32" ? &kRegister : &kB16;
        Case one;
        one.a_fields = kind == "fp8" ? kAmd[pick_uniform(0, 1)] : fields;
        one.b_fields = kind == "fp8" ? kAmd[pick_uniform(0, 1)] : fields;
        const std::size_t count = pick_uniform(1, in_blocks ? 300 : 40);
        const auto drawn = [&](const Fields& of) {
          return &of == &kSingle ? pick_elements(of, count, 120U << 23, (134U << 23) - 1) : elements_of(of, count);
        };
        one.a = drawn(*one.a_fields);
        one.b = drawn(*one.b_fields);
        one.c = in_blocks ? pick_f32(110, 140) : pick_c(false);
        if (in_blocks) pick_block_scales(one, kChain);
        const bool cdna1 = name.starts_with("cdna1");
        const bool cdna2 = name.starts_with("cdna2");
        const std::size_t group = name == "cdna-f32" ? 1
                                  : cdna1 || cdna2   ? (kind == "bf16" ? 2U : 4U)
                                  : kind == "tf32"   ? 4U
                                  : kind == "fp8"    ? 16U
                                                     : 8U;
        Dyadic total = from_f32(*one.c);
        Dyadic before = total;
        for (std::size_t first = 0; first < count; first += group) {
          if (in_blocks && first % kChain == 0) total = {};
          std::vector<Pair> pairs;
          for (std::size_t k = first; k < std::min(first + group, count); ++k) pairs.push_back({one.a[k], one.b[k]});
          if (name == "cdna-f32") {
            total = fp32_fma(pairs[0].a.number, pairs[0].b.number, total);
          } else if (cdna1) {
            for (const Pair& pair : pairs) total = sum(total, product(pair.a.number, pair.b.number));
            total = total.magnitude == 0 ? Dyadic{} : rounded_to_bits(total, 24);
          } else {
            total = cdna2 ? tree(pairs, total) : joined(pairs, total, kind == "fp8");
          }
          if (in_blocks && (first + group) % kChain != 0 && first + group < count) continue;
          if (in_blocks) before = entered(name, total, scale_at(one.scales_a, first), scale_at(one.scales_b, first), before);
        }
        if (in_blocks) total = before;
        RC_ASSERT(modelled(name, one) == f32_of(total));
      },
      kCases);
}

}  // namespace mx::props::numerics
