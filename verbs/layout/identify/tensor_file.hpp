#pragma once
// A tensor from a file: raw bytes, or one tensor of a safetensors file.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mx::verbs {

struct TensorFile {
  std::shared_ptr<const void> file;  ///< keeps the bytes mapped
  std::span<const std::uint8_t> bytes;
  std::vector<std::int64_t> shape;  ///< empty: raw bytes, whose shape is not known
  int element_bits = 0;             ///< 0: likewise
};

/// From "FILE", "FILE.safetensors:TENSOR", or "FILE.safetensors" with a single tensor. Throws Error(input) as the readers do, and on a tensor that is
/// not there, with the nearest name; on an empty tensor.
TensorFile open_tensor(const std::string& text);

}  // namespace mx::verbs
