// Dot products under an arithmetic contract.

#include <nanobind/stl/tuple.h>

#include "model/numerics/contract.hpp"
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

}  // namespace

void bind_products(nb::module_& module) {
  module.def("dot", dot_bits, nb::arg("contract"), nb::arg("a"), nb::arg("b"), nb::arg("c").none(), nb::arg("bias").none());
}

}  // namespace mx::python
