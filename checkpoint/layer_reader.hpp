#pragma once
// One layer of a checkpoint, role by role as if each were one piece of memory, read where it lies in the files.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/layer_source.hpp"
#include "model/families/convert.hpp"

namespace mx::checkpoint {

class LayerReader final : public LayerSource {
 public:
  /// Reads what is one number of each expert; throws as Checkpoint::numbers does. The checkpoint outlives the reader. `experts`: the first so many
  /// alone, which are the outermost axis of every tensor; at most all. `as`: what codes are that the engine quantizes again.
  LayerReader(const Checkpoint& checkpoint, int layer, std::int64_t experts, Fp8Codes as);

  /// The layer without its tensors.
  const MoeLayer& numbers() const { return numbers_; }
  const layout::Sizes& sizes() const override { return numbers_.experts.sizes; }
  const layout::Form& form() const override { return numbers_.experts.form; }
  bool has(layout::Role role) const override;
  /// Halves whose codes are quantized again, and what that costs the rank.
  std::vector<layout::Loss> requantization_losses(int rank, int tp) const {
    return checkpoint_.requantization_losses(layer_, numbers_.requantized, as_, rank, tp);
  }
  /// Throws as SafetensorsFile::read does.
  void read(layout::Role role, std::uint64_t begin, std::span<std::uint8_t> out) const override;

 private:
  /// A tensor of the files, where it begins in the memory of its role.
  struct Part {
    std::uint64_t begin;
    LocatedTensor at;
    SourceMemory memory;
    const Requantized* again;  ///< the codes are quantized again as they are read; null: they are as they lie
  };

  const Checkpoint& checkpoint_;
  int layer_;
  Fp8Codes as_;
  MoeLayer numbers_;
  std::array<std::vector<Part>, layout::kRoleCount> parts_;  ///< by where they begin
};

}  // namespace mx::checkpoint
