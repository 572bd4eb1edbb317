#include "checkpoint/inspect/layer_facts.hpp"

#include <map>
#include <utility>

#include "model/fault.hpp"
#include "support/rescue.hpp"

namespace mx::checkpoint {
namespace {

/// Parts of a layer before anything is read of them.
std::vector<PartFacts> parts_of(const FoundGroup& layer_group, const FoundLayer& layer) {
  std::map<std::pair<int, const Projection*>, const FoundTensor*> scales;
  for (const FoundTensor& tensor : layer.experts) {
    if (tensor.row->piece == Piece::scale && !tensor.row->shapes.empty()) scales[{tensor.expert, tensor.projection}] = &tensor;
  }
  std::vector<PartFacts> parts;
  const bool numbered = layer_group.naming->numbered;
  const int experts = numbered ? 1 : static_cast<int>(layer.sizes.experts);
  for (const FoundTensor& tensor : layer.experts) {
    if (tensor.row->piece != Piece::weight) continue;
    const auto scale = scales.find({tensor.expert, tensor.projection});
    for (int expert = 0; expert < experts; ++expert)
      parts.push_back({{&tensor, scale == scales.end() ? nullptr : scale->second, expert, experts}, numbered ? tensor.expert : expert, {}, {}});
  }
  return parts;
}

}  // namespace

std::int64_t PartFacts::begin_in(const FoundTensor& tensor) const {
  const std::int64_t numbers = static_cast<std::int64_t>(tensor.at->view->bytes.size()) * 8 / tensor.at->view->dtype->bits;
  return numbers / part.experts * part.expert;
}

std::vector<PartFacts> layer_facts(const FoundGroup& layer_group, const FoundLayer& layer, Depth depth, const support::StopPoint& stop,
                                   const std::function<void(std::uint64_t)>& read) {
  std::vector<PartFacts> parts = parts_of(layer_group, layer);
  support::Rescue rescue;
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!rescue.has_one())
      rescue.run([&] {
        PartFacts& one = parts[i];
        if (fault::planted(fault::Fault::first_expert_is_inspected) && one.expert > 0) return;
        const auto experts = static_cast<std::uint64_t>(one.part.experts);
        if (one.part.scale != nullptr) {
          stop.check();
          one.scales = scale_facts(*one.part.scale, one.part.expert, one.part.experts);
          if (read) read(one.part.scale->at->view->bytes.size() / experts);
        }
        if (depth == Depth::scales) return;
        one.codes = code_facts(layer_group, layer, one.part, stop);
        if (read) read(one.part.weight->at->view->bytes.size() / experts);
      });
  }
  rescue.rethrow();
  return parts;
}

std::vector<OpenQuestion> open_questions(std::span<const PartFacts> parts) {
  std::vector<OpenQuestion> open;
  for (const PartFacts& one : parts) {
    if (one.codes || !one.scales) continue;
    if (one.scales->zeros > 0)
      open.push_back({std::string(one.part.scale->name), one.scales->zeros, "scales of 0: whether the codes below are 0 too"});
    if (one.scales->alike && one.scales->count > 15)
      open.push_back({std::string(one.part.scale->name), one.scales->count, "scales that are one number: whether the codes below are all 0"});
  }
  return open;
}

}  // namespace mx::checkpoint
