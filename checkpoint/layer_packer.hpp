#pragma once
// The one road of a layer into a backend's memory, part by part. convert writes what is handed out, verify compares and executes it, mxact.pack and
// sim collect it. Of files memory holds a few experts of one tensor, however large the layer is.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/shard.hpp"
#include "kernels/relayout/mover.hpp"
#include "model/families/convert.hpp"
#include "support/stop.hpp"

namespace mx::checkpoint {

/// Takes the next bytes of the tensor with this number.
using PackedSink = std::function<void(std::size_t tensor, std::span<const std::uint8_t> bytes)>;

class LayerPacker {
 public:
  /// Reads what has to be known of a layer before it is placed: its largest scale byte, and what is lost. Where tensors or experts are coupled, and
  /// where the model moves the bytes, the whole layer is read and converted here. Throws as Checkpoint::layer and families::convert do, and Stopped.
  /// `experts`: the first so many alone; none: all.
  LayerPacker(const Checkpoint& checkpoint, int layer, const RankPart& rank, const families::BackendLayout& backend, const families::Setting& setting,
              kernels::relayout::MoveBy by, const support::StopPoint& stop, std::optional<std::int64_t> experts = {});
  /// A layer in memory, which outlives the packer, whole as it is. Throws as families::convert does.
  LayerPacker(const layout::CanonicalLayer& layer, const families::BackendLayout& backend, const families::Setting& setting,
              kernels::relayout::MoveBy by, const support::StopPoint& stop);
  ~LayerPacker();
  LayerPacker(LayerPacker&&) noexcept;

  /// The layer as it will be packed, its tensors without bytes.
  const families::PackedLayer& packed() const;
  /// What the layer lost before: FP8 codes that the engine quantizes again.
  const std::vector<layout::Loss>& lost_before() const;
  std::int64_t up_scales_dropped() const;

  /// Hands out every tensor from beginning to end, one after the other, from a thread of its own, while the next part is read and placed. To be
  /// called once. Throws as families::convert does, what the sink throws, and Stopped.
  void run(const PackedSink& sink);
  /// What run() hands out, in one piece. To be called in its place; throws as it does.
  families::PackedLayer collect();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mx::checkpoint
