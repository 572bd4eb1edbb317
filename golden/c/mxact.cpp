// The C API: names to rows, codes in and out, every exception into a status.

#include "golden/c/mxact.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "golden/c/calls.hpp"
#include "model/families/building_block.hpp"
#include "model/moe/activation.hpp"
#include "model/numerics/contract.hpp"
#include "model/numerics/dot.hpp"
#include "model/numerics/profile.hpp"
#include "model/numerics/tile.hpp"

namespace {

using namespace mx::golden::c_api;

std::uint32_t flag_bits(const mx::Flags& flags) {
  const std::array bits{std::pair{flags.inexact, MXACT_FLAG_INEXACT},     std::pair{flags.underflow, MXACT_FLAG_UNDERFLOW},
                        std::pair{flags.overflow, MXACT_FLAG_OVERFLOW},   std::pair{flags.invalid, MXACT_FLAG_INVALID},
                        std::pair{flags.saturated, MXACT_FLAG_SATURATED}, std::pair{flags.nan, MXACT_FLAG_NAN},
                        std::pair{flags.flushed, MXACT_FLAG_FLUSHED}};
  std::uint32_t word = 0;
  for (const auto& [set, bit] : bits) word |= set ? static_cast<std::uint32_t>(bit) : 0U;
  return word;
}

static_assert(MXACT_FLUSH_NONE == static_cast<int>(mx::Flush::none) && MXACT_FLUSH_SOURCE == static_cast<int>(mx::Flush::source) &&
              MXACT_FLUSH_TARGET == static_cast<int>(mx::Flush::target) && MXACT_FLUSH_BOTH == static_cast<int>(mx::Flush::both));

/// A side of a dot product with its values; the operand points into it.
struct Side {
  std::vector<mx::Value> elements;
  std::vector<mx::Value> scales;
  mx::Operand operand;
};

Side side_of(const mxact_operand* given, std::size_t length) {
  require(given != nullptr, "a null pointer");
  Side side;
  const mx::Format& format = format_of(given->format);
  const auto read = [](std::span<const std::uint32_t> codes, const mx::Format& of, std::vector<mx::Value>& values) {
    require_codes(codes, of);
    for (std::uint32_t code : codes) values.push_back(mx::decode(of, code));
  };
  read(lanes_of(given->codes, length, MXACT_MOST_LENGTH), format, side.elements);
  const mx::Format* scale_format = given->scale_format < 0 ? nullptr : &format_of(given->scale_format);
  if (scale_format != nullptr) {
    require(given->block > 0, "scales without a block");
    const auto block = static_cast<std::size_t>(given->block);
    read(lanes_of(given->scales, (length + block - 1) / block, MXACT_MOST_LENGTH), *scale_format, side.scales);
  }
  side.operand = {.elements = side.elements, .format = &format, .scales = side.scales, .block = given->block, .scale_format = scale_format};
  return side;
}

/// A side of a tile in words of its formats; the operand points into it.
struct TileSide {
  TileSide(const mxact_operand* given, std::size_t rows, std::size_t k) {
    require(given != nullptr, "a null pointer");
    operand.format = &format_of(given->format);
    put(lanes_of(given->codes, rows * k, MXACT_MOST_CODES), *operand.format, codes);
    operand.codes = codes;
    if (given->scale_format < 0) return;
    require(given->block > 0, "scales without a block");
    operand.scale_format = &format_of(given->scale_format);
    operand.block = static_cast<std::size_t>(given->block);
    put(lanes_of(given->scales, rows * ((k + operand.block - 1) / operand.block), MXACT_MOST_CODES), *operand.scale_format, scales);
    operand.scales = scales;
  }
  TileSide(const TileSide&) = delete;
  TileSide& operator=(const TileSide&) = delete;

  mx::TileOperand operand;

 private:
  static void put(std::span<const std::uint32_t> words, const mx::Format& format, std::vector<std::uint8_t>& bytes) {
    require_codes(words, format);
    const std::size_t width = mx::tile_word_bytes(format);
    const int unread = format == mx::kTf32 ? 32 - mx::kTf32.width : 0;  // a tile has registers
    for (const std::uint32_t code : words) {
      const std::uint32_t word = code << unread;
      for (std::size_t i = 0; i < width; ++i) bytes.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
    }
  }

  std::vector<std::uint8_t> codes, scales;
};

mx::layout::Layout layout_of(std::int32_t id, std::uint32_t rows, std::uint32_t columns) {
  constexpr std::uint32_t kMost = 1U << 20U;
  constexpr int kByte = 8;
  const mx::families::BuildingBlock& block = row_of(mx::families::all_building_blocks(), id);
  require(rows > 0 && rows <= kMost && columns > 0 && columns <= kMost, "a matrix out of range");
  return mx::families::block_layout(block.name, 1, rows, columns, block.unit_bits == 0 ? kByte : block.unit_bits);
}

}  // namespace

extern "C" {

std::uint32_t mxact_abi_version(void) { return MXACT_ABI_VERSION; }
const char* mxact_version(void) { return MXACT_VERSION; }

const char* mxact_status_text(std::int32_t status) {
  switch (status) {
    case MXACT_OK: return "no error";
    case MXACT_USAGE: return "a name, id, size or combination that does not exist";
    case MXACT_UNSUPPORTED: return "not possible on this machine";
    case MXACT_RESOURCE: return "out of memory";
    default: return "internal error";
  }
}

std::int32_t mxact_format_id(const char* name) { return id_with_own(mx::factor_formats(), name, mx::factor_format_named); }
std::int32_t mxact_block_format_id(const char* name) { return id_with_own(mx::all_block_formats(), name, mx::block_format_named); }
std::int32_t mxact_profile_id(const char* name) { return id_with_own(mx::all_profiles(), name, mx::profile_named); }
std::int32_t mxact_contract_id(const char* name) {
  std::int32_t id = -MXACT_USAGE;
  const std::int32_t status = guarded([&] {
    require(name != nullptr, "no name");
    id = static_cast<std::int32_t>(mx::contract_named(name));
  });
  return status == MXACT_OK ? id : -status;
}

std::int32_t mxact_contract_record(std::int32_t contract, char* text, std::size_t size) {
  return guarded([&] {
    require(text != nullptr, "a null pointer");
    const std::string record = mx::text_of(contract_of(contract));
    require(record.size() < size, "too little room for the text");
    std::memcpy(text, record.c_str(), record.size() + 1);
  });
}
std::int32_t mxact_layout_id(const char* name) { return id_of(mx::families::all_building_blocks(), name, mx::families::building_block_named); }
std::int32_t mxact_activation_id(const char* name) { return id_of(mx::moe::all_activations(), name, mx::moe::activation_named); }

std::int32_t mxact_format_width(std::int32_t format) {
  std::int32_t width = 0;
  guarded([&] { width = format_of(format).width; });
  return width;
}

std::int32_t mxact_block_size(std::int32_t block_format) {
  std::int32_t size = 0;
  const std::int32_t status = guarded([&] { size = block_format_of(block_format).block; });
  return status == MXACT_OK ? size : -status;
}

std::int32_t mxact_decode(std::int32_t format, std::uint32_t code, std::int32_t* value_class, std::int32_t* negative, std::uint64_t* significand,
                          std::int32_t* exponent) {
  return guarded([&] {
    require(value_class != nullptr && negative != nullptr && significand != nullptr && exponent != nullptr, "a null pointer");
    const mx::Format& of = format_of(format);
    require_code(code, of);
    const mx::Value value = mx::decode(of, code);
    *value_class = static_cast<std::int32_t>(value.cls);
    *negative = value.negative ? 1 : 0;
    *significand = value.significand;
    *exponent = value.exponent;
  });
}

std::int32_t mxact_convert(std::int32_t profile, std::int32_t from, std::int32_t to, std::uint32_t code, std::uint32_t random, std::uint32_t* result,
                           std::uint32_t* flags) {
  return mxact_convert_flushed(profile, from, to, MXACT_FLUSH_NONE, code, random, result, flags);
}

std::int32_t mxact_convert_flushed(std::int32_t profile, std::int32_t from, std::int32_t to, std::int32_t flush, std::uint32_t code,
                                   std::uint32_t random, std::uint32_t* result, std::uint32_t* flags) {
  return guarded([&] {
    require(result != nullptr && flags != nullptr, "a null pointer");
    require(flush >= MXACT_FLUSH_NONE && flush <= MXACT_FLUSH_BOTH, "no such flush");
    const mx::Format& source = format_of(from);
    const mx::Format& target = format_of(to);
    require_code(code, source);
    mx::Conversion how = mx::conversion(profile_of(profile), source, target);
    // As the profile flushes, where nothing is asked for.
    if (flush != MXACT_FLUSH_NONE) how.flush = static_cast<mx::Flush>(flush);
    require(how.random_bits > 0 || random == 0, "random bits for a rounding that takes none");
    mx::Flags raised;
    *result = mx::convert(code, source, target, how, raised, how.random_bits > 0 ? mx::Random(random) : std::nullopt);
    *flags = flag_bits(raised);
  });
}

std::int32_t mxact_convert_many(std::int32_t profile, std::int32_t from, std::int32_t to, const std::uint32_t* codes, std::size_t count,
                                std::uint32_t* results, std::uint32_t* flags) {
  return guarded([&] {
    require(results != nullptr, "a null pointer");
    const mx::Format& source = format_of(from);
    const mx::Format& target = format_of(to);
    const std::span<const std::uint32_t> all = lanes_of(codes, count, MXACT_MOST_CODES);
    require_codes(all, source);
    const mx::Conversion& how = mx::conversion(profile_of(profile), source, target);
    require(how.random_bits == 0, "a rounding that takes random bits");
    std::vector<std::uint32_t> done(count);
    std::vector<std::uint32_t> raised(count);
    for (std::size_t i = 0; i < count; ++i) {
      mx::Flags of_one;
      done[i] = mx::convert(all[i], source, target, how, of_one);
      raised[i] = flag_bits(of_one);
    }
    std::ranges::copy(done, results);
    if (flags != nullptr) std::ranges::copy(raised, flags);
  });
}

std::int32_t mxact_block_scale(std::int32_t profile, std::int32_t block_format, std::int32_t source, const std::uint32_t* x, std::size_t count,
                               const mxact_tensor* tensor, std::uint32_t* scale) {
  return guarded([&] {
    require(scale != nullptr, "a null pointer");
    const mx::Format& from = format_of(source);
    const std::span<const std::uint32_t> block = lanes_of(x, count, MXACT_MOST_BLOCK);
    require_codes(block, from);
    *scale = mx::block_scale(block, from, mx::recipe(profile_of(profile), block_format_of(block_format), from), scale_of(tensor));
  });
}

std::int32_t mxact_quantize_block(std::int32_t profile, std::int32_t block_format, std::int32_t source, const std::uint32_t* x, std::size_t count,
                                  const mxact_tensor* tensor, std::uint32_t* scale, std::uint32_t* codes) {
  return guarded([&] {
    require(scale != nullptr && codes != nullptr, "a null pointer");
    const mx::Format& from = format_of(source);
    const std::span<const std::uint32_t> block = lanes_of(x, count, MXACT_MOST_BLOCK);
    require_codes(block, from);
    const mx::QuantizedBlock done =
        mx::quantize_block(block, from, mx::recipe(profile_of(profile), block_format_of(block_format), from), scale_of(tensor));
    *scale = done.scale;
    std::copy(done.codes.begin(), done.codes.end(), codes);
  });
}

std::int32_t mxact_dequantize(std::int32_t profile, std::int32_t block_format, std::int32_t target, std::uint32_t scale, const std::uint32_t* codes,
                              std::size_t count, const mxact_tensor* tensor, std::uint32_t* result) {
  return guarded([&] {
    require(result != nullptr, "a null pointer");
    const mx::BlockFormat& format = block_format_of(block_format);
    const mx::Dequantizer& how = mx::dequantizer(profile_of(profile), format, format_of(target));
    const std::span<const std::uint32_t> block = lanes_of(codes, count, MXACT_MOST_BLOCK);
    require_codes(block, *format.element);
    require_code(scale, *format.scale);
    std::vector<std::uint32_t> done;
    for (std::uint32_t code : block) done.push_back(mx::dequantize(code, scale, how, scale_of(tensor)));
    std::copy(done.begin(), done.end(), result);
  });
}

std::int32_t mxact_product(std::int32_t format_a, std::uint32_t a, std::int32_t format_b, std::uint32_t b, std::uint32_t* result) {
  return guarded([&] {
    require(result != nullptr, "a null pointer");
    const mx::Format& of_a = format_of(format_a);
    const mx::Format& of_b = format_of(format_b);
    require_code(a, of_a);
    require_code(b, of_b);
    const mx::Value product = mx::exact_product(mx::decode(of_a, a), mx::decode(of_b, b));
    *result = product.cls == mx::ValueClass::nan ? 0x7FC00000U : mx::to_f32(product);
  });
}

std::int32_t mxact_dot(std::int32_t contract, const mxact_operand* a, const mxact_operand* b, std::size_t length, const std::uint32_t* c,
                       std::uint32_t* result) {
  return mxact_dot_biased(contract, a, b, length, c, nullptr, result);
}

std::int32_t mxact_dot_biased(std::int32_t contract, const mxact_operand* a, const mxact_operand* b, std::size_t length, const std::uint32_t* c,
                              const std::uint32_t* bias, std::uint32_t* result) {
  return guarded([&] {
    require(result != nullptr, "a null pointer");
    const mx::ContractRow& row = contract_of(contract);
    const Side first = side_of(a, length);
    const Side second = side_of(b, length);
    mx::Addends addends;
    if (c != nullptr) addends.c = *c;
    if (bias != nullptr) addends.bias = *bias;
    *result = mx::dot(row, first.operand, second.operand, addends);
  });
}

std::int32_t mxact_tile(std::int32_t contract, std::size_t m, std::size_t n, std::size_t k, const mxact_operand* a, const mxact_operand* b,
                        const std::uint32_t* c, const std::uint32_t* bias, std::int32_t output, std::uint32_t* results) {
  return guarded([&] {
    constexpr std::size_t kMost = MXACT_MOST_CODES;
    require(m > 0 && n > 0 && k > 0 && m <= kMost && n <= kMost && k <= MXACT_MOST_LENGTH && m <= kMost / k && n <= kMost / k && m <= kMost / n,
            "a number of elements out of range");
    require(results != nullptr, "a null pointer");
    const TileSide first(a, m, k);
    const TileSide second(b, n, k);
    mx::Tile tile{.m = m, .n = n, .k = k, .a = first.operand, .b = second.operand, .output = &format_of(output)};
    if (c != nullptr) tile.c = {c, m * n};
    if (bias != nullptr) tile.bias = {bias, n};
    std::vector<std::uint32_t> made(m * n);
    mx::multiply(contract_of(contract), tile, made);
    std::ranges::copy(made, results);
  });
}

std::int32_t mxact_dot_block(std::int32_t contract, std::int32_t block_format_a, std::uint32_t scale_a, const std::uint32_t* a,
                             std::int32_t block_format_b, std::uint32_t scale_b, const std::uint32_t* b, std::size_t count, std::uint32_t* result) {
  mxact_operand first{};
  mxact_operand second{};
  const std::int32_t status = guarded([&] {
    require(count > 0 && count <= MXACT_MOST_BLOCK, "a number of elements out of range");
    const auto block_operand = [count](std::int32_t id, const std::uint32_t* codes, const std::uint32_t* scale) {
      const mx::BlockFormat& format = block_format_of(id);
      return mxact_operand{id_in(mx::all_formats(), format.element->name), id_in(mx::all_formats(), format.scale->name),
                           static_cast<std::int32_t>(count), codes, scale};
    };
    first = block_operand(block_format_a, a, &scale_a);
    second = block_operand(block_format_b, b, &scale_b);
  });
  return status == MXACT_OK ? mxact_dot(contract, &first, &second, count, nullptr, result) : status;
}

std::int32_t mxact_layout_size(std::int32_t layout, std::uint32_t rows, std::uint32_t columns, std::uint64_t* size, std::int32_t* bits) {
  return guarded([&] {
    require(size != nullptr && bits != nullptr, "a null pointer");
    const mx::layout::Layout of = layout_of(layout, rows, columns);
    *size = static_cast<std::uint64_t>(of.cosize());
    *bits = of.grain_bits();
  });
}

std::int32_t mxact_layout_address(std::int32_t layout, std::uint32_t rows, std::uint32_t columns, std::uint32_t row, std::uint32_t column,
                                  std::uint64_t* address) {
  return guarded([&] {
    require(address != nullptr, "a null pointer");
    const mx::layout::Layout of = layout_of(layout, rows, columns);
    require(row < rows && column < columns, "an element outside of the matrix");
    mx::layout::Coord coord(of.logical().size(), 0);
    coord[1] = row;
    coord[2] = column;
    const std::optional<std::int64_t> found = of.at(coord);
    require(found.has_value(), "the layout drops this element");
    *address = static_cast<std::uint64_t>(*found);
  });
}

std::int32_t mxact_layout_element(std::int32_t layout, std::uint32_t rows, std::uint32_t columns, std::uint64_t address, std::uint32_t* row,
                                  std::uint32_t* column, std::uint32_t* padding) {
  return guarded([&] {
    require(row != nullptr && column != nullptr && padding != nullptr, "a null pointer");
    const mx::layout::Layout of = layout_of(layout, rows, columns);
    require(address < static_cast<std::uint64_t>(of.cosize()), "an address outside of the layout");
    const mx::layout::Place place = of.inverse(static_cast<std::int64_t>(address));
    *row = place.coord ? static_cast<std::uint32_t>((*place.coord)[1]) : 0U;
    *column = place.coord ? static_cast<std::uint32_t>((*place.coord)[2]) : 0U;
    *padding = place.coord ? 0U : 1U;
  });
}

std::int32_t mxact_activate(std::int32_t activation, std::int32_t type, std::uint32_t gate, std::uint32_t up, std::uint32_t* result) {
  return mxact_activate_with(activation, type, gate, up, nullptr, result);
}

std::int32_t mxact_activate_with(std::int32_t activation, std::int32_t type, std::uint32_t gate, std::uint32_t up, const mxact_constants* constants,
                                 std::uint32_t* result) {
  return guarded([&] {
    require(result != nullptr, "a null pointer");
    const mx::moe::Activation& row = row_of(mx::moe::all_activations(), activation);
    *result = mx::moe::activate(row, format_of(type), gate, up, constants_of(constants, row));
  });
}

}  // extern "C"
