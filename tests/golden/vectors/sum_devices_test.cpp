// Devices that add up a dot product in another way, by MPFR and the host's own fp32: the directed vectors of edition v1.1 show each of them, as the
// coverage says, vector by vector, or the formats say why it is right everywhere.

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "model/numerics/value.hpp"
#include "tests/catch.hpp"
#include "tests/golden/vectors/device.hpp"
#include "tests/numerics/mpfr_number.hpp"

namespace {

using mx::golden::Lanes;
using mx::golden::VectorOp;

using Products = std::vector<double>;

/// Wide enough for the exact sum of any products of fp32's range squared.
constexpr long kExact = 1200;

float to_float(double value) {
  mx::tests::MpfrNumber exact(kExact);
  mpfr_set_d(exact.get(), value, MPFR_RNDN);
  return std::bit_cast<float>(mx::tests::rounded_bits(exact.get(), mx::tests::kF32Range));
}

float exact_sum(const Products& products, float before = 0) {
  mx::tests::MpfrNumber sum(kExact);
  mpfr_set_flt(sum.get(), before, MPFR_RNDN);
  for (const double product : products) mpfr_add_d(sum.get(), sum.get(), product, MPFR_RNDN);
  return std::bit_cast<float>(mx::tests::rounded_bits(sum.get(), mx::tests::kF32Range));
}

float chain(const Products& products) {
  float sum = 0;
  // An infinite sum stays: products are finite, and are added before anything is rounded.
  for (const double product : products) sum = std::isfinite(sum) ? exact_sum({product}, sum) : sum;
  return sum;
}

float tree(const Products& products) {
  std::vector<float> sums;
  std::ranges::transform(products, std::back_inserter(sums), to_float);
  while (sums.size() > 1) {
    std::vector<float> next;
    for (std::size_t i = 0; i + 1 < sums.size(); i += 2) next.push_back(sums[i] + sums[i + 1]);
    if (sums.size() % 2 == 1) next.push_back(sums.back());
    sums = next;
  }
  return sums.front();
}

float groups(const Products& products, std::size_t size) {
  std::vector<float> parts;
  for (std::size_t k = 0; k < products.size(); k += size)
    parts.push_back(exact_sum(
        {products.begin() + static_cast<std::ptrdiff_t>(k), products.begin() + static_cast<std::ptrdiff_t>(std::min(k + size, products.size()))}));
  float sum = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) sum += parts[i];
  return sum;
}

/// Products without what lies more than `width` bits below the leading one of the largest.
float aligned(Products products, int width) {
  int top = INT32_MIN;
  for (const double product : products) top = product == 0 ? top : std::max(top, std::ilogb(product));
  for (double& product : products) product = product == 0 ? product : std::ldexp(std::trunc(std::ldexp(product, width - top)), top - width);
  return exact_sum(products);
}

float cut_off(const Products& products) {
  mx::tests::MpfrNumber sum(kExact);
  mpfr_set_zero(sum.get(), 1);
  for (const double product : products) mpfr_add_d(sum.get(), sum.get(), product, MPFR_RNDN);
  return mpfr_get_flt(sum.get(), MPFR_RNDZ);
}

/// Each product with so many bits: cut, or rounded to nearest even.
Products shortened(Products products, int bits, bool rounded) {
  for (double& product : products) {
    if (product == 0) continue;
    const int unit = std::ilogb(product) - bits + 1;
    const double units = std::ldexp(product, -unit);
    product = std::ldexp(rounded ? std::nearbyint(units) : std::trunc(units), unit);
  }
  return products;
}

struct SumDevice {
  std::string name;  ///< as the coverage and ver call it
  std::function<float(const Products& products)> sum;
};

std::vector<SumDevice> sum_devices(bool is_exact) {
  std::vector<SumDevice> devices;
  if (is_exact) {
    devices.push_back({"a chain of fp32", chain});
    devices.push_back({"a sum that is cut off at the end", cut_off});
  } else {
    devices.push_back({"an exact sum", [](const Products& products) { return exact_sum(products); }});
    devices.push_back({"k in descending order", [](const Products& products) { return chain({products.rbegin(), products.rend()}); }});
    devices.push_back({"k in pairs exchanged", [](Products products) {
                         for (std::size_t k = 0; k + 1 < products.size(); k += 2) std::swap(products[k], products[k + 1]);
                         return chain(products);
                       }});
  }
  devices.push_back({"a pairwise tree", tree});
  for (const std::size_t size : {4U, 8U, 16U, 32U})
    devices.push_back({"groups of " + std::to_string(size), [size](const Products& products) { return groups(products, size); }});
  for (int width = 24; width <= 36; ++width)
    devices.push_back({"an alignment of " + std::to_string(width) + " bits", [width](const Products& products) { return aligned(products, width); }});
  return devices;
}

/// Devices that the coverage does not ask for: products of fewer bits.
std::vector<SumDevice> short_products(bool is_exact) {
  std::vector<SumDevice> devices;
  for (const bool rounded : {false, true}) {
    for (const int bits : {8, 11}) {
      const std::string way = rounded ? "rounded" : "cut";
      devices.push_back({"each product is " + way + " to " + std::to_string(bits) + " significant bits first", [=](const Products& products) {
                           const Products shorter = shortened(products, bits, rounded);
                           return is_exact ? exact_sum(shorter) : chain(shorter);
                         }});
    }
  }
  return devices;
}

double number(const mx::Value& value) {
  const double magnitude = value.cls == mx::ValueClass::finite ? std::ldexp(static_cast<double>(value.significand), value.exponent) : 0.0;
  return value.negative ? -magnitude : magnitude;
}

/// One side of the operands, scaled; empty where a number of it is not finite.
Products side(const VectorOp& op, Lanes operands, char letter) {
  Products scales, numbers;
  for (const mx::golden::Column& column : op.operands()) {
    const Lanes lanes = operands.first(static_cast<std::size_t>(column.lanes));
    operands = operands.subspan(lanes.size());
    if (column.name.front() != letter) continue;
    Products& into = column.name.size() == 1 ? numbers : scales;
    for (const std::uint32_t code : lanes) {
      const mx::Value value = mx::decode(*column.format, code);
      if (value.cls == mx::ValueClass::infinity || value.cls == mx::ValueClass::nan) return {};
      into.push_back(number(value));
    }
  }
  for (std::size_t k = 0; k < numbers.size() && !scales.empty(); ++k) numbers[k] *= scales[k * scales.size() / numbers.size()];
  return numbers;
}

/// Exact: both sides have at most 16 bits with their scales.
Products products_of(const VectorOp& op, Lanes operands) {
  Products products = side(op, operands, 'a');
  const Products other = side(op, operands, 'b');
  if (products.empty() || other.empty()) return {};
  for (std::size_t k = 0; k < products.size(); ++k) products[k] *= other[k];
  return products;
}

/// Whether two answers are other numbers; zeros of any sign are one.
bool differ(float device, std::uint32_t right) {
  const auto bits = std::bit_cast<std::uint32_t>(device);
  return bits != right && ((bits | right) & 0x7FFFFFFFU) != 0;
}

struct Vectors {
  std::vector<std::vector<std::uint32_t>> operands;
  std::vector<Products> products;
  std::vector<std::uint32_t> right;
  std::vector<mx::golden::Bins> bins;
};

Vectors directed(const VectorOp& op) {
  Vectors all;
  op.directed([&](Lanes operands) {
    Products products = products_of(op, operands);
    if (products.empty()) return;
    std::vector<std::uint32_t> right(1);
    op.evaluate(operands, right);
    all.bins.emplace_back(op.axes().size());
    op.bins(operands, right, all.bins.back());
    all.operands.emplace_back(operands.begin(), operands.end());
    all.products.push_back(std::move(products));
    all.right.push_back(right[0]);
  });
  return all;
}

struct Asked {
  const char* op;
  int product_bits;  ///< significant bits of a scaled product, at most
};
constexpr Asked kAsked[] = {
    {"dot_mxfp4_mxfp4", 4}, {"dot_mxfp8_e4m3_mxfp8_e4m3", 8}, {"dot_mxfp8_e5m2_mxfp8_e5m2", 6}, {"dot_nvfp4_nvfp4", 11}, {"dot_bf16_bf16", 16}};

}  // namespace

TEST_CASE("devices that add up otherwise, computed apart, fail where the coverage says so") {
  int caught = 0;
  for (const Asked& asked : kAsked) {
    for (const char* contract : {"exact", "f32-sequential"}) {
      const auto op = mx::tests::op_with(asked.op, {{"contract", contract}, {"length", "64"}});
      const Vectors vectors = directed(*op);
      REQUIRE(vectors.right.size() > 100);
      std::ptrdiff_t asked_for = 0;
      for (const SumDevice& device : sum_devices(std::string(contract) == "exact")) {
        INFO(asked.op << " " << contract << ": " << device.name);
        const auto axis = std::ranges::find(op->axes(), "told from " + device.name, &mx::golden::CoverageAxis::name) - op->axes().begin();
        REQUIRE(axis < std::ssize(op->axes()));
        ++asked_for;
        std::size_t wrong = 0, otherwise = 0;
        for (std::size_t i = 0; i < vectors.right.size(); ++i) {
          const bool shows = differ(device.sum(vectors.products[i]), vectors.right[i]);
          wrong += shows ? 1U : 0U;
          const bool is_zero = (vectors.right[i] & 0x7FFFFFFFU) == 0;
          otherwise += !is_zero && shows != (vectors.bins[i][static_cast<std::size_t>(axis)] != 0) ? 1U : 0U;
        }
        CHECK(otherwise == 0);
        caught += wrong > 0 ? 1 : 0;
        if (wrong == 0) CHECK(op->why_unreachable(static_cast<std::size_t>(axis), 0).find("was found") == std::string::npos);
      }
      CHECK(asked_for == std::ranges::count_if(op->axes(), [](const mx::golden::CoverageAxis& one) { return one.name.starts_with("told from"); }));
    }
  }
  CHECK(caught > 100);
}

TEST_CASE("products that are cut or rounded first fail on the directed vectors and are named, unless they have no more bits") {
  for (const Asked& asked : kAsked) {
    for (const char* contract : {"exact", "f32-sequential"}) {
      const auto op = mx::tests::op_with(asked.op, {{"contract", contract}, {"length", "32"}});
      const bool is_exact = std::string(contract) == "exact";
      for (const SumDevice& device : short_products(is_exact)) {
        INFO(asked.op << " " << contract << ": " << device.name);
        const auto answers = [&](Lanes operands, mx::golden::MutableLanes results) {
          op->evaluate(operands, results);
          const Products products = products_of(*op, operands);
          // Scales at the ends of their range make numbers that the contract cannot hold, before it multiplies them.
          if (products.empty() || differ(is_exact ? exact_sum(products) : chain(products), results[0])) return;
          const float sum = device.sum(products);
          if (differ(sum, results[0])) results[0] = std::bit_cast<std::uint32_t>(sum);
        };
        const auto report = mx::tests::check(*op, mx::tests::kDirected, mx::tests::stream_of(*op, mx::tests::kDirected, answers));
        const int bits = device.name.find(" 8 ") != std::string::npos ? 8 : 11;
        CHECK((report.mismatched > 0) == (asked.product_bits > bits));
        if (report.mismatched == 0) continue;
        REQUIRE_FALSE(report.explanations.empty());
        const auto& first = report.explanations.front();
        INFO(first.name << ": " << first.explained << " of " << first.mismatches << ", " << first.contradicted << " of " << first.matches);
        CHECK(first.is_whole());
        CHECK(std::ranges::any_of(report.explanations, [&](const auto& one) { return one.is_whole() && one.name == device.name; }));
      }
    }
  }
}
