#include "kernels/sweep/codes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/codec/arguments.hpp"
#include "kernels/pieces.hpp"
#include "kernels/sweep/encode.hpp"
#include "model/error.hpp"

namespace mx::kernels {
namespace {

/// Codes that a thread takes at a time.
constexpr std::size_t kPiece = 4096;
/// The same where they go straight from memory to memory.
constexpr std::size_t kLongPiece = 16 * kPiece;

using Words = std::array<std::uint32_t, kPiece>;

template <class Word>
void widen(const std::byte* from, std::size_t count, std::uint32_t* to) {
  for (std::size_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, from + i * sizeof(Word), sizeof(Word));
    to[i] = word;
  }
}
template <class Word>
void narrow(const std::uint32_t* from, std::size_t count, std::byte* to) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto word = static_cast<Word>(from[i]);
    std::memcpy(to + i * sizeof(Word), &word, sizeof(Word));
  }
}

void read_words(const CodeBits& from, std::size_t first, std::size_t count, std::uint32_t* to) {
  const std::size_t bytes = code_bytes(*from.format);
  const std::byte* const at = from.bytes.data() + first * bytes;
  if (bytes == 1) return widen<std::uint8_t>(at, count, to);
  if (bytes == 2) return widen<std::uint16_t>(at, count, to);
  std::memcpy(to, at, count * bytes);
}

void write_words(const CodeRoom& to, std::size_t first, std::size_t count, const std::uint32_t* from) {
  const std::size_t bytes = code_bytes(*to.format);
  std::byte* const at = to.bytes.data() + first * bytes;
  if (bytes == 1) return narrow<std::uint8_t>(from, count, at);
  if (bytes == 2) return narrow<std::uint16_t>(from, count, at);
  std::memcpy(at, from, count * bytes);
}

/// A word may have more bits than a code.
void require_codes(std::span<const std::uint32_t> words, const Format& format, std::size_t first) {
  if (format.width % 8 == 0) return;
  const auto wide = std::ranges::find_if(words, [&](std::uint32_t word) { return word >> format.width != 0; });
  if (wide == words.end()) return;
  refuse_code(format, *wide, first + static_cast<std::size_t>(wide - words.begin()));
}

std::vector<std::uint32_t> table_of(const Format& from, const Format& to, const Conversion& how) {
  std::vector<std::uint32_t> table(std::size_t{1} << from.width);
  for (std::uint32_t code = 0; code < table.size(); ++code) table[code] = convert(code, from, to, how);
  return table;
}

}  // namespace

std::size_t code_bytes(const Format& format) { return format.width <= 8 ? 1 : format.width <= 16 ? 2 : 4; }

CodeConversion::CodeConversion(const Format& from, const Conversion& how, const Format& to, std::size_t codes)
    : from_(&from), to_(&to), how_(&how), encoder_(from == kF32 ? Encoder(to, how) : Encoder()) {
  if (wants_table(codes)) table_ = table_of(from, to, how);
}

bool CodeConversion::wants_table(std::size_t codes) const {
  // A table is worth its codes; one with a NaN that is refused cannot be made.
  return table_.empty() && from_->width <= 16 && how_->nan_rule != NanRule::refused && !is_stochastic(how_->rounding) && codes >> from_->width != 0;
}

void CodeConversion::convert_piece(std::span<std::uint32_t> words) const {
  if (table_.empty()) {
    for (std::uint32_t& word : words) word = convert(word, *from_, *to_, *how_);
  } else {
    for (std::uint32_t& word : words) word = table_[word];
  }
}

void CodeConversion::operator()(std::span<const std::byte> from, std::span<std::byte> to, const Workers& workers) const {
  require_workers(workers);
  if (is_stochastic(how_->rounding)) {
    throw Error(ErrorCode::usage, "rounding " + std::string(name_of(how_->rounding)) + " takes random bits: codes are converted one by one");
  }
  const std::size_t width = code_bytes(*from_);
  const std::size_t count = from.size() / width;
  if (from.size() % width != 0 || to.size() != count * code_bytes(*to_)) {
    throw Error(ErrorCode::usage, std::to_string(from.size()) + " bytes of " + std::string(from_->name) + " into " + std::to_string(to.size()) +
                                      " of " + std::string(to_->name) + ": sizes that do not fit");
  }
  const std::array<Buffer, 2> buffers{{{"codes", from, width}, {"results", to, code_bytes(*to_)}}};
  require_separate(buffers);
  if (encoder_.knows()) {
    const auto fill = [&]<class Code>(Code* codes) {
      const auto* const f32 = reinterpret_cast<const std::uint32_t*>(from.data());
      for_each_piece((count + kLongPiece - 1) / kLongPiece, workers.threads, [&](std::size_t piece) {
        const std::size_t first = piece * kLongPiece;
        const std::size_t some = std::min(kLongPiece, count - first);
        encoder_(std::span(f32 + first, some), std::span(codes + first, some), *workers.tier);
      });
    };
    switch (code_bytes(*to_)) {
      case 1: return fill(reinterpret_cast<std::uint8_t*>(to.data()));
      case 2: return fill(reinterpret_cast<std::uint16_t*>(to.data()));
      default: return fill(reinterpret_cast<std::uint32_t*>(to.data()));
    }
  }
  for_each_piece((count + kPiece - 1) / kPiece, workers.threads, [&](std::size_t piece) {
    alignas(64) Words words;
    const std::size_t first = piece * kPiece;
    const auto some = std::span(words).first(std::min(kPiece, count - first));
    read_words({from_, from}, first, some.size(), some.data());
    require_codes(some, *from_, first);
    convert_piece(some);
    write_words({to_, to}, first, some.size(), some.data());
  });
}

void convert_codes(const CodeBits& from, const Conversion& how, const CodeRoom& to, const Workers& workers) {
  CodeConversion(*from.format, how, *to.format, from.bytes.size() / code_bytes(*from.format))(from.bytes, to.bytes, workers);
}

}  // namespace mx::kernels
