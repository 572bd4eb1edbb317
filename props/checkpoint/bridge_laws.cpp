// The law of bridges: codes and scales are drawn, and a copy that was made by one of the known bridges is explained by one that gives it.

#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/compare/bridges.hpp"
#include "props/checkpoint/laws.hpp"
#include "props/layout/generators.hpp"
#include "support/random.hpp"

namespace mx::props {
namespace {

using checkpoint::KnownBridge;
using checkpoint::ScaledCodes;
using Random = support::SplitMix64;

constexpr std::int64_t kSeeds = 1'000'000'000;

/// A bridge from its words in bridges.cpp: the block whose scale counts at a row and column.
struct Restated {
  std::string id;
  std::function<double(const ScaledCodes& codes, std::int64_t row, std::int64_t column)> factor;
};
double at(const ScaledCodes& codes, std::int64_t block_row, std::int64_t block_column) {
  const std::int64_t across = (codes.columns + codes.block_columns - 1) / codes.block_columns;
  return static_cast<double>(codes.scales[static_cast<std::size_t>(block_row * across + block_column)]);
}
const std::vector<Restated>& restated() {
  static const std::vector<Restated> all{
      {"even-cut", [](const ScaledCodes& c, std::int64_t row,
                      std::int64_t column) { return at(c, row * c.down() / c.rows, column * c.across() / c.columns) * c.number; }},
      {"axes-exchanged",
       [](const ScaledCodes& c, std::int64_t row, std::int64_t column) { return at(c, column / c.block_columns, row / c.block_rows) * c.number; }},
      {"next-across",
       [](const ScaledCodes& c, std::int64_t row, std::int64_t column) {
         return at(c, row / c.block_rows, (column + c.block_columns) / c.block_columns % c.across()) * c.number;
       }},
      {"next-down", [](const ScaledCodes& c, std::int64_t row,
                       std::int64_t column) { return at(c, (row + c.block_rows) / c.block_rows % c.down(), column / c.block_columns) * c.number; }},
      {"first-for-all", [](const ScaledCodes& c, std::int64_t, std::int64_t) { return at(c, 0, 0) * c.number; }},
      {"no-scale", [](const ScaledCodes&, std::int64_t, std::int64_t) { return 1.0; }},
      {"reciprocal", [](const ScaledCodes& c, std::int64_t row,
                        std::int64_t column) { return 1 / (at(c, row / c.block_rows, column / c.block_columns) * c.number); }},
      {"reciprocal-number",
       [](const ScaledCodes& c, std::int64_t row, std::int64_t column) { return at(c, row / c.block_rows, column / c.block_columns) / c.number; }},
  };
  return all;
}

/// To nearest even with so many significant bits, from fp32: far from its ends.
double rounded(double number, int bits) {
  const auto single = std::bit_cast<std::uint32_t>(static_cast<float>(number));
  const int cut = 24 - bits;
  if (cut == 0) return static_cast<double>(std::bit_cast<float>(single));
  const std::uint32_t below = (std::uint32_t{1} << (cut - 1)) - 1;
  return static_cast<double>(std::bit_cast<float>((single + below + (single >> cut & 1U)) >> cut << cut));
}

struct Drawn {
  ScaledCodes codes;
  std::vector<double> numbers;
};
/// Blocks in each direction, codes of whole numbers, scales of which no two are alike; some matrices are square in blocks, of some the last row of
/// blocks is cut.
Drawn draw(Random& random) {
  const auto from = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(high - low + 1));
  };
  const std::int64_t down = from(2, 4), across = from(0, 2) == 0 ? down : from(2, 4), high = from(2, 6), wide = from(2, 6);
  // Shorter parts of one length, where the last block is not empty by then.
  const bool is_cut = high > down && from(0, 1) == 0;
  const std::int64_t rows = down * (is_cut ? high - 1 : high), columns = across * wide;
  Drawn made{{rows, columns, high, wide, {}, from(0, 1) == 0 ? 1.0 : 0.37109375, {}}, {}};
  const std::int64_t blocks = (rows + high - 1) / high * across;
  for (std::int64_t i = 0; i < blocks; ++i)
    made.codes.scales.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(0x3F000000 + i * 0x31234 + from(0, 0x2FFFF))));
  for (std::int64_t i = 0; i < rows * columns; ++i) made.numbers.push_back(static_cast<double>(from(1, 7)) * (from(0, 1) == 0 ? 1 : -1));
  return made;
}

std::string asked(const ScaledCodes& codes, const std::vector<double>& copy, int bits) {
  return checkpoint::bridge_between(codes,
                                    {bits,
                                     [&](std::int64_t first, std::span<double> out) {
                                       for (std::size_t i = 0; i < out.size(); ++i)
                                         out[i] = copy[static_cast<std::size_t>(first * codes.columns) + i];
                                     }},
                                    [] {});
}

}  // namespace

Outcome law_bridges(const Law& law) {
  return check_property(law, [] {
    const std::span<const KnownBridge> known = checkpoint::known_bridges();
    RC_ASSERT(known.size() == restated().size());
    Random random(static_cast<std::uint64_t>(pick(0, kSeeds)));
    Drawn made = draw(random);
    made.codes.read_codes = [&](std::int64_t first, std::span<double> out) {
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = made.numbers[static_cast<std::size_t>(first * made.codes.columns) + i];
    };
    const auto which = static_cast<std::size_t>(pick(0, std::ssize(known) - 1));
    const int bits = std::vector{8, 11, 24}[random.next() % 3];
    RC_PRE(known[which].may(made.codes));
    RC_ASSERT(known[which].id == restated()[which].id);
    std::vector<double> copy;
    const auto made_by = [&](const Restated& bridge, std::size_t i) {
      const auto place = static_cast<std::int64_t>(i);
      return rounded(made.numbers[i] * bridge.factor(made.codes, place / made.codes.columns, place % made.codes.columns), bits);
    };
    for (std::size_t i = 0; i < made.numbers.size(); ++i) copy.push_back(made_by(restated()[which], i));
    const std::string said = asked(made.codes, copy, bits);
    RC_LOG() << known[which].id << ", " << bits << " bits: '" << said << "'\n";
    // Another bridge may give the same copy, and no bridge may be named that does not.
    bool is_true = false;
    for (std::size_t other = 0; other < known.size(); ++other) {
      if (!known[other].may(made.codes) || !said.starts_with(known[other].text)) continue;
      is_true = true;
      for (std::size_t i = 0; i < copy.size(); ++i) is_true &= made_by(restated()[other], i) == copy[i];
    }
    RC_ASSERT(is_true);
    RC_ASSERT((said.find("rounded to bf16") != std::string::npos) == (bits == 8));
    RC_ASSERT((said.find("rounded to fp16") != std::string::npos) == (bits == 11));
    // One number lies two units away: beside a tie the next one may be the rounding from fp32.
    const std::size_t changed = random.next() % copy.size();
    copy[changed] *= 1 + std::ldexp(1.0, 2 - bits);
    copy[changed] = rounded(copy[changed], bits);
    RC_ASSERT(asked(made.codes, copy, bits).empty());
  });
}

}  // namespace mx::props
