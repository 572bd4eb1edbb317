#pragma once
// How a tensor lies in its file against the canonical memory of its role: the same bytes, or numbers of another width, or matrices the other way.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/layout/tensor.hpp"
#include "support/safetensors.hpp"

namespace mx::checkpoint {

/// Numbers that a file holds in fewer bits than the canonical memory, exactly: BF16, F16 and exponent bytes as fp32.
struct Widening {
  std::string_view dtype;
  int bits;
  std::uint32_t (*widen)(std::uint32_t code);
  /// Of a number that widen() made: its code. Others have none.
  bool (*narrow)(std::uint32_t bits, std::uint32_t& code);
};
/// The row for a dtype in a file where the canonical memory has units of fp32; null where the bytes are the same.
const Widening* widening_of(std::string_view dtype, int canonical_bits);

/// Numbers of a tensor of BF16, F16, F32 or exponent bytes, as fp32 bits, exactly. Throws as SafetensorsFile::read does.
std::vector<std::uint32_t> f32_numbers(const support::SafetensorsFile& file, const support::TensorView& view);

/// One tensor against the memory of its role.
class SourceMemory {
 public:
  /// `input_major`: of every expert, the matrix is transposed in the file. `parts` of the role's memory as big as the tensor's.
  SourceMemory(const support::TensorEntry& entry, layout::Role role, const layout::Sizes& sizes, const layout::Form& form, bool input_major);

  /// The bytes are those of the file.
  bool is_plain() const { return widening_ == nullptr && rows_ == 0; }
  /// Bytes of canonical memory that the tensor is.
  std::uint64_t size() const { return size_; }
  /// Canonical bytes from `begin` on, into `out`. Throws as SafetensorsFile::read does.
  void read(const support::SafetensorsFile& file, const support::TensorView& view, std::uint64_t begin, std::span<std::uint8_t> out) const;

  /// Bytes of canonical memory that become bytes of the file together: of a transposed tensor a whole expert.
  std::uint64_t turn() const { return rows_ == 0 ? 4 : rows_ * columns_ * unit_; }
  /// Canonical bytes, whole turns, as the file has them. Throws Error(input) for a number that the file's dtype does not have.
  std::vector<std::uint8_t> in_file(std::span<const std::uint8_t> canonical) const;

 private:
  std::uint64_t width() const;  ///< bytes of the file that a number is, or that a transposition moves together
  void widen(std::span<const std::uint8_t> codes, std::span<std::uint8_t> out) const;
  std::vector<std::uint8_t> narrowed(std::span<const std::uint8_t> canonical) const;

  const Widening* widening_;
  std::uint64_t size_ = 0;
  std::uint64_t unit_ = 1;     ///< bytes that a transposition moves together
  std::uint64_t rows_ = 0;     ///< of an expert's matrix in canonical order, 0: not transposed
  std::uint64_t columns_ = 0;  ///< units of a row
};

}  // namespace mx::checkpoint
