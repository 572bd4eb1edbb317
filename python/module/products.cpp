// Dot products under an arithmetic contract.

#include <nanobind/stl/tuple.h>

#include <cstring>
#include <tuple>

#include "kernels/codec/arguments.hpp"
#include "kernels/sweep/codes.hpp"
#include "model/numerics/contract.hpp"
#include "model/numerics/dot.hpp"
#include "python/module/core.hpp"

namespace mx::python {
namespace {

std::vector<Value> values_of(const Format& format, std::span<const std::uint8_t> bytes) {
  const std::size_t width = kernels::code_bytes(format);
  std::vector<Value> values;
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    std::uint32_t code = 0;
    std::memcpy(&code, bytes.data() + at, width);
    if (format.width < 32 && code >> format.width != 0) kernels::refuse_code(format, code, at / width);
    values.push_back(decode(format, code));
  }
  return values;
}

/// One side: the format of its codes, of its scales (empty: none), elements of a block, codes, scales.
using Given = std::tuple<std::string, std::string, int, Bytes, Bytes>;

struct Side {
  std::vector<Value> elements;
  std::vector<Value> scales;
  Operand operand;

  explicit Side(const Given& given) {
    const auto& [format, scale_format, block, codes, scale_codes] = given;
    const Format& of = format_named(format);
    elements = values_of(of, span_of(codes));
    if (!scale_format.empty()) scales = values_of(format_named(scale_format), span_of(scale_codes));
    operand = {.elements = elements, .format = &of, .scales = scales, .block = block};
  }
};

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

}  // namespace

void bind_products(nb::module_& module) {
  module.def("dot", dot_bits, nb::arg("contract"), nb::arg("a"), nb::arg("b"), nb::arg("c").none(), nb::arg("bias").none());
}

}  // namespace mx::python
