#pragma once
// The way back of layer_packer.hpp: a layer as its checkpoint had it, from the files of every rank, part by part.

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "checkpoint/converted.hpp"
#include "kernels/relayout/mover.hpp"
#include "model/families/convert.hpp"
#include "support/stop.hpp"

namespace mx::checkpoint {

/// Takes the next bytes of a role's canonical memory.
using CanonicalSink = std::function<void(layout::Role role, std::span<const std::uint8_t> bytes)>;

class LayerUnpacker {
 public:
  /// The layer of every rank, in order; they outlive the unpacker. Where tensors or experts are coupled, and where the model moves the bytes, the
  /// whole layer is read and restored here. Throws as packed_outline, families::restore and join do, with the file as the place, and Stopped.
  LayerUnpacker(std::vector<const ConvertedLayer*> ranks, families::OnLoss on_loss, kernels::relayout::MoveBy by, const support::StopPoint& stop);
  ~LayerUnpacker();
  LayerUnpacker(LayerUnpacker&&) noexcept;

  bool gives(layout::Role role) const;
  const layout::Sizes& sizes() const;  ///< of the checkpoint's layer
  const layout::Form& form() const;

  /// Hands out every role from beginning to end, one after the other, from a thread of its own, while the next part is read and taken. To be called
  /// once. Throws as above, Error(input) for a tensor that is not as it was written, what the sink throws, and Stopped.
  void run(const CanonicalSink& sink);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mx::checkpoint
