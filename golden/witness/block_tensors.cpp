#include "golden/witness/block_tensors.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/numerics/f32.hpp"

namespace mx::golden {

namespace {

/// 448 * 6, the largest number of an NVFP4 tensor whose own scale is 1.
constexpr std::uint32_t kLargestNvfp4 = 0x45280000U;

bool either(std::string_view row, std::string_view recorded) { return row == "any" || row == recorded; }

const Format& scale_format_word(Fields& params) {
  const std::string word = params.text("scale_format");
  if (word == "power_of_two_f32") return kF32;
  for (const Format* format : {&kE8m0, &kE4m3fn, &kUe4m3, &kF32}) {
    if (format->name == word) return *format;
  }
  throw Unmodelled("block scales in " + word);
}

}  // namespace

BlockParams read_block_params(Fields& params, BlockLength length, std::int64_t last_axis) {
  BlockParams read{&format_word(params, "format"), &scale_format_word(params), 0, false};
  if (length == BlockLength::required || params.has("block")) read.block = params.integer("block", 1, kLargestExtent);
  if (const std::int64_t axis = params.has("axis") ? params.integer("axis") : -1; axis != -1 && axis != last_axis)
    throw Unmodelled("blocks along another axis than the last");
  if (params.has("packing")) {
    if (const std::string packing = params.text("packing"); packing != "low_first") throw Unmodelled("unknown packing '" + packing + "'");
    if (read.element->width != 4) throw Unmodelled(fmt::format("packing of {} codes", read.element->name));
    read.packed = true;
  }
  return read;
}

bool has_run(const Profile& profile, const Entry& entry) {
  return profile.implementation == entry.profile.implementation && either(profile.device, entry.profile.device) &&
         either(profile.build, entry.profile.build);
}

const Profile& profile_of(const Entry& entry, std::string_view operation) {
  return profile_of(entry, operation, [&](const Profile& row) { return row.operation == operation; });
}

const Profile& profile_of(const Entry& entry, std::string_view what, const std::function<bool(const Profile&)>& defines) {
  for (const Profile& row : all_profiles()) {
    if (has_run(row, entry) && defines(row)) return row;
  }
  throw Unmodelled(
      fmt::format("no model of '{}' as {}/{}/{} does it", what, entry.profile.implementation, entry.profile.device, entry.profile.build));
}

TensorScale tensor_scale_of(Fields& params) {
  const auto bits = [&](std::string_view key) -> std::optional<std::uint32_t> {
    if (!params.has(key)) return std::nullopt;
    return static_cast<std::uint32_t>(params.hex(key, 8));
  };
  TensorScale tensor{.encode = bits("global_scale"), .decode = bits("rcp_global_scale")};
  if (const std::optional<std::uint32_t> decode = bits("per_tensor_scale")) {
    if (tensor.encode || tensor.decode) throw Unmodelled("params have both a global and a per tensor scale");
    tensor.decode = decode;
  }
  if (const std::optional<std::uint32_t> amax = bits("tensor_amax")) {
    if (tensor.encode || tensor.decode) throw Unmodelled("params have both a scale and a largest magnitude of the tensor");
    tensor.encode = f32::div(kLargestNvfp4, *amax);
  }
  return tensor;
}

const BlockFormat& block_format_of(const BlockParams& params) {
  for (const BlockFormat& format : all_block_formats()) {
    if (*format.element == *params.element && *format.scale == *params.scale && format.block == params.block) return format;
  }
  throw Unmodelled(fmt::format("no block format with {} {} elements per {} scale", params.block, params.element->name, params.scale->name));
}

void require_element_words(const Recipe& recipe, Fields& params) {
  const Conversion& element = element_conversion(recipe);
  const Rounding rounding = rounding_word(params, *recipe.format->element);
  const Overflow overflow = overflow_word(params, *recipe.format->element);
  if (rounding == element.rounding && overflow == element.overflow) return;
  throw Unmodelled(fmt::format("elements rounded {} and {} on overflow", name_of(rounding), name_of(overflow)));
}

Tensor zeros(std::string_view dtype, std::vector<std::int64_t> shape) {
  Tensor tensor{&dtype_named(dtype), std::move(shape), {}};
  std::size_t size = static_cast<std::size_t>(tensor.dtype->bytes);
  for (const std::int64_t extent : tensor.shape) size *= static_cast<std::size_t>(extent);
  tensor.bytes.resize(size);
  return tensor;
}

std::vector<std::int64_t> with_last(std::vector<std::int64_t> shape, std::int64_t last) {
  shape.back() = last;
  return shape;
}

void require_whole_blocks(std::int64_t last, std::int64_t block, const std::string& where) {
  if (last % block != 0) broken(fmt::format("rows of {} elements are not whole blocks of {}", last, block), where);
}

std::vector<std::uint32_t> patterns(const Tensor& x, std::int64_t first, std::int64_t count) {
  std::vector<std::uint32_t> bits;
  bits.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = first; i < first + count; ++i) bits.push_back(static_cast<std::uint32_t>(x.word(i)));
  return bits;
}

void set_codes(Tensor& codes, std::int64_t first, std::span<const std::uint32_t> values, bool packed) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::int64_t i = first + static_cast<std::int64_t>(k);
    if (packed) {
      const std::uint64_t other = i % 2 == 0 ? codes.word(i / 2) & 0xF0U : codes.word(i / 2) & 0x0FU;
      codes.set_word(i / 2, other | (std::uint64_t{values[k]} << (i % 2 == 0 ? 0U : 4U)));
    } else {
      codes.set_word(i, values[k]);
    }
  }
}

std::uint32_t code_at(const Tensor& codes, std::int64_t i, const BlockParams& params, const std::string& where) {
  const auto byte = static_cast<std::uint32_t>(codes.word(i / params.per_byte()));
  const std::uint32_t code = !params.packed ? byte : i % 2 == 0 ? byte & 0xFU : byte >> 4U;
  if (code >> static_cast<unsigned>(params.element->width) != 0) {
    broken(fmt::format("code 0x{:X} is no code of {}", code, params.element->name), where);
  }
  return code;
}

std::function<std::string(std::int64_t)> code_origin(std::shared_ptr<const Tensor> x, std::int64_t per_byte) {
  return [x = std::move(x), per_byte](std::int64_t i) {
    std::string text = element_text("x", *x, i * per_byte);
    return per_byte == 1 ? text : text + " and " + element_text("x", *x, i * per_byte + 1);
  };
}

}  // namespace mx::golden
