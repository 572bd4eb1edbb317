#pragma once
// FP8 of devices whose codes are e4m3fnuz. The engine's method re-reads a layer's e4m3fn codes as such before any backend's converter sees them: the
// code of -0, which is NaN there, becomes 0, and scales double, since equal codes mean half as much. That is so for every backend.
// Source: vllm 7e1b45a09 quantization/utils/w8a8_utils.py normalize_e4m3fn_to_e4m3fnuz, fp8.py Fp8MoEMethod.process_weights_after_loading.

#include <cstdint>
#include <span>
#include <vector>

#include "model/families/arithmetic.hpp"
#include "model/families/memory.hpp"
#include "model/layout/packed.hpp"

namespace mx::families {

/// Whether what a converter sees of such a layer are e4m3fnuz codes: by the device, the format, and whether the method leaves them.
bool has_fnuz(const Setting& setting);
/// Whose unit multiplies such a layer's numbers.
Operation operation_of(const Setting& setting);
/// Whether such a layer's codes stay e4m3fn where the device's own are e4m3fnuz: its method leaves them.
bool leaves_fn(const Setting& setting);
/// As has_fnuz(), of a layer on its way into a backend's memory.
bool makes_fnuz(const BackendLayout& backend, const Setting& setting);

/// The step in place: whole units of a tensor in any order, a code a byte, a scale four. Tensors of other roles stay.
void to_fnuz(layout::Role role, std::span<std::uint8_t> units);
/// The way back. What the step lost stays lost.
void from_fnuz(layout::Role role, std::span<std::uint8_t> units);

/// Units that the way back does not give: codes of -0, and scales that do not double.
std::int64_t lost_to_fnuz(layout::Role role, std::span<const std::uint8_t> units);
/// Adds them to a layer's losses. A code of -0 keeps its number.
void note_fnuz(layout::Role role, std::int64_t lost, std::vector<layout::Loss>& losses);

/// The step on every tensor of a layer, with what it loses.
void to_fnuz(layout::CanonicalLayer& layer, std::vector<layout::Loss>& losses);
void from_fnuz(layout::CanonicalLayer& layer);
/// On a layer's units in logical order.
void to_fnuz(layout::LayerUnits& units);

}  // namespace mx::families
