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

}  // namespace

Outcome matrix_cores_are_restated(const Law& law) {
  constexpr int kCases = 1500;
  return check_property(
      law,
      [] {
        const std::string_view name = kMatrix[pick_uniform(0, 9)];
        RC_LOG(std::string(name));
        const std::string_view kind = name.substr(name.find('-') + 1);
        const Fields* fields = kind == "f32" ? &kSingle : kind == "f16" ? &kH16 : kind == "tf32" ? &kRegister : &kB16;
        Case one;
        one.a_fields = kind == "fp8" ? kAmd[pick_uniform(0, 1)] : fields;
        one.b_fields = kind == "fp8" ? kAmd[pick_uniform(0, 1)] : fields;
        const std::size_t count = pick_uniform(1, 40);
        const auto drawn = [&](const Fields& of) {
          return &of == &kSingle ? pick_elements(of, count, 120U << 23, (134U << 23) - 1) : elements_of(of, count);
        };
        one.a = drawn(*one.a_fields);
        one.b = drawn(*one.b_fields);
        one.c = pick_c(false);
        const bool cdna1 = name.starts_with("cdna1");
        const bool cdna2 = name.starts_with("cdna2");
        const std::size_t group = name == "cdna-f32" ? 1
                                  : cdna1 || cdna2   ? (kind == "bf16" ? 2U : 4U)
                                  : kind == "tf32"   ? 4U
                                  : kind == "fp8"    ? 16U
                                                     : 8U;
        Dyadic total = from_f32(*one.c);
        for (std::size_t first = 0; first < count; first += group) {
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
        }
        RC_ASSERT(modelled(name, one) == f32_of(total));
      },
      kCases);
}

}  // namespace mx::props::numerics
