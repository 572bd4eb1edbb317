#pragma once
// The safetensors container, read within bounds. Source: huggingface/safetensors README (format) and safetensors/src/tensor.rs (checks).

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/io/file.hpp"

namespace mx::sim {

/// One tensor type of the container.
struct Dtype {
  std::string_view name;  ///< "BF16"
  int bits;               ///< of one element
};
/// In the order of the reference: by alignment. Source: huggingface/safetensors, safetensors/src/tensor.rs, Dtype and Dtype::bitsize.
std::span<const Dtype> all_dtypes();

/// A tensor inside a mapped file: a view, valid while the file lives.
struct TensorView {
  const Dtype* dtype;
  std::vector<std::int64_t> shape;
  std::span<const std::uint8_t> bytes;
  std::uint64_t file_offset;  ///< of the first byte, for messages
};

/// "[8, 512, 8, 16]"
std::string shape_text(std::span<const std::int64_t> shape);

/// One file. Construction checks everything: header length against file size and 100 MB before any allocation, strict JSON of depth 8, no duplicate
/// names, names and metadata bounded, known dtypes, at most 32 axes, checked shape products, ranges sorted without holes or overlaps and covering all
/// data (zero-sized tensors too). Throws Error(input) naming file, byte offset or tensor, value and rule.
/// Memory: the tables of the header only, at most twice the file and 4 MiB; data stay mapped.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::map<std::string, TensorView, std::less<>>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  const std::filesystem::path& path() const { return file_.path(); }
  /// The tensor of that name, or null.
  const TensorView* find(std::string_view name) const;

 private:
  MappedFile file_;
  std::map<std::string, TensorView, std::less<>> tensors_;
  std::map<std::string, std::string> metadata_;
};

/// A tensor to write.
struct TensorData {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;
};

/// Serializes tensors in the given order, header padded with spaces to 8 bytes.
/// Throws Error(usage) on an unknown dtype, a size that disagrees, a repeated or reserved name.
std::vector<std::uint8_t> safetensors_bytes(std::span<const TensorData> tensors, const std::map<std::string, std::string>& metadata);

}  // namespace mx::sim
