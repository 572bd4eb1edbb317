#include "golden/witness/tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "golden/witness/recording.hpp"
#include "support/file.hpp"

namespace mx::golden {

namespace {

// Generated tensors are held in memory; a sweep's 2^32 inputs are not (its evaluator never loads them).
constexpr std::int64_t kMostGenerated = std::int64_t{1} << 26;
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
constexpr std::size_t kMostAxes = 8;
constexpr std::int64_t kDeltaPairBytes = 8;

constexpr Dtype kDtypes[] = {
    {"u8", 1, nullptr},  {"i8", 1, nullptr},  {"u16", 2, nullptr}, {"i32", 4, nullptr}, {"u32", 4, nullptr},
    {"u64", 8, nullptr}, {"bf16", 2, &kBf16}, {"fp16", 2, &kFp16}, {"f32", 4, &kF32},   {"f64", 8, nullptr},
};

struct Generator {
  std::string_view word;
  std::uint64_t (*element)(std::uint64_t index);
};
constexpr Generator kGenerators[] = {
    {"iota", [](std::uint64_t i) { return i; }},
    {"iota_plus_1", [](std::uint64_t i) { return i + 1; }},
    {"e2m1_pairs", [](std::uint64_t i) { return (2 * (i % 8)) | ((2 * (i % 8) + 1) << 4U); }},
};

void check_delta(const std::filesystem::path& file, const TensorSpec& spec, const std::string& where) {
  require_size(file, spec.delta_count * kDeltaPairBytes, where);
  const std::vector<std::uint8_t> bytes = support::read_file(file, static_cast<std::uint64_t>(spec.delta_count * kDeltaPairBytes));
  const Tensor pairs{&dtype_named("u32"), {}, bytes};
  for (std::int64_t i = 0; i < spec.delta_count; ++i) {
    const auto index = static_cast<std::int64_t>(pairs.word(2 * i));
    if (index >= spec.elements) {
      broken(fmt::format("delta '{}' changes element {} of {}", spec.delta_file, index, spec.elements), where);
    }
  }
}

}  // namespace

const Dtype& dtype_named(std::string_view word) { return row_named(kDtypes, "dtype", word); }

std::uint64_t Tensor::word(std::int64_t i) const {
  const auto width = static_cast<std::size_t>(dtype->bytes);
  const std::uint8_t* element = bytes.data() + static_cast<std::size_t>(i) * width;
  std::uint64_t result = 0;
  for (std::size_t b = 0; b < width; ++b) result |= static_cast<std::uint64_t>(element[b]) << (8 * b);
  return result;
}

void Tensor::set_word(std::int64_t i, std::uint64_t word) {
  const auto width = static_cast<std::size_t>(dtype->bytes);
  std::uint8_t* element = bytes.data() + static_cast<std::size_t>(i) * width;
  for (std::size_t b = 0; b < width; ++b) element[b] = static_cast<std::uint8_t>(word >> (8 * b));
}

std::filesystem::path data_file(const std::filesystem::path& directory, const std::string& name, const std::string& where) {
  const bool plain = !name.empty() && name != "." && name != ".." && name.find_first_of(std::string("/\\\0", 3)) == std::string::npos;
  if (!plain) broken("'" + name + "' is not a plain file name", where);
  return directory / name;
}

void require_size(const std::filesystem::path& file, std::int64_t bytes, const std::string& where) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(file, failure)) broken("no file '" + file.filename().string() + "'", where);
  const std::uint64_t size = support::file_size(file);
  if (size != static_cast<std::uint64_t>(bytes)) {
    broken(fmt::format("'{}' has {} bytes, its description says {}", file.filename().string(), size, bytes), where);
  }
}

std::int64_t read_shape(const Json& json, std::vector<std::int64_t>& shape, const std::string& what, const std::string& where) {
  if (!json.is_array() || json.empty() || json.size() > kMostAxes) broken(what + ": a shape is 1 to 8 extents, not " + shown(json), where);
  std::int64_t elements = 1;
  for (const Json& extent : json) {
    const bool positive = extent.is_int64() && extent.get<std::int64_t>() > 0;
    if (!positive) broken(what + ": extent " + shown(extent) + " is not a positive integer", where);
    const auto length = extent.get<std::int64_t>();
    if (length > kMostElements / elements) broken(what + ": shape " + shown(json) + " has more than 2^40 elements", where);
    elements *= length;
    shape.push_back(length);
  }
  return elements;
}

TensorSpec read_tensor_spec(const Json& json, const std::string& what, const std::filesystem::path& directory, const std::string& where) {
  Fields fields(json, what, where);
  TensorSpec spec;
  spec.elements = read_shape(fields.at("shape"), spec.shape, what, where);
  spec.dtype = &dtype_named(fields.text("dtype"));
  if (fields.has("generate")) {
    spec.generate = fields.text("generate");
    row_named(kGenerators, "generator", spec.generate);
    fields.finish();
    return spec;
  }
  spec.file = fields.text("file");
  // How long a compressed file is shows when it is read.
  const std::filesystem::path file = data_file(directory, spec.file, where);
  if (std::filesystem::exists(file) || !has_recording(file)) require_size(file, spec.elements * spec.dtype->bytes, where);
  if (const Json* delta = fields.find("delta")) {
    Fields change(*delta, what + " delta", where);
    spec.delta_file = change.text("file");
    spec.delta_count = change.integer("count", 0, kMostGenerated);
    change.finish();
    check_delta(data_file(directory, spec.delta_file, where), spec, where);
  }
  fields.finish();
  return spec;
}

Tensor load(const TensorSpec& spec, const std::filesystem::path& directory, const std::string& where) {
  Tensor tensor{spec.dtype, spec.shape, {}};
  const std::int64_t size = spec.elements * spec.dtype->bytes;
  if (!spec.generate.empty()) {
    if (spec.elements > kMostGenerated) broken(fmt::format("{} generated elements are more than 2^26", spec.elements), where);
    const Generator& generator = row_named(kGenerators, "generator", spec.generate);
    tensor.bytes.resize(static_cast<std::size_t>(size));
    for (std::int64_t i = 0; i < spec.elements; ++i) tensor.set_word(i, generator.element(static_cast<std::uint64_t>(i)));
    return tensor;
  }
  tensor.bytes = read_recording(data_file(directory, spec.file, where), static_cast<std::uint64_t>(size));
  if (tensor.bytes.size() != static_cast<std::size_t>(size))
    broken(fmt::format("'{}' has {} bytes, {} are expected", spec.file, tensor.bytes.size(), size), where);
  if (spec.delta_count > 0) {
    const auto delta_bytes = static_cast<std::uint64_t>(spec.delta_count * kDeltaPairBytes);
    const Tensor pairs{&dtype_named("u32"), {}, support::read_file(data_file(directory, spec.delta_file, where), delta_bytes)};
    for (std::int64_t i = 0; i < spec.delta_count; ++i) {
      const auto index = static_cast<std::int64_t>(pairs.word(2 * i));
      if (index >= spec.elements) broken("delta '" + spec.delta_file + "' changed while it was read", where);
      tensor.set_word(index, pairs.word(2 * i + 1));
    }
  }
  return tensor;
}

std::string element_name(std::string_view name, const std::vector<std::int64_t>& shape, std::int64_t index) {
  std::string text;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    text.insert(0, fmt::format("[{}]", index % shape[axis]));
    index /= shape[axis];
  }
  return std::string(name) + text;
}

}  // namespace mx::golden
