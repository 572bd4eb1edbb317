#include "checkpoint/layer_reader.hpp"

#include <algorithm>

namespace mx::checkpoint {

using layout::Role;

LayerReader::LayerReader(const Checkpoint& checkpoint, int layer, std::int64_t experts, Fp8Codes as)
    : checkpoint_(checkpoint), layer_(layer), as_(as), numbers_(checkpoint.numbers(layer)) {
  numbers_.experts.sizes.experts = experts;
  std::erase_if(numbers_.requantized, [&](const Requantized& half) { return half.expert >= experts; });
  for (const ExpertTensor& tensor : checkpoint.expert_tensors(layer)) {
    if (tensor.stays) continue;
    const auto is_of = [&](const Requantized& half) {
      return tensor.role == Role::w13_weight && half.expert == tensor.expert && half.half == tensor.half;
    };
    const auto again = std::ranges::find_if(numbers_.requantized, is_of);
    parts_[static_cast<std::size_t>(tensor.role)].push_back(
        {tensor.offset, tensor.at, tensor.memory, again == numbers_.requantized.end() ? nullptr : &*again});
  }
  for (std::vector<Part>& parts : parts_) std::ranges::sort(parts, {}, &Part::begin);
}

bool LayerReader::has(Role role) const { return !parts_[static_cast<std::size_t>(role)].empty() || !numbers_.experts[role].empty(); }

void LayerReader::read(Role role, std::uint64_t begin, std::span<std::uint8_t> out) const {
  const std::vector<Part>& parts = parts_[static_cast<std::size_t>(role)];
  if (parts.empty()) {
    std::ranges::copy(std::span(numbers_.experts[role]).subspan(begin, out.size()), out.begin());
    return;
  }
  auto part = std::ranges::upper_bound(parts, begin, {}, &Part::begin);
  for (--part; !out.empty(); ++part) {
    const std::uint64_t skipped = begin - part->begin;
    const std::size_t count = std::min<std::size_t>(out.size(), part->memory.size() - skipped);
    part->memory.read(*part->at.file, *part->at.view, skipped, out.first(count));
    if (part->again != nullptr) requantize(*part->again, out.first(count), as_);
    out = out.subspan(count);
    begin += count;
  }
}

}  // namespace mx::checkpoint
