#include "checkpoint/layer_reader.hpp"

#include <algorithm>

namespace mx::checkpoint {

using layout::Role;

LayerReader::LayerReader(const Checkpoint& checkpoint, int layer, std::int64_t experts, Fp8Codes as) : numbers_(checkpoint.numbers(layer)) {
  numbers_.experts.sizes.experts = experts;
  std::erase_if(numbers_.requantized, [&](const Requantized& half) { return half.expert >= experts; });
  again_ = requantizer_of(numbers_, as);
  for (const ExpertTensor& tensor : checkpoint.expert_tensors(layer)) {
    if (!tensor.stays) parts_[static_cast<std::size_t>(tensor.role)].push_back({tensor.offset, tensor.at, tensor.memory});
  }
  for (std::vector<Part>& parts : parts_) std::ranges::sort(parts, {}, &Part::begin);
}

bool LayerReader::has(Role role) const { return !parts_[static_cast<std::size_t>(role)].empty() || !numbers_.experts[role].empty(); }

void LayerReader::read(Role role, std::uint64_t begin, std::span<std::uint8_t> out) const {
  read_stored(role, begin, out);
  if (role == Role::w13_weight) again_.apply(begin, out);
}

void LayerReader::read_stored(Role role, std::uint64_t begin, std::span<std::uint8_t> out) const {
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
    out = out.subspan(count);
    begin += count;
  }
}

std::vector<layout::Loss> LayerReader::requantization_losses(int rank, int tp) const {
  std::vector<layout::Loss> losses;
  const std::uint64_t half_bytes = again_.half_bytes(), share = half_bytes / static_cast<std::uint64_t>(tp);
  std::vector<std::uint8_t> codes(share);
  for (const Requantized& half : again_.halves()) {
    read_stored(Role::w13_weight, half_bytes * static_cast<std::uint64_t>(2 * half.expert + half.half) + share * static_cast<std::uint64_t>(rank),
                codes);
    again_.note(half, codes, losses);
  }
  return losses;
}

}  // namespace mx::checkpoint
