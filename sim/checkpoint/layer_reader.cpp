#include "sim/checkpoint/layer_reader.hpp"

#include <algorithm>

namespace mx::sim {

using layout::Role;

LayerReader::LayerReader(const Checkpoint& checkpoint, int layer) : numbers_(checkpoint.numbers(layer)) {
  for (const ExpertTensor& tensor : checkpoint.expert_tensors(layer)) {
    if (!tensor.stays) parts_[static_cast<std::size_t>(tensor.role)].push_back({tensor.offset, tensor.at});
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
    const std::size_t count = std::min<std::size_t>(out.size(), part->at.view->bytes.size() - skipped);
    part->at.file->read(*part->at.view, skipped, out.first(count));
    out = out.subspan(count);
    begin += count;
  }
}

}  // namespace mx::sim
