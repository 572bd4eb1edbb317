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
  /// What quantizing gate and up again costs the rows of one of so many ranks.
  std::vector<layout::Loss> requantization_losses(int rank = 0, int tp = 1) const;
  /// Throws as SafetensorsFile::read does.
  void read(layout::Role role, std::uint64_t begin, std::span<std::uint8_t> out) const override;

 private:
  /// A tensor of the files, where it begins in the memory of its role.
  struct Part {
    std::uint64_t begin;
    LocatedTensor at;
    SourceMemory memory;
  };

  /// As the files have it.
  void read_stored(layout::Role role, std::uint64_t begin, std::span<std::uint8_t> out) const;

  MoeLayer numbers_;
  Requantizer again_;
  std::array<std::vector<Part>, layout::kRoleCount> parts_;  ///< by where they begin
};

}  // namespace mx::checkpoint
