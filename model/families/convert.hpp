#pragma once
// A layer into a family's memory and back.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/families/memory.hpp"
#include "model/layout/packed.hpp"

namespace mx::families {

/// One layer in a backend's form.
struct PackedLayer {
  std::string backend;
  Setting setting;
  std::vector<layout::PackedTensor> tensors;
  std::vector<layout::Loss> losses;  ///< what cannot be restored; empty for a bijection

  const layout::PackedTensor* find(layout::Role role) const;
  /// Throws Error(usage) unless this layer was packed for `wanted`.
  void require(std::string_view wanted) const;
};

/// What a conversion looks at before the tensors.
struct LayerOutline {
  layout::Sizes sizes;
  layout::Form form;
  std::array<bool, layout::kRoleCount> present{};  ///< indexed by Role
  int largest_scale_byte = 0;                      ///< of first scales of 8 bits; 0 where there are none
};
/// The largest byte of a tensor that counts as a scale byte, or of a part of it; 0 for every other tensor.
int largest_scale_byte(layout::Role role, const layout::Form& form, std::span<const std::uint8_t> bytes);

/// The setting that a layer is converted in: sizes, form, has_bias and the largest scale byte are the layer's. Throws as convert does for whatever an
/// outline tells.
Setting setting_for(const LayerOutline& layer, const BackendLayout& backend, Setting setting);

/// Units of a tensor that placing it loses.
struct LostUnits {
  std::int64_t cast = 0;  ///< become what other units become
  std::int64_t cut = 0;   ///< have no place
};
/// Of a tensor that a checkpoint holds as `source`, or of a part of it that `plan` places.
LostUnits lost_units(const layout::TensorPlan& plan, std::span<const std::uint8_t> source);
/// Whether a plan can lose anything, whatever the tensor holds.
bool may_lose(const layout::TensorPlan& plan);
/// Adds a tensor's losses to its layer's.
void note_lost(layout::Role role, const layout::TensorPlan& plan, const LostUnits& lost, std::vector<layout::Loss>& losses);

/// Checkpoint form -> backend form. `setting`'s sizes, form and has_bias are taken from the layer. Throws Error(usage) when the backend refuses the
/// setting or the form, Error(input) when a tensor's bytes do not fit the sizes or a tensor is missing. Absent biases stay absent.
PackedLayer convert(const layout::CanonicalLayer& layer, const BackendLayout& backend, Setting setting,
                    const layout::Mover& mover = layout::kMoveByUnits);
/// The same; the layer gives its tensors up one by one, so that memory holds little more than the layer and its largest tensor.
PackedLayer convert(layout::CanonicalLayer&& layer, const BackendLayout& backend, Setting setting, const layout::Mover& mover = layout::kMoveByUnits);
/// The same with nothing but sizes to say, by the version of engine_for().
PackedLayer convert(const layout::CanonicalLayer& layer, const BackendLayout& backend, const layout::Sizes& padded);

/// What restore does where the conversion lost something.
enum class OnLoss {
  refuse,  ///< Error(usage) naming the first loss
  mark,    ///< units cut off become 0, of units that cannot be told apart the smallest is taken; PackedLayer::losses says which
};

/// Throws as restore does for whatever it refuses before it looks at bytes: losses, values that are not determined, tensors of other sizes or
/// missing.
void check_restorable(const PackedLayer& packed, OnLoss on_loss);

/// Backend form -> checkpoint form. Throws Error(input) when a tensor's bytes do not fit its layout or hold what no conversion makes, Error(usage)
/// as `on_loss` says and always when the values are not determined at all. Memory as for convert.
layout::CanonicalLayer restore(PackedLayer packed, OnLoss on_loss = OnLoss::refuse, const layout::Mover& mover = layout::kMoveByUnits);

/// The units of a layer as the backend's layouts place them: in logical row-major order, after the method's step and the coupled transforms, before
/// the casts.
layout::LayerUnits placed_units(layout::CanonicalLayer layer, const BackendLayout& backend, const Setting& setting, std::vector<layout::Loss>& losses,
                                const layout::Mover& mover = layout::kMoveByUnits);

}  // namespace mx::families
