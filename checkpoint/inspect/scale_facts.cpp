#include "checkpoint/inspect/scale_facts.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "checkpoint/compare/matrix_values.hpp"
#include "support/digest.hpp"

namespace mx::checkpoint {
namespace {

/// What a dtype of scales can hold.
struct ScaleDtype {
  std::string_view name;
  double largest;
  double least_normal;
  bool bytes_of_exponents;
};
/// IEEE 754-2019 table 3.5; OCP OFP8 1.0 section 5; OCP MX 1.0 section 5.4.1.
constexpr std::array kDtypes{ScaleDtype{"F32", 0x1.fffffep127, 0x1p-126, false}, ScaleDtype{"BF16", 0x1.fep127, 0x1p-126, false},
                             ScaleDtype{"F16", 65504, 0x1p-14, false}, ScaleDtype{"F8_E4M3", 448, 0x1p-6, false},
                             ScaleDtype{"F8_E8M0", 0x1p127, 0x1p-127, true}};

const ScaleDtype& dtype_of(std::string_view name) {
  const auto* const row = std::ranges::find(kDtypes, name, &ScaleDtype::name);
  return row == kDtypes.end() ? kDtypes.back() : *row;
}

/// A whole number that is an exponent byte of a weight's scale.
bool spells_byte(double number) { return number >= 64 && number < 192 && number == std::floor(number); }
/// An exponent from -96 to 31 as a signed byte, read as a number of the dtype: 2^(byte - 127).
bool spells_exponent(double number) { return number >= 0x1p33 || number < 0x1p-95; }

/// How often each byte occurs, and where first. Neighbours are counted in tables of their own: equal ones would wait for each other.
class ByteCounts {
 public:
  void add(std::span<const std::uint8_t> bytes, std::int64_t before) {
    constexpr std::size_t kWays = 4;
    std::array<std::array<std::uint32_t, 256>, kWays> counts{};
    std::size_t at = 0;
    for (; at + kWays <= bytes.size(); at += kWays) {
      for (std::size_t way = 0; way < kWays; ++way) ++counts[way][bytes[at + way]];
    }
    for (; at < bytes.size(); ++at) ++counts[0][bytes[at]];
    for (std::size_t byte = 0; byte < 256; ++byte) {
      std::int64_t all = 0;
      for (const auto& way : counts) all += way[byte];
      if (all > 0 && counts_[byte] == 0) first_[byte] = before + (std::ranges::find(bytes, static_cast<std::uint8_t>(byte)) - bytes.begin());
      counts_[byte] += all;
    }
  }
  std::int64_t count(std::uint8_t byte) const { return counts_[byte]; }
  std::int64_t first(std::uint8_t byte) const { return first_[byte]; }

 private:
  std::array<std::int64_t, 256> counts_{};
  std::array<std::int64_t, 256> first_{};
};

/// Takes numbers in, a run of equal ones at a time.
class Facts {
 public:
  explicit Facts(const ScaleDtype& dtype) : dtype_(dtype) {}

  void add(double number, std::int64_t count, std::int64_t first) {
    facts_.count += count;
    if (std::isnan(number)) return;
    if (facts_.counts.size() < static_cast<std::size_t>(ScaleFacts::kCounted) || facts_.counts.contains(number)) facts_.counts[number] += count;
    if (number == 0) facts_.zeros += count;
    if (number == dtype_.largest) {
      facts_.first_largest = facts_.largest == 0 ? first : std::min(facts_.first_largest, first);
      facts_.largest += count;
    }
    if (dtype_.bytes_of_exponents ? spells_exponent(number) : spells_byte(number)) facts_.spelled += count;
    far_ = far_ || number >= 0x1p33;
    const double magnitude = std::abs(number);
    if (magnitude == 0 || std::isinf(magnitude)) return;
    if (magnitude < dtype_.least_normal) facts_.subnormals += count;
    facts_.least = facts_.least == 0 ? magnitude : std::min(facts_.least, magnitude);
    facts_.most = std::max(facts_.most, magnitude);
    facts_.binades[std::ilogb(magnitude)] += count;
  }

  ScaleFacts end(std::string digest) {
    constexpr std::int64_t kFew = 4;
    facts_.alike = facts_.count > 1 && facts_.counts.size() == 1 && facts_.counts.begin()->second == facts_.count;
    // E4M3 has no such numbers but by right.
    const bool may = dtype_.name != "F8_E4M3" && facts_.count >= kFew;
    // Blocks of zeros have a number of their own.
    facts_.spells = may && (dtype_.bytes_of_exponents ? far_ && 8 * facts_.spelled >= 7 * facts_.count : facts_.spelled == facts_.count);
    facts_.digest = std::move(digest);
    return std::move(facts_);
  }

 private:
  const ScaleDtype& dtype_;
  bool far_ = false;
  ScaleFacts facts_;
};

}  // namespace

void ScaleFacts::add(const ScaleFacts& other) {
  count += other.count;
  zeros += other.zeros;
  subnormals += other.subnormals;
  least = least == 0 ? other.least : other.least == 0 ? least : std::min(least, other.least);
  most = std::max(most, other.most);
  largest += other.largest;
  spelled += other.spelled;
  for (const auto& [exponent, of] : other.binades) binades[exponent] += of;
  for (const auto& [number, of] : other.counts) counts[number] += of;
}

ScaleFacts scale_facts(const FoundTensor& tensor, int expert, int experts) {
  const support::TensorView& view = *tensor.at->view;
  const std::string_view dtype = view.dtype->name;
  const std::size_t width = static_cast<std::size_t>(view.dtype->bits) / 8;
  const std::uint64_t size = view.bytes.size() / static_cast<std::uint64_t>(experts), begin = size * static_cast<std::uint64_t>(expert);
  Facts facts(dtype_of(dtype));
  support::DigestStream digest;
  ByteCounts of_byte;
  std::vector<std::uint8_t> bytes;
  std::vector<double> numbers;
  for (std::uint64_t at = 0; at < size; at += bytes.size()) {
    bytes.resize(std::min(TensorPieces::kPiece, size - at));
    tensor.at->file->read(view, begin + at, bytes);
    digest.add(bytes);
    const auto before = static_cast<std::int64_t>((begin + at) / width);
    if (width == 1) {
      of_byte.add(bytes, before);
      continue;
    }
    numbers.resize(bytes.size() / width);
    plain_numbers(bytes, dtype, numbers);
    for (std::size_t i = 0; i < numbers.size(); ++i) facts.add(numbers[i], 1, before + static_cast<std::int64_t>(i));
  }
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const auto code = static_cast<std::uint8_t>(byte);
    if (const std::int64_t count = of_byte.count(code); count > 0) facts.add(plain_number(std::span(&code, 1), 0, dtype), count, of_byte.first(code));
  }
  return facts.end(digest.text());
}

}  // namespace mx::checkpoint
