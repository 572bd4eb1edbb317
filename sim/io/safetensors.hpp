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
std::span<const Dtype> all_dtypes();

/// A tensor inside a mapped file: a view, valid while the file lives.
struct TensorView {
  const Dtype* dtype;
  std::vector<std::int64_t> shape;
  std::span<const std::uint8_t> bytes;
  std::uint64_t file_offset;  ///< of the first byte, for messages
};

/// One file. Construction checks everything: header length against file size and 100 MB before any allocation, strict JSON of depth 8, no duplicate
/// names, known dtypes, checked shape products, ranges sorted without holes or overlaps and covering all data (zero-sized tensors too).
/// Throws Error(input) naming file, byte offset or tensor, value and rule. Memory: the header only; data stay mapped.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::map<std::string, TensorView>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  const std::filesystem::path& path() const { return file_.path(); }
  const TensorView* find(std::string_view name) const;

 private:
  MappedFile file_;
  std::map<std::string, TensorView> tensors_;
  std::map<std::string, std::string> metadata_;
};

/// A tensor to write.
struct TensorData {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;
};

/// Serializes tensors in the given order, header padded with spaces to 8 bytes. Throws Error(usage) on an unknown dtype or a size that disagrees.
std::vector<std::uint8_t> safetensors_bytes(std::span<const TensorData> tensors, const std::map<std::string, std::string>& metadata);

}  // namespace mx::sim
