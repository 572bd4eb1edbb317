#include "kernels/relayout/cast_units.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "kernels/little_endian.hpp"
#include "model/error.hpp"
#include "model/layout/grains.hpp"

namespace mx::kernels::relayout {
namespace {

using layout::Cast;

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

/// out[i] = table[in[i]].
template <class In, class Out>
void look_up(const std::vector<std::uint32_t>& table, const std::uint8_t* in, std::uint8_t* out, std::int64_t count, int threads) {
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t i = 0; i < count; ++i) {
    const auto unit = load_little_endian<In>(in + i * static_cast<std::int64_t>(sizeof(In)));
    store_little_endian(out + i * static_cast<std::int64_t>(sizeof(Out)), static_cast<Out>(table[unit]));
  }
}

[[noreturn]] void no_table(const Cast& cast) {
  throw Error(ErrorCode::unsupported, "no table from " + std::to_string(cast.from_bits) + " to " + std::to_string(cast.to_bits) + " bits",
              std::string(cast.name));
}

/// Nibbles are looked up two by two.
std::vector<std::uint32_t> table_of(const Cast& cast) {
  const bool pairs = cast.from_bits == 4;
  std::vector<std::uint32_t> table(std::size_t{1} << (pairs ? 8 : cast.from_bits));
  for (std::size_t unit = 0; unit < table.size(); ++unit) {
    table[unit] = static_cast<std::uint32_t>(pairs ? cast.make(unit & 15U) | cast.make(unit >> 4U) << 4U : cast.make(unit));
  }
  return table;
}

/// What becomes a value: by the value's upper bits, of which few units share one, and by search where they do.
class Origin {
 public:
  explicit Origin(const Cast& cast)
      : uncast_(cast),
        shift_(cast.to_bits > kIndexBits ? cast.to_bits - kIndexBits : 0),
        guesses_(std::size_t{1} << std::min(cast.to_bits, kIndexBits)) {
    for (std::uint64_t unit = std::uint64_t{1} << cast.from_bits; unit-- > 0;) guesses_[index(cast.make(unit))] = static_cast<std::uint16_t>(unit);
    for (std::uint64_t unit = 0; unit < std::uint64_t{1} << cast.from_bits; ++unit) made_.push_back(static_cast<std::uint32_t>(cast.make(unit)));
  }

  /// The smallest unit that becomes `value`, or -1.
  std::int32_t operator()(std::uint64_t value) const {
    const std::uint16_t guess = guesses_[index(value)];
    if (made_[guess] == value) return guess;
    const std::optional<std::uint64_t> unit = uncast_(value);
    return unit ? static_cast<std::int32_t>(*unit) : -1;
  }

 private:
  static constexpr int kIndexBits = 16;
  std::size_t index(std::uint64_t value) const { return static_cast<std::size_t>(value >> shift_); }

  layout::Uncast uncast_;
  int shift_;
  std::vector<std::uint16_t> guesses_;
  std::vector<std::uint32_t> made_;
};

}  // namespace

void make_values(const Cast& cast, std::span<const std::uint8_t> units, std::span<std::uint8_t> values, int threads) {
  struct Row {
    int from_bits;
    int to_bits;
    int in_bytes;
    void (*run)(const std::vector<std::uint32_t>&, const std::uint8_t*, std::uint8_t*, std::int64_t, int);
  };
  constexpr Row kRows[]{
      {4, 4, 1, look_up<std::uint8_t, std::uint8_t>},     {8, 8, 1, look_up<std::uint8_t, std::uint8_t>},
      {8, 32, 1, look_up<std::uint8_t, std::uint32_t>},   {16, 16, 2, look_up<std::uint16_t, std::uint16_t>},
      {16, 32, 2, look_up<std::uint16_t, std::uint32_t>},
  };
  const auto* row = std::ranges::find_if(kRows, [&](const Row& r) { return r.from_bits == cast.from_bits && r.to_bits == cast.to_bits; });
  if (row == std::end(kRows)) no_table(cast);
  row->run(table_of(cast), units.data(), values.data(), static_cast<std::int64_t>(units.size()) / row->in_bytes, threads);
}

void take_values_back(const Cast& cast, std::span<const std::uint8_t> values, std::span<std::uint8_t> units, int threads) {
  const Origin origin(cast);
  const std::int64_t count = static_cast<std::int64_t>(values.size()) * 8 / cast.to_bits;
  // Pairs of nibbles stay with one thread.
  const std::int64_t pairs = (count + 1) / 2;
  std::int64_t wrong = kNone;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(min : wrong)
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    for (std::int64_t i = 2 * pair; i < std::min(2 * pair + 2, count); ++i) {
      const std::int32_t unit = origin(layout::get_grain(values, i, cast.to_bits));
      if (unit < 0) wrong = std::min(wrong, i);
      layout::set_grain(units, i, cast.from_bits, static_cast<std::uint64_t>(unit));
    }
  }
  if (wrong == kNone) return;
  char hex[32];
  static_cast<void>(std::snprintf(hex, sizeof hex, "0x%llX", static_cast<unsigned long long>(layout::get_grain(values, wrong, cast.to_bits))));
  throw Error(ErrorCode::input, "element " + std::to_string(wrong) + " is " + hex + ", which " + std::string(cast.name) + " never makes");
}

}  // namespace mx::kernels::relayout
