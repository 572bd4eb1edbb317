#pragma once
// A layer into a family's memory and back.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/families/memory.hpp"
#include "model/layout/packed.hpp"

namespace mx::layout {

/// One layer in a backend's form.
struct PackedLayer {
  std::string backend;
  Setting setting;
  std::vector<PackedTensor> tensors;
  std::vector<Loss> losses;  ///< what cannot be restored; empty for a bijection

  const PackedTensor* find(Role role) const;
  /// Throws Error(usage) unless this layer was packed for `wanted`.
  void require(std::string_view wanted) const;
};

/// Checkpoint form -> backend form. `setting`'s sizes, form and has_bias are taken from the layer. Throws Error(usage) when the backend refuses the
/// setting or the form, Error(input) when a tensor's bytes do not fit the sizes or a tensor is missing. Absent biases stay absent.
PackedLayer convert(const CanonicalLayer& layer, const BackendLayout& backend, Setting setting, const Mover& mover = kMoveByUnits);
/// The same; the layer gives its tensors up one by one, so that memory holds little more than the layer and its largest tensor.
PackedLayer convert(CanonicalLayer&& layer, const BackendLayout& backend, Setting setting, const Mover& mover = kMoveByUnits);
/// The same with nothing but sizes to say, by the first version of the engine that converts the form.
PackedLayer convert(const CanonicalLayer& layer, const BackendLayout& backend, const Sizes& padded);

/// What restore does where the conversion lost something.
enum class OnLoss {
  refuse,  ///< Error(usage) naming the first loss
  mark,    ///< units cut off become 0, of units that cannot be told apart the smallest is taken; PackedLayer::losses says which
};

/// Backend form -> checkpoint form. Throws Error(input) when a tensor's bytes do not fit its layout or hold what no conversion makes, Error(usage)
/// as `on_loss` says and always when the values are not determined at all. Memory as for convert.
CanonicalLayer restore(PackedLayer packed, OnLoss on_loss = OnLoss::refuse, const Mover& mover = kMoveByUnits);

/// The units of a layer as the backend's layouts place them: in logical row-major order, after the coupled transforms, before the casts.
LayerUnits placed_units(CanonicalLayer layer, const BackendLayout& backend, const Setting& setting, std::vector<Loss>& losses,
                        const Mover& mover = kMoveByUnits);

}  // namespace mx::layout
