#pragma once
// A rule held against blocks of a file. For .cpp files of this folder.

#include <memory>

#include "checkpoint/maker/candidates.hpp"
#include "checkpoint/maker/made_by.hpp"
#include "kernels/codec/codec.hpp"

namespace mx::checkpoint {

/// Blocks with where they begin, and with the base as bridges make it.
struct HeldBlocks {
  const CodedBlocks& blocks;
  std::int64_t first_row;
};

class Attempt {
 public:
  /// Throws what the recipe refuses.
  Attempt(const CodedMatrix& matrix, const Candidate& candidate, std::uint32_t amax);

  /// Adds what these blocks say; their places are counted where they come in order.
  void add(const HeldBlocks& held);
  void forget() { counts_ = {}; }

  const Candidate& candidate() const { return candidate_; }
  const MakerCounts& counts() const { return counts_; }
  /// Codes and scales that the rule gives for the blocks that were added last, as kernels::quantize writes them.
  std::span<const std::uint8_t> codes() const { return codes_; }
  /// fp32 bits of the rule's scale of such a block.
  std::uint32_t scale_bits(std::size_t block) const;

 private:
  void compare(const HeldBlocks& held);
  bool same_scale(const HeldBlocks& held, std::size_t block);

  const CodedMatrix* matrix_;
  Candidate candidate_;
  std::uint32_t amax_;
  std::shared_ptr<const kernels::Quantizing> how_;
  std::vector<std::uint8_t> codes_;
  std::vector<std::uint8_t> scales_;
  std::vector<std::byte> base_;
  MakerCounts counts_;
};

/// The names of a rule; with `narrowed` that its scales are rounded to those of the file.
Maker maker_of(const Candidate& candidate, bool narrowed, const Format& scale);

}  // namespace mx::checkpoint
