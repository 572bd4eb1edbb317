#pragma once
// mx::convert over whole arrays, one code in each word of 1, 2 or 4 bytes: by the fast twin where there is one, by a table of the model's answers for
// sources of up to 16 bits, else by the model.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/codec/codec.hpp"
#include "kernels/sweep/encode.hpp"
#include "model/numerics/convert.hpp"

namespace mx::kernels {

/// Bytes of the word that holds a code: 1 up to 8 bits, 2 up to 16, else 4. A code stands in the low bits; the others are 0.
std::size_t code_bytes(const Format& format);

/// Codes of a format, one in each word of code_bytes().
struct CodeBits {
  const Format* format;
  std::span<const std::byte> bytes;
};
struct CodeRoom {
  const Format* format;
  std::span<std::byte> bytes;
};

/// Each code of `from` in the format of `to`, equal to mx::convert(code, ..., how) for every input, with any number of threads. Before anything is
/// written, Error(usage) for a stochastic rounding, sizes that do not fit, memory that does not begin at a multiple of its words or overlaps, threads
/// not in 1 to kMostThreads; Error(unsupported) for a tier that does not run here. While it runs, Error(usage) for a word that is no code of the
/// source, and for a NaN where the conversion refuses it: what has been written then says nothing.
void convert_codes(const CodeBits& from, const Conversion& how, const CodeRoom& to, const Workers& workers);

/// A conversion worked out once, for callers of many small arrays. Formats and conversion are rows of the model.
class CodeConversion {
 public:
  /// `codes` is how many are to come: a table of the model's answers is made where that pays.
  CodeConversion(const Format& from, const Conversion& how, const Format& to, std::size_t codes);

  /// Whether so many codes were worth a table that this one has not.
  bool wants_table(std::size_t codes) const;
  /// As convert_codes().
  void operator()(std::span<const std::byte> from, std::span<std::byte> to, const Workers& workers) const;

 private:
  void convert_piece(std::span<std::uint32_t> words) const;

  const Format* from_;
  const Format* to_;
  const Conversion* how_;
  Encoder encoder_;
  std::vector<std::uint32_t> table_;
};

}  // namespace mx::kernels
