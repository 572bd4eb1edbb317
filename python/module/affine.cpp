// Integers with a scale and a zero point, blocks of fp32 numbers one after the other.

#include "model/numerics/affine.hpp"

#include <nanobind/stl/tuple.h>

#include <cstring>
#include <tuple>

#include "kernels/sweep/codes.hpp"
#include "model/error.hpp"
#include "python/module/core.hpp"

namespace mx::python {
namespace {

std::size_t bytes_of(const Integer& integer) { return integer.width <= 8 ? 1 : integer.width <= 16 ? 2 : 4; }

void put_number(const Room& room, std::size_t width, std::size_t i, std::int64_t number) { std::memcpy(room.data() + i * width, &number, width); }

std::int64_t number_at(const Bytes& bytes, const Integer& integer, std::size_t i) {
  const std::size_t width = bytes_of(integer);
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + i * width, width);
  const bool negative = integer.has_sign && (word >> (8 * width - 1) & 1U) != 0;
  return static_cast<std::int64_t>(word) - (negative ? std::int64_t{1} << (8 * width) : 0);
}

std::string dtype_text(const Integer& integer) { return (integer.has_sign ? "int" : "uint") + std::to_string(8 * bytes_of(integer)); }

/// Elements of a block (0: a row), dtypes of codes and zero points (empty: none are kept), the format of scales.
std::tuple<int, std::string, std::string, std::string> affine_facts(const std::string& text) {
  const AffineRules rules = affine_rules(text);
  return {rules.block, dtype_text(rules.element), rules.zero ? dtype_text(*rules.zero) : "", std::string(rules.scale->name)};
}

/// `size` elements a block; one scale and one zero point each.
void quantize_affine(const std::string& text, std::size_t size, const Bytes& x, const Room& codes, const Room& scales, const Room& zeros) {
  const nb::gil_scoped_release unlocked;
  const OrdinaryMode mode;
  const AffineRules rules = affine_rules(text);
  const std::size_t code_width = bytes_of(rules.element), scale_width = kernels::code_bytes(*rules.scale);
  std::vector<std::uint32_t> block(size);
  for (std::size_t b = 0; b * size * sizeof(std::uint32_t) < x.size(); ++b) {
    std::memcpy(block.data(), x.data() + b * size * sizeof(std::uint32_t), size * sizeof(std::uint32_t));
    AffineBlock made;
    try {
      made = mx::quantize(block, rules);
    } catch (const Error& error) {
      throw Error(error.code(), "block " + std::to_string(b) + ", " + error.what(), "x");
    }
    for (std::size_t i = 0; i < size; ++i) put_number(codes, code_width, b * size + i, made.codes[i]);
    std::memcpy(scales.data() + b * scale_width, &made.scale, scale_width);
    if (rules.zero) put_number(zeros, bytes_of(*rules.zero), b, made.zero);
  }
}

/// The number, which must be one of the integer's.
std::int64_t of_width(std::int64_t number, const Integer& integer, const char* place) {
  const std::int64_t least = integer.has_sign ? -(std::int64_t{1} << (integer.width - 1)) : 0;
  if (number < least || number >= least + (std::int64_t{1} << integer.width))
    throw Error(ErrorCode::usage, std::to_string(number) + " is no code of " + text_of(integer), place);
  return number;
}

void dequantize_affine(const std::string& text, const std::string& target, std::size_t size, const Bytes& codes, const Bytes& scales,
                       const Bytes& zeros, const Room& numbers) {
  const nb::gil_scoped_release unlocked;
  const OrdinaryMode mode;
  const AffineRules rules = affine_rules(text);
  const Format& to = format_named(target);
  const std::size_t scale_width = kernels::code_bytes(*rules.scale), width = kernels::code_bytes(to);
  for (std::size_t i = 0; i * bytes_of(rules.element) < codes.size(); ++i) {
    const std::size_t b = i / size;
    std::uint32_t scale = 0;
    std::memcpy(&scale, scales.data() + b * scale_width, scale_width);
    const std::int64_t zero = rules.zero ? of_width(number_at(zeros, *rules.zero, b), *rules.zero, "zeros") : middle_code(rules);
    const std::int64_t code = of_width(number_at(codes, rules.element, i), rules.element, "codes");
    const std::uint32_t number = mx::dequantize(code, zero, scale, rules, to);
    std::memcpy(numbers.data() + i * width, &number, width);
  }
}

}  // namespace

void bind_affine(nb::module_& module) {
  module.def("affine_facts", affine_facts, nb::arg("rules"));
  module.def("quantize_affine", quantize_affine, nb::arg("rules"), nb::arg("size"), nb::arg("x"), nb::arg("codes"), nb::arg("scales"),
             nb::arg("zeros"));
  module.def("dequantize_affine", dequantize_affine, nb::arg("rules"), nb::arg("target"), nb::arg("size"), nb::arg("codes"), nb::arg("scales"),
             nb::arg("zeros"), nb::arg("numbers"));
}

}  // namespace mx::python
