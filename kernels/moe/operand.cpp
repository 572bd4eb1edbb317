#include "kernels/moe/operand.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <string>

#include "kernels/little_endian.hpp"
#include "kernels/moe/tile.hpp"
#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/ordinary_mode.hpp"

namespace mx::kernels::moe {
namespace {

/// The largest scale byte whose base is a number.
constexpr std::uint8_t kMostBase = 238;

constexpr int kFractionBits = 23;  // of fp32

// Vectors that every processor's compiler has.
typedef std::uint8_t Bytes __attribute__((vector_size(16)));
typedef std::uint16_t Words __attribute__((vector_size(16)));
typedef std::uint32_t Dwords __attribute__((vector_size(16)));

int exponent_field(float value) { return static_cast<int>(std::bit_cast<std::uint32_t>(value) >> 23 & 0xFFU); }

/// Smallest exponent field of a normal number or NaN, 255 when there is none. One less than a field, a zero wraps around to 255.
std::uint8_t least_exponent(const std::uint16_t* row, std::size_t k) {
  std::uint8_t least = 254;
  for (std::size_t i = 0; i < k; ++i) least = std::min(least, static_cast<std::uint8_t>((row[i] >> 7) - 1));
  return static_cast<std::uint8_t>(least + 1);
}

/// Largest exponent field of a finite number. One more than a field, 255 wraps around to 0.
std::uint8_t most_exponent(const std::uint16_t* row, std::size_t k) {
  std::uint8_t most = 1;
  for (std::size_t i = 0; i < k; ++i) most = std::max(most, static_cast<std::uint8_t>((row[i] >> 7) + 1));
  return static_cast<std::uint8_t>(most - 1);
}

/// Two bf16 in a dword, the first one in its lower half.
std::uint32_t pair_at(const std::uint16_t* from) {
  std::uint32_t pair;
  std::memcpy(&pair, from, sizeof pair);
  return std::endian::native == std::endian::little ? pair : std::rotl(pair, 16);
}

/// Pairs of K from `first` to `end`, all rows of a tile beside each other: one scale block of each row after the other.
void place_pairs(std::span<const std::uint16_t* const> rows, std::size_t first, std::size_t end, std::uint32_t* to) {
  constexpr std::size_t kPairs = kScaleBlock / 2;
  for (std::size_t block = first; block < end; block += kScaleBlock, to += kPairs * rows.size()) {
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (std::size_t i = 0; i < kPairs; ++i) to[i * rows.size() + row] = pair_at(rows[row] + block + 2 * i);
    }
  }
}

/// The same in the form `crossed`.
void place_crossed(std::span<const std::uint16_t* const> rows, std::size_t first, std::size_t end, std::uint32_t* to) {
  const std::size_t height = rows.size();
  for (std::size_t row = 0; row < height; ++row) {
    std::uint32_t* dword = to + row;
    for (std::size_t k = first; k < end; k += 4, dword += 2 * height) {
      const std::uint16_t* const four = rows[row] + k;
      dword[0] = four[2] | static_cast<std::uint32_t>(four[0]) << 16;
      dword[height] = four[3] | static_cast<std::uint32_t>(four[1]) << 16;
    }
  }
}

/// The same in the form `pair_blocks`.
void place_pair_blocks(std::span<const std::uint16_t* const> rows, std::size_t first, std::size_t end, std::uint32_t* to) {
  for (std::size_t block = first; block < end; block += kScaleBlock) {
    for (const std::uint16_t* row : rows) {
      for (std::size_t k = block; k < block + kScaleBlock; k += 2) *to++ = pair_at(row + k);
    }
  }
}

/// Two dwords side by side, the first one from the lower half.
void put_two(std::uint64_t dwords, std::uint32_t* to) {
  if constexpr (std::endian::native != std::endian::little) dwords = std::rotl(dwords, 32);
  std::memcpy(to, &dwords, sizeof dwords);
}

/// The same as fp32, of each pair the odd one first. Two rows at a time: there are as many stores as numbers otherwise.
void place_singles(std::span<const std::uint16_t* const> rows, std::size_t first, std::size_t end, std::uint32_t* to) {
  constexpr std::uint64_t kUpper = 0xFFFF0000FFFF0000U;
  const std::size_t height = rows.size();
  for (std::size_t block = first; block < end; block += kScaleBlock, to += kScaleBlock * height) {
    for (std::size_t row = 0; row + 1 < height; row += 2) {
      for (std::size_t i = 0; i < kScaleBlock; i += 2) {
        const std::uint64_t pairs = pair_at(rows[row] + block + i) | std::uint64_t{pair_at(rows[row + 1] + block + i)} << 32;
        put_two(pairs & kUpper, to + i * height + row);
        put_two(pairs << 16 & kUpper, to + (i + 1) * height + row);
      }
    }
    if (height % 2 == 0) continue;
    const std::uint16_t* const last = rows.back() + block;
    for (std::size_t i = 0; i < kScaleBlock; ++i) to[i * height + height - 1] = static_cast<std::uint32_t>(last[i ^ 1U]) << 16;
  }
}

/// How a tile's rows are placed in a form of bf16.
auto* place_of(RowForm form) {
  switch (form) {
    case RowForm::singles: return place_singles;
    case RowForm::crossed: return place_crossed;
    case RowForm::pair_blocks: return place_pair_blocks;
    default: return place_pairs;
  }
}

/// Two octets of a row as quads of each octet's k 0, 4, 1, 5 and 2, 6, 3, 7: the order in which a lane's bytes hold the weights' low and high
/// nibbles.
std::array<std::uint32_t, 4> quads_of(const std::int8_t* octets) {
  Dwords codes;
  std::memcpy(&codes, octets, sizeof codes);
  const auto lower = reinterpret_cast<Bytes>(__builtin_shufflevector(codes, codes, 0, 2, 0, 2));
  const auto upper = reinterpret_cast<Bytes>(__builtin_shufflevector(codes, codes, 1, 3, 1, 3));
  const Bytes bytes = __builtin_shufflevector(lower, upper, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  std::array<std::uint32_t, 4> quads;
  std::memcpy(quads.data(), &bytes, sizeof bytes);
  for (std::uint32_t& quad : quads) quad = little_endian(quad);
  return quads;
}

void place_quads(std::span<const std::int8_t* const> rows, std::size_t k, std::uint32_t* to) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::uint32_t* quad = to + row;
    for (std::size_t i = 0; i < k; i += sizeof(Bytes), quad += 4 * rows.size()) {
      const auto quads = quads_of(rows[row] + i);
      for (std::size_t w = 0; w < quads.size(); ++w) quad[w * rows.size()] = quads[w];
    }
  }
}

/// The same in the form `quad_blocks`.
void place_quad_blocks(std::span<const std::int8_t* const> rows, std::size_t k, std::uint32_t* to) {
  for (std::size_t block = 0; block < k; block += kScaleBlock) {
    for (const std::int8_t* row : rows) {
      for (std::size_t i = block; i < block + kScaleBlock; i += sizeof(Bytes)) to = std::ranges::copy(quads_of(row + i), to).out;
    }
  }
}

/// Of each block of an int8 row its base, `height` numbers apart.
void place_bases(const std::uint8_t* scales, std::size_t blocks, std::size_t height, std::int32_t* bases) {
  for (std::size_t b = 0; b < blocks; ++b) bases[b * height] = base_of(scales[b]);
}

/// The sum of a chain of at most 256 numbers, a multiple of 16: eight sums of words, of bytes that are 128 larger than they are.
std::int32_t sum_of(const std::int8_t* chain, std::size_t length) {
  Words sums{};
  for (std::size_t i = 0; i < length; i += sizeof(Words)) {
    Words pairs;
    std::memcpy(&pairs, chain + i, sizeof pairs);
    pairs ^= 0x8080;
    sums += (pairs & 0xFF) + (pairs >> 8);
  }
  std::array<std::uint64_t, 2> halves;
  std::memcpy(halves.data(), &sums, sizeof sums);
  return static_cast<std::int32_t>((halves[0] + halves[1]) * 0x0001000100010001U >> 48) - static_cast<std::int32_t>(128 * length);
}

/// Of each chain what its sum starts from, likewise. The sums of 12 times a chain are small, but bases may be the least of all numbers.
void place_starts(const std::int8_t* row, const std::int32_t* bases, const OperandForm& form, std::size_t height, std::int32_t* starts) {
  for (std::size_t c = 0; c < form.chains(); ++c) {
    const std::int32_t twelve = 12 * sum_of(row + c * form.chain, form.chain);
    const auto base = static_cast<std::uint32_t>(bases[c * form.chain / kScaleBlock * height]);
    starts[c * height] = static_cast<std::int32_t>(base - static_cast<std::uint32_t>(twelve));
  }
}

std::size_t tiles_of(const Operand& operand, const RowBlock& block) { return tile_count(block.rows, operand.form.tiling.tallest); }

/// Rows of one tile of a block.
struct Tile {
  std::size_t first;
  std::size_t height;
};
Tile tile_of(const Operand& operand, const RowBlock& block, std::size_t index) {
  const std::size_t tiles = tiles_of(operand, block);
  return {block.rows / tiles * index + std::min(index, block.rows % tiles), tile_height(block.rows, operand.form.tiling.tallest, index)};
}

/// The tile's pairs or singles, in each stretch of K behind those of the tiles before it.
void place_bf16(Operand& operand, const RowBlock& block, const Tile& tile, std::span<const std::uint16_t* const> rows) {
  const OperandForm& form = operand.form;
  const RowForm of_block = form.tiling.form_of(block.rows);
  const bool single = of_block == RowForm::singles;
  const auto place = place_of(of_block);
  const std::size_t stretch = single ? form.tiling.stretch : form.k;
  std::uint32_t* const to = operand.data.data() + block.first * form.dwords();
  for (std::size_t first = 0; first < form.k; first += stretch) {
    const std::size_t end = std::min(first + stretch, form.k);
    place(rows, first, end, to + numbers_before(block.rows, tile.first, first, end - first) / (single ? 1 : 2));
  }
}

/// The tile's quads, bases and starts.
void place_int8(Operand& operand, const RowBlock& block, const Tile& tile, std::span<const std::int8_t* const> rows,
                std::span<const std::uint8_t* const> scales) {
  const OperandForm& form = operand.form;
  const std::size_t first = block.first + tile.first;
  const std::size_t blocks = form.k / kScaleBlock;
  const bool beside = form.tiling.form_of(block.rows) == RowForm::quads;
  (beside ? place_quads : place_quad_blocks)(rows.subspan(tile.first, tile.height), form.k, operand.data.data() + first * form.dwords());
  for (std::size_t row = 0; row < tile.height; ++row) {
    std::int32_t* const bases = operand.bases.data() + first * blocks + row;
    place_bases(scales[tile.first + row], blocks, tile.height, bases);
    // Tiles take signed weights, whose sums start from 0.
    if (beside) place_starts(rows[tile.first + row], bases, form, tile.height, operand.starts.data() + first * form.chains() + row);
  }
}

}  // namespace

void make_room(Operand& operand, const OperandForm& form, std::span<const std::size_t> group_sizes) {
  if (form.k < 1 || form.k % kScaleBlock != 0) {
    throw Error(ErrorCode::usage, "K " + std::to_string(form.k) + " is not a multiple of " + std::to_string(kScaleBlock), "activations");
  }
  operand.form = form;
  operand.rows = std::accumulate(group_sizes.begin(), group_sizes.end(), std::size_t{0});
  operand.data.resize(operand.rows * form.dwords());
  operand.bases.resize(form.int8() ? operand.rows * form.k / kScaleBlock : 0);
  operand.starts.resize(form.int8() ? operand.rows * form.chains() : 0);
  operand.scales.resize(form.int8() ? 0 : operand.rows * form.chains());
  operand.row_blocks.clear();
  const std::size_t held = std::min(form.tiling.block_bytes / (form.dwords() * 4), kMostRows);
  const std::size_t most = std::max<std::size_t>(1, held / form.tiling.tallest);  // tiles
  std::size_t first = 0;
  for (std::size_t group = 0; group < group_sizes.size(); ++group) {
    // As few blocks as hold the group, as equal as whole tiles allow.
    const std::size_t tiles = tile_count(group_sizes[group], form.tiling.tallest);
    const std::size_t in_block = tiles == 0 ? 0 : tile_height(tiles, most, 0);
    for (std::size_t left = group_sizes[group]; left != 0;) {
      const std::size_t taken = std::min(in_block * form.tiling.tallest, left);
      operand.row_blocks.push_back({group, first, taken, 255, 0, {255, 0}});
      first += taken;
      left -= taken;
    }
  }
}

void fill_bf16(Operand& operand, std::size_t index, std::span<const std::uint16_t* const> rows, int threads) {
  RowBlock& block = operand.row_blocks[index];
  const std::size_t tiles = tiles_of(operand, block);
  std::uint8_t least = block.least_exponent;
  std::uint8_t most = block.most_exponent;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(min : least) reduction(max : most)
  for (std::size_t t = 0; t < tiles; ++t) {
    const OrdinaryMode mode;
    const Tile tile = tile_of(operand, block, t);
    const auto of_tile = rows.subspan(tile.first, tile.height);
    place_bf16(operand, block, tile, of_tile);
    for (const std::uint16_t* row : of_tile) {
      least = std::min(least, least_exponent(row, operand.form.k));
      most = std::max(most, most_exponent(row, operand.form.k));
    }
  }
  block.least_exponent = least;
  block.most_exponent = most;
}

void fill_scaled(Operand& operand, std::size_t index, std::span<const std::uint16_t* const> rows, std::span<const float* const> scales,
                 std::size_t block, int threads) {
  fill_bf16(operand, index, rows, threads);
  const std::size_t chains = operand.form.chains();
  RowBlock& row_block = operand.row_blocks[index];
  std::uint8_t least = 255;
  for (std::size_t t = 0; t < tiles_of(operand, row_block); ++t) {
    const Tile tile = tile_of(operand, row_block, t);
    float* const to = operand.scales.data() + (row_block.first + tile.first) * chains;
    for (std::size_t row = 0; row < tile.height; ++row) {
      for (std::size_t c = 0; c < chains; ++c) {
        const std::size_t scale = fault::planted(fault::Fault::moe_kernel_first_scale) ? 0 : c * operand.form.chain / block;
        to[c * tile.height + row] = scales[tile.first + row][scale];
        if (to[c * tile.height + row] != 0) least = std::min(least, static_cast<std::uint8_t>(exponent_field(to[c * tile.height + row])));
      }
    }
  }
  row_block.scales.least = least;
}

void fill_int8(Operand& operand, std::size_t index, std::span<const std::int8_t* const> rows, std::span<const std::uint8_t* const> scales,
               int threads) {
  RowBlock& block = operand.row_blocks[index];
  const std::size_t tiles = tiles_of(operand, block);
  std::uint8_t least = block.scales.least;
  std::uint8_t most = block.scales.most;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(min : least) reduction(max : most)
  for (std::size_t t = 0; t < tiles; ++t) {
    const OrdinaryMode mode;
    const Tile tile = tile_of(operand, block, t);
    place_int8(operand, block, tile, rows, scales);
    for (const std::uint8_t* row : scales.subspan(tile.first, tile.height)) {
      for (std::size_t b = 0; b < operand.form.k / kScaleBlock; ++b) {
        least = std::min(least, row[b]);
        most = std::max(most, row[b]);
      }
    }
  }
  block.scales = {least, most};
}

namespace {

/// Contracts of bf16 that fold scales into the weights.
bool is_folded(Contract contract) { return contract == Contract::bf16_chain || contract == Contract::bf16_pair; }

/// The smallest unit of a format's codes is 2 to the minus this, and all of them are below 2^9, those of e2m1 below 2^3.
int code_unit(const PanelFormat& format) { return format.code_bits == 4 ? 1 : 9; }
int code_limit(const PanelFormat& format) { return format.code_bits == 4 ? 3 : 9; }

/// Of bf16-block: `scale` is the smallest exponent field of the weights' scales, which have `digits` binary digits behind the first.
bool may_be_subnormal(const RowBlock& rows, const PanelFormat& format, int scale, int digits) {
  // Units: 2^(exponent - 134) of an activation, 2^-1 or 2^-9 of a code, 2^(exponent - 127 - digits) of a scale, 2^(exponents - 277) of a product of
  // two.
  const int code = code_unit(format);
  const int row = rows.least_exponent;
  const int row_scale = rows.scales.least;
  return scale < 1 || row_scale < 1 || row + scale < 135 + code + digits || row_scale + scale < 128 || row + row_scale + scale < 285 + code;
}

/// Of the columns' scales that are neither zero nor NaN the smallest exponent is this much below the expert's.
constexpr int kE4m3Below = 9;

}  // namespace

bool needs_care(Contract contract, const RowBlock& rows, const PanelFormat& format, const ScaleRange& columns) {
  if (format.scale == PanelScale::f32) return !is_folded(contract) && may_be_subnormal(rows, format, columns.least, kFractionBits);
  if (is_folded(contract)) return columns.least < 2 || columns.most > 252 || rows.least_exponent + columns.least < 135 + code_unit(format);
  if (contract == Contract::int8_block) {
    const bool normal = rows.scales.most <= kMostBase && columns.most < 255 && columns.least > 0;
    return !normal || rows.scales.least + columns.least < 135 || rows.scales.most + columns.most > 381;
  }
  return columns.most == 255 || may_be_subnormal(rows, format, columns.least, 0);
}

bool needs_care(Contract contract, const RowBlock& rows, const PanelFormat& format, float expert_scale) {
  // Units: 2^(exponent - 134) of an activation and, of a product with the smallest scale, 2^(exponent - 127 - 9 - 1 - 7).
  if (is_folded(contract)) return rows.least_exponent + exponent_field(expert_scale) < 152;
  if (contract == Contract::bf16_block) return may_be_subnormal(rows, format, exponent_field(expert_scale) - kE4m3Below, kFractionBits);
  // Columns' scales are zero, NaN, or from 2^(exponent - 9) to below 2^(exponent + 10).
  const int exponent = exponent_field(expert_scale) - 127;
  if (exponent < -100 || exponent > 100 || rows.scales.least < 8 || rows.scales.most > kMostBase) return true;
  return rows.scales.least + exponent < 17 || rows.scales.most + exponent > 244;
}

bool fits_units(const RowBlock& rows, const PanelFormat& format, std::size_t k, const ScaleRange& columns) {
  const int apart = columns.most - columns.least;
  const bool normal = columns.least - 127 - code_unit(format) >= -126 && columns.most - 127 + code_limit(format) <= 128;
  if (!normal) return false;
  // Units are 2^(exponent - 134) of an activation and 2^(byte - 127) of a scale.
  const int unit = rows.least_exponent - 134 - code_unit(format);
  const int sum = rows.most_exponent - 126 + code_limit(format) + static_cast<int>(std::bit_width(k));
  return unit + std::min(columns.least - 127, -apart) >= -126 && sum + std::max(columns.most - 127, apart) <= 127;
}

}  // namespace mx::kernels::moe
