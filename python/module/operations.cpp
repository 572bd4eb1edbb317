// Operations of an arithmetic unit, code by code, as the model has them.

#include <algorithm>
#include <cstring>

#include "kernels/sweep/codes.hpp"
#include "model/error.hpp"
#include "model/numerics/operation.hpp"
#include "model/numerics/p3109.hpp"
#include "python/module/core.hpp"

namespace mx::python {
namespace {

std::uint32_t word_at(const Bytes& bytes, std::size_t width, std::size_t i) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + i * width, width);
  return word;
}

int operands_of(const std::string& operation) { return operation_named(operation).operands; }

/// Operands of as many codes each as there are flags. In one thread: what is refused ends it.
void operate_codes(const std::string& operation, const std::string& profile, const std::string& source, const std::string& target,
                   const std::vector<Bytes>& operands, const Room& results, const Room& flags) {
  const nb::gil_scoped_release unlocked;
  const OrdinaryMode mode;
  const OperationRow& row = operation_named(operation);
  const Format& from = format_named(source);
  const Format& to = format_named(target);
  const Conversion& how = conversion(profile_named(profile), kF32, to);
  const std::size_t width = kernels::code_bytes(from), out = kernels::code_bytes(to);
  std::vector<std::uint32_t> codes(operands.size());
  for (std::size_t i = 0; i < flags.size(); ++i) {
    for (std::size_t k = 0; k < codes.size(); ++k) {
      codes[k] = word_at(operands[k], width, i);
      if (from.width < 32 && codes[k] >> from.width != 0)
        throw Error(ErrorCode::usage, std::to_string(codes[k]) + " is no code of " + std::string(from.name));
    }
    IeeeFlags raised;
    const std::uint32_t code = operate(row.operation, codes, from, to, how, raised);
    std::memcpy(results.data() + i * out, &code, out);
    flags.data()[i] = static_cast<std::uint8_t>(flag_bits(raised));
  }
}

using Codes = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using CodeRoom = nb::ndarray<std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// How many operands and results a specialization of P3109 has.
nb::tuple p3109_sizes(const std::string& specialization) {
  const p3109::Specialization read = p3109::specialization_of(specialization);
  return nb::make_tuple(p3109::operands_of(read).size(), p3109::results_of(read).size());
}

/// One tuple of operands behind the other, likewise random numbers and results. In one thread: what is refused ends it.
void p3109_codes(const std::string& specialization, const Codes& operands, const Codes& random, const CodeRoom& results) {
  const nb::gil_scoped_release unlocked;
  const OrdinaryMode mode;
  const p3109::Specialization read = p3109::specialization_of(specialization);
  const std::size_t out = p3109::results_of(read).size(), times = results.size() / out;
  const std::size_t in = operands.size() / times, drawn = random.size() / times;
  for (std::size_t i = 0; i < times; ++i) {
    const std::vector<std::uint32_t> codes = p3109::evaluate(read, {operands.data() + i * in, in}, {random.data() + i * drawn, drawn});
    std::ranges::copy(codes, results.data() + i * out);
  }
}

}  // namespace

void bind_operations(nb::module_& module) {
  module.def("operands_of", operands_of, nb::arg("operation"));
  module.def("operate", operate_codes, nb::arg("operation"), nb::arg("profile"), nb::arg("source"), nb::arg("target"), nb::arg("operands"),
             nb::arg("results"), nb::arg("flags"));
  module.def("p3109_sizes", p3109_sizes, nb::arg("specialization"));
  module.def("p3109", p3109_codes, nb::arg("specialization"), nb::arg("operands"), nb::arg("random"), nb::arg("results"));
}

}  // namespace mx::python
