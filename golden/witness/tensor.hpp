#pragma once
// Raw little-endian arrays as a manifest describes them.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "golden/witness/fields.hpp"
#include "model/numerics/format.hpp"

namespace mx::golden {

/// An element type of data files.
struct Dtype {
  std::string_view word;
  int bytes;
  const Format* format;  ///< how to read a pattern as a number; null: an integer (and f64)
};

const Dtype& dtype_named(std::string_view word);  ///< throws Unmodelled

/// An array in memory, C order.
struct Tensor {
  const Dtype* dtype = nullptr;
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;

  std::int64_t size() const { return static_cast<std::int64_t>(bytes.size()) / dtype->bytes; }
  /// Pattern of element i as an unsigned word.
  std::uint64_t word(std::int64_t i) const;
  void set_word(std::int64_t i, std::uint64_t word);
};

/// A tensor as described: a file, a file with some elements replaced, or a rule that generates it.
struct TensorSpec {
  const Dtype* dtype = nullptr;
  std::vector<std::int64_t> shape;
  std::int64_t elements = 0;
  std::string file;
  std::string delta_file;
  std::int64_t delta_count = 0;
  std::string generate;
};

/// Parses a description and checks its files: names, sizes, indexes of a delta. Throws Error(input), or Unmodelled for unknown words and keys.
TensorSpec read_tensor_spec(const Json& json, const std::string& what, const std::filesystem::path& directory, const std::string& where);

/// Parses [int, ...]: 1 to 8 positive extents with a product below 2^40. Returns the product. Throws Error(input).
std::int64_t read_shape(const Json& json, std::vector<std::int64_t>& shape, const std::string& what, const std::string& where);

/// The elements. Throws Error(input) when a generated tensor is too large to hold.
Tensor load(const TensorSpec& spec, const std::filesystem::path& directory, const std::string& where);

/// `directory`/`name`, where name is a plain file name. Throws Error(input) for anything that could leave the directory.
std::filesystem::path data_file(const std::filesystem::path& directory, const std::string& name, const std::string& where);

/// Throws Error(input) unless the file exists and has exactly this many bytes.
void require_size(const std::filesystem::path& file, std::int64_t bytes, const std::string& where);

/// "codes[3][17]" for a flat index.
std::string element_name(std::string_view name, const std::vector<std::int64_t>& shape, std::int64_t index);

}  // namespace mx::golden
