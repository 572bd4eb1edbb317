#include "props/checkpoint/defect_places.hpp"

#include <algorithm>
#include <bit>

namespace mx::props {

std::size_t unit_of(const SoundTensor& tensor) {
  const std::string& dtype = tensor.data.dtype;
  return dtype == "F32" || dtype == "I32" ? 4 : dtype == "BF16" || dtype == "F16" ? 2 : 1;
}

Place part_of(SoundCheckpoint& made, SoundTensor& tensor, int expert) {
  std::span<std::uint8_t> bytes(tensor.data.bytes);
  if (tensor.expert >= 0 || tensor.data.shape.empty()) return {&tensor, bytes};
  const std::size_t size = bytes.size() / static_cast<std::size_t>(made.experts);
  return {&tensor, bytes.subspan(size * static_cast<std::size_t>(expert), size)};
}

SoundTensor* find_part(SoundCheckpoint& made, Part part, int expert, int projection) {
  const auto found = std::ranges::find_if(made.tensors, [&](const SoundTensor& one) {
    return one.part == part && (one.expert < 0 || one.expert == expert) && one.projection == projection;
  });
  return found == made.tensors.end() ? nullptr : &*found;
}

std::uint8_t magnitude_mask(const SoundCheckpoint& made) {
  return made.form->kind == SoundKind::mxfp4 || made.form->kind == SoundKind::nvfp4 ? 0x77 : made.form->kind == SoundKind::plain ? 0xFF : 0x7F;
}

std::optional<Live> live(SoundCheckpoint& made, support::SplitMix64& random) {
  for (int tries = 0; tries < 40; ++tries) {
    const auto expert = static_cast<int>(random.next() % static_cast<std::uint64_t>(made.experts)), projection = static_cast<int>(random.next() % 4);
    SoundTensor* const weight = find_part(made, Part::weight, expert, projection);
    if (weight == nullptr) continue;
    const Place place = part_of(made, *weight, expert);
    const auto used = std::ranges::count_if(place.bytes, [&](std::uint8_t byte) { return (byte & magnitude_mask(made)) != 0; });
    // Those of an expert that was never trained are 0, and a tiny one's may be.
    if (2 * used > std::ssize(place.bytes)) return Live{expert, projection, place};
  }
  return std::nullopt;
}
std::optional<Place> scales_of(SoundCheckpoint& made, const Live& at) {
  SoundTensor* const scale = find_part(made, Part::scale, at.expert, at.projection);
  if (scale == nullptr) return std::nullopt;
  return part_of(made, *scale, at.expert);
}

void put_code_at(std::span<std::uint8_t> bytes, std::size_t index, std::size_t width, std::uint32_t code) {
  for (std::size_t byte = 0; byte < width; ++byte) bytes[index * width + byte] = static_cast<std::uint8_t>(code >> 8 * byte);
}
std::uint32_t unit_at(std::span<const std::uint8_t> bytes, std::size_t index, std::size_t width) {
  std::uint32_t code = 0;
  for (std::size_t byte = width; byte-- > 0;) code = code << 8 | bytes[index * width + byte];
  return code;
}
bool is_exponents(const SoundTensor& tensor) { return tensor.data.dtype == "U8" || tensor.data.dtype == "F8_E8M0"; }

double number_at(std::span<const std::uint8_t> bytes, std::size_t index, std::size_t width) {
  return static_cast<double>(std::bit_cast<float>(unit_at(bytes, index, width) << (width == 2 ? 16 : 0)));
}
void put_number(std::span<std::uint8_t> bytes, std::size_t index, std::size_t width, double number) {
  put_code_at(bytes, index, width, std::bit_cast<std::uint32_t>(static_cast<float>(number)) >> (width == 2 ? 16 : 0));
}

}  // namespace mx::props
