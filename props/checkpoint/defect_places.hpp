#pragma once
// Places in a generated checkpoint: an expert's part of a tensor, its scales, the numbers in it.

#include <cstdint>
#include <optional>
#include <span>

#include "props/checkpoint/sound_checkpoint.hpp"
#include "support/random.hpp"

namespace mx::props {

/// The bytes of one expert in a tensor.
struct Place {
  SoundTensor* tensor;
  std::span<std::uint8_t> bytes;
};
/// An expert's part of a tensor.
Place part_of(SoundCheckpoint& made, SoundTensor& tensor, int expert);
/// The tensor that has such a part of an expert's projection; null where there is none.
SoundTensor* find_part(SoundCheckpoint& made, Part part, int expert, int projection);

/// A weight with trained numbers: an expert and a projection.
struct Live {
  int expert;
  int projection;
  Place weight;
};
/// One that is drawn; none where none was found.
std::optional<Live> live(SoundCheckpoint& made, support::SplitMix64& random);
/// The scales of its blocks; none where it has none.
std::optional<Place> scales_of(SoundCheckpoint& made, const Live& at);

/// The bits of a byte of codes that are no signs.
std::uint8_t magnitude_mask(const SoundCheckpoint& made);
/// Bytes of one number of a tensor.
std::size_t unit_of(const SoundTensor& tensor);
/// Whether its bytes are exponents.
bool is_exponents(const SoundTensor& tensor);

/// Number `index` of so many bytes each.
std::uint32_t unit_at(std::span<const std::uint8_t> bytes, std::size_t index, std::size_t width);
void put_code_at(std::span<std::uint8_t> bytes, std::size_t index, std::size_t width, std::uint32_t code);
/// The same of F32 or BF16 as a number.
double number_at(std::span<const std::uint8_t> bytes, std::size_t index, std::size_t width);
void put_number(std::span<std::uint8_t> bytes, std::size_t index, std::size_t width, double number);

}  // namespace mx::props
