#pragma once
// Defects that are put into a sound checkpoint, one at a random place: every kind that `mxact inspect` is to find.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "checkpoint/inspect/inspect.hpp"
#include "checkpoint/scan.hpp"
#include "props/checkpoint/sound_checkpoint.hpp"

namespace mx::props {

/// A defect that is in.
struct Planted {
  std::string tensor;  ///< that it is named with, or one of them
  std::string other;   ///< likewise; empty: there is no other
};

/// A kind of defect.
struct Defect {
  std::string_view id;
  checkpoint::ValueFault fault;
  bool deep;  ///< it shows in the weights alone
  /// None where the form has nothing for it, or nothing at the place that was drawn.
  std::optional<Planted> (*plant)(SoundCheckpoint& checkpoint, std::uint64_t seed);
};
std::span<const Defect> defects();

/// What is found in a checkpoint, which is written to a directory of its own for it.
checkpoint::Inspection inspected(const SoundCheckpoint& made, checkpoint::Depth depth);
/// The findings, a line each.
std::string texts(const checkpoint::Inspection& inspection);
/// Whether a finding is the defect's kind, of a tensor that it is named with.
bool is_named(const checkpoint::Inspection& inspection, const Defect& defect, const Planted& where);

}  // namespace mx::props
