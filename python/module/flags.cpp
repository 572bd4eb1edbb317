// What happened to each element on its way into another format: the model's own answer, asked for beside the results, which kernels make.

#include <array>
#include <cstring>

#include "kernels/codec/arguments.hpp"
#include "kernels/sweep/codes.hpp"
#include "python/module/core.hpp"

namespace mx::python {
namespace {

using Bits = std::optional<std::uint32_t>;

/// A flag and its bit, as mxact.h has them.
struct FlagRow {
  bool Flags::*flag;
  const char* name;
  std::uint8_t bit;
};
constexpr std::array<FlagRow, 7> kFlags{{{&Flags::inexact, "INEXACT", 1},
                                         {&Flags::underflow, "UNDERFLOW", 2},
                                         {&Flags::overflow, "OVERFLOW", 4},
                                         {&Flags::invalid, "INVALID", 16},
                                         {&Flags::saturated, "SATURATED", 32},
                                         {&Flags::nan, "NAN", 64},
                                         {&Flags::flushed, "FLUSHED", 128}}};

std::uint8_t byte_of(const Flags& flags) {
  unsigned byte = 0;
  for (const FlagRow& row : kFlags) byte |= flags.*row.flag ? row.bit : 0U;
  return static_cast<std::uint8_t>(byte);
}

std::uint32_t word_at(std::span<const std::uint8_t> bytes, std::size_t width, std::size_t i) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + i * width, width);
  return word;
}

/// For elements that kernels::convert_codes took: nothing is refused any more.
void convert_flags(const std::string& profile, const std::string& source, const std::string& target, const Bytes& codes, const Room& flags) {
  const nb::gil_scoped_release unlocked;
  const OrdinaryMode mode;
  const Format& from = format_named(source);
  const Format& to = format_named(target);
  const Conversion& how = conversion(profile_named(profile), from, to);
  const std::size_t width = kernels::code_bytes(from);
  const std::span<const std::uint8_t> all = span_of(codes);
  const std::span<std::uint8_t> out = span_of(flags);
#pragma omp parallel for schedule(static) num_threads(workers().threads)
  for (std::size_t i = 0; i < out.size(); ++i) {
    Flags raised;
    convert(word_at(all, width, i), from, to, how, raised);
    out[i] = byte_of(raised);
  }
}

/// Likewise for what kernels::quantize_whole_bytes took: the rounding of each scaled element.
void quantize_flags(const std::string& format, const std::string& profile, const std::string& source, std::size_t rows, std::size_t cols, Bits encode,
                    Bits decode, Bits amax_bound, const Bytes& elements, const Room& flags) {
  const nb::gil_scoped_release unlocked;
  const OrdinaryMode mode;
  const Format& from = format_named(source);
  const Recipe& how = recipe(profile_named(profile), block_format_named(format), from);
  const TensorScale tensor{encode, decode, amax_bound};
  if (elements.size() == 0) return;
  const std::size_t width = kernels::word_bytes(from);
  const kernels::BlockGrid grid = kernels::block_grid({rows, cols}, *how.format);
  const std::span<const std::uint8_t> all = span_of(elements);
  const std::span<std::uint8_t> out = span_of(flags);
#pragma omp parallel for schedule(static) num_threads(workers().threads)
  for (std::size_t block = 0; block < grid.count(); ++block) {
    const std::size_t first = block / grid.cols * grid.block_rows * cols + block % grid.cols * grid.block_cols;
    std::vector<std::uint32_t> x;
    for (std::size_t i = 0; i < grid.block_rows * grid.block_cols; ++i) {
      x.push_back(word_at(all, width, first + i / grid.block_cols * cols + i % grid.block_cols));
    }
    const QuantizedBlock quantized = quantize_block(x, from, how, tensor);
    for (std::size_t i = 0; i < x.size(); ++i) out[first + i / grid.block_cols * cols + i % grid.block_cols] = byte_of(quantized.flags[i]);
  }
}

nb::dict flag_bits() {
  nb::dict bits;
  for (const FlagRow& row : kFlags) bits[row.name] = row.bit;
  return bits;
}

}  // namespace

void bind_flags(nb::module_& module) {
  module.def("flag_bits", flag_bits);
  module.def("convert_flags", convert_flags, nb::arg("profile"), nb::arg("source"), nb::arg("target"), nb::arg("codes"), nb::arg("flags"));
  module.def("quantize_flags", quantize_flags, nb::arg("format"), nb::arg("profile"), nb::arg("source"), nb::arg("rows"), nb::arg("cols"),
             nb::arg("encode").none(), nb::arg("decode").none(), nb::arg("amax_bound").none(), nb::arg("elements"), nb::arg("flags"));
}

}  // namespace mx::python
