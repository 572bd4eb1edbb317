// Dot products and tiles of them under an arithmetic contract.

#include <nanobind/stl/tuple.h>

#include <cstring>

#include "kernels/dot/tile.hpp"
#include "python/module/operand.hpp"

namespace mx::python {
namespace {

std::uint32_t dot_bits(const std::string& contract, const Given& a, const Given& b, std::optional<std::uint32_t> c,
                       std::optional<std::uint32_t> bias) {
  const nb::gil_scoped_release unlocked;
  const OrdinaryMode mode;
  const ContractRow& row = row_of(contract_named(contract));
  const Side first(a);
  const Side second(b);
  Addends addends;
  if (c) addends.c = *c;
  if (bias) addends.bias = *bias;
  return dot(row, first.operand, second.operand, addends);
}

/// fp32 numbers of an array.
std::vector<std::uint32_t> given_words(const std::optional<Bytes>& bytes) {
  std::vector<std::uint32_t> words(bytes ? bytes->size() / sizeof(std::uint32_t) : 0);
  if (!words.empty()) std::memcpy(words.data(), bytes->data(), words.size() * sizeof(std::uint32_t));
  return words;
}

TileOperand tile_operand(const Given& given) {
  const auto& [format, scale_format, block, codes, scales] = given;
  TileOperand operand{.format = &factor_format_named(format), .codes = span_of(codes)};
  if (scale_format.empty()) return operand;
  operand.scale_format = &format_named(scale_format);
  operand.scales = span_of(scales);
  operand.block = static_cast<std::size_t>(block);
  return operand;
}

void matmul(const std::string& contract, const std::string& output, std::size_t m, std::size_t n, std::size_t k, const Given& a, const Given& b,
            const std::optional<Bytes>& c, const std::optional<Bytes>& bias, const Room& out) {
  const nb::gil_scoped_release unlocked;
  const OrdinaryMode mode;
  const ContractRow& row = row_of(contract_named(contract));
  const std::vector<std::uint32_t> starts = given_words(c);
  const std::vector<std::uint32_t> added = given_words(bias);
  const Tile tile{.m = m, .n = n, .k = k, .a = tile_operand(a), .b = tile_operand(b), .c = starts, .bias = added, .output = &format_named(output)};
  std::vector<std::uint32_t> results(m * n);
  kernels::dot::multiply(row, tile, results, workers());
  const std::size_t width = tile_word_bytes(*tile.output);
  for (std::size_t i = 0; i < results.size(); ++i) std::memcpy(out.data() + i * width, &results[i], width);
}

/// What the arrays around a product look like: format and block of scales that multiply terms ("" and 0 for others), formats of C and of the result;
/// and the evidence for the arithmetic.
std::tuple<std::string, int, std::string, std::string, std::string> contract_facts(const std::string& contract) {
  const ContractRow& row = row_of(contract_named(contract));
  return {row.scale_format == nullptr ? std::string() : std::string(row.scale_format->name), row.scale_block, std::string(row.addend->name),
          std::string(row.result->name), std::string(name_of(row.evidence))};
}

}  // namespace

void bind_products(nb::module_& module) {
  module.def("matmul", matmul, nb::arg("contract"), nb::arg("output"), nb::arg("m"), nb::arg("n"), nb::arg("k"), nb::arg("a"), nb::arg("b"),
             nb::arg("c").none(), nb::arg("bias").none(), nb::arg("out"));
  module.def("contract_facts", contract_facts, nb::arg("contract"));
  module.def("dot", dot_bits, nb::arg("contract"), nb::arg("a"), nb::arg("b"), nb::arg("c").none(), nb::arg("bias").none());
}

}  // namespace mx::python
