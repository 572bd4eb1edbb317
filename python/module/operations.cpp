// Operations of an arithmetic unit, comparisons and conversions from and to integers, code by code, as the model has them.

#include <nanobind/stl/pair.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/sweep/codes.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "model/numerics/comparison.hpp"
#include "model/numerics/integer.hpp"
#include "model/numerics/operation.hpp"
#include "model/numerics/p3109.hpp"
#include "python/module/core.hpp"

namespace mx::python {
namespace {

template <typename Word>
Word word_at(const Bytes& bytes, std::size_t width, std::size_t i) {
  Word word = 0;
  std::memcpy(&word, bytes.data() + i * width, width);
  return word;
}

void put(const Room& room, std::size_t width, std::size_t i, std::uint64_t word) { std::memcpy(room.data() + i * width, &word, width); }

std::uint32_t code_at(const Bytes& bytes, const Format& format, std::size_t i) {
  const auto code = word_at<std::uint32_t>(bytes, kernels::code_bytes(format), i);
  if (format.width < 32 && code >> format.width != 0)
    throw Error(ErrorCode::usage, std::to_string(code) + " is no code of " + std::string(format.name));
  return code;
}

/// How many operands there are, and whether the answer is a truth. Throws Error(usage) with the nearest name.
std::pair<int, bool> operation_facts(const std::string& name) {
  for (const Predicate& predicate : all_predicates()) {
    if (same_name(predicate.name, name)) return {2, true};
  }
  return {operation_named(name).operands, false};
}

std::vector<const Format*> formats_of(const std::vector<std::string>& names) {
  std::vector<const Format*> formats;
  for (const std::string& name : names) formats.push_back(&format_named(name));
  return formats;
}

/// Operands of as many codes each as there are flags. In one thread: what is refused ends it.
void operate_codes(const std::string& operation, const std::string& profile, const std::vector<std::string>& sources, const std::string& target,
                   const std::vector<Bytes>& operands, const Room& results, const Room& flags) {
  const nb::gil_scoped_release unlocked;
  const OrdinaryMode mode;
  const OperationRow& row = operation_named(operation);
  const std::vector<const Format*> from = formats_of(sources);
  const Format& to = format_named(target);
  const Conversion& how = conversion(profile_named(profile), kF32, to);
  std::vector<std::uint32_t> codes(operands.size());
  for (std::size_t i = 0; i < flags.size(); ++i) {
    for (std::size_t k = 0; k < codes.size(); ++k) codes[k] = code_at(operands[k], *from[k], i);
    IeeeFlags raised;
    put(results, kernels::code_bytes(to), i, operate(row.operation, codes, from, to, how, raised));
    flags.data()[i] = static_cast<std::uint8_t>(flag_bits(raised));
  }
}

void compare_codes(const std::string& predicate, const std::vector<std::string>& sources, const std::vector<Bytes>& operands, const Room& results,
                   const Room& flags) {
  const nb::gil_scoped_release unlocked;
  const Predicate& row = predicate_named(predicate);
  const std::vector<const Format*> from = formats_of(sources);
  for (std::size_t i = 0; i < flags.size(); ++i) {
    IeeeFlags raised;
    const bool holds = compare(row, code_at(operands[0], *from[0], i), *from[0], code_at(operands[1], *from[1], i), *from[1], raised);
    results.data()[i] = holds ? 1 : 0;
    flags.data()[i] = static_cast<std::uint8_t>(flag_bits(raised));
  }
}

std::size_t word_bytes(const Integer& integer) {
  constexpr std::array<std::size_t, 4> kSizes{1, 2, 4, 8};
  std::size_t at = 0;
  while (static_cast<int>(8 * kSizes[at]) < integer.width) ++at;
  return kSizes[at];
}

/// Bytes of a word that holds an integer, and whether it has a sign. `target`: the text says its rounding and overflow too.
std::pair<std::size_t, bool> integer_facts(const std::string& text, bool target) {
  const Integer integer = target ? integer_target(text).integer : integer_named(text);
  return {word_bytes(integer), integer.has_sign};
}

/// Words have the sign of the integer in all bits above it.
void to_integers(const std::string& text, const std::string& source, const Bytes& codes, const Room& results, const Room& flags) {
  const nb::gil_scoped_release unlocked;
  const IntegerTarget to = integer_target(text);
  const Format& from = format_named(source);
  for (std::size_t i = 0; i < flags.size(); ++i) {
    IeeeFlags raised;
    const std::uint64_t bits = to_integer(code_at(codes, from, i), from, to, raised), above = ~std::uint64_t{0} << (to.integer.width - 1);
    put(results, word_bytes(to.integer), i, to.integer.has_sign && (bits & above) != 0 ? bits | above : bits);
    flags.data()[i] = static_cast<std::uint8_t>(flag_bits(raised));
  }
}

void from_integers(const std::string& source, const std::string& profile, const std::string& target, const Bytes& words, const Room& results,
                   const Room& flags) {
  const nb::gil_scoped_release unlocked;
  const OrdinaryMode mode;
  const Integer from = integer_named(source);
  const Format& to = format_named(target);
  const Conversion& how = conversion(profile_named(profile), kF32, to);
  const std::size_t width = word_bytes(from);
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - 8 * width), mask = ~std::uint64_t{0} >> (64 - from.width);
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const auto word = word_at<std::uint64_t>(words, width, i);
    const bool negative = from.has_sign && (word >> (from.width - 1) & 1U) != 0;
    if (word != (negative ? (word | ~mask) & all : word & mask))
      throw Error(ErrorCode::usage, "element " + std::to_string(i) + " has more bits than " + text_of(from));
    IeeeFlags raised;
    put(results, kernels::code_bytes(to), i, from_integer(word & mask, from, to, how, raised));
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
  module.def("operation_facts", operation_facts, nb::arg("operation"));
  module.def("operate", operate_codes, nb::arg("operation"), nb::arg("profile"), nb::arg("sources"), nb::arg("target"), nb::arg("operands"),
             nb::arg("results"), nb::arg("flags"));
  module.def("compare_codes", compare_codes, nb::arg("predicate"), nb::arg("sources"), nb::arg("operands"), nb::arg("results"), nb::arg("flags"));
  module.def("integer_facts", integer_facts, nb::arg("text"), nb::arg("target"));
  module.def("to_integers", to_integers, nb::arg("text"), nb::arg("source"), nb::arg("codes"), nb::arg("results"), nb::arg("flags"));
  module.def("from_integers", from_integers, nb::arg("source"), nb::arg("profile"), nb::arg("target"), nb::arg("words"), nb::arg("results"),
             nb::arg("flags"));
  module.def("p3109_sizes", p3109_sizes, nb::arg("specialization"));
  module.def("p3109", p3109_codes, nb::arg("specialization"), nb::arg("operands"), nb::arg("random"), nb::arg("results"));
}

}  // namespace mx::python
