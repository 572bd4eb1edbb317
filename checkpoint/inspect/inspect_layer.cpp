#include "checkpoint/inspect/inspect_layer.hpp"

#include <algorithm>
#include <utility>

#include "checkpoint/inspect/router_rows.hpp"
#include "model/fault.hpp"

namespace mx::checkpoint {

LayerInspection inspect_layer(const CheckpointFiles& files, const FoundGroup& layer_group, const FoundLayer& layer, const LayerLook& look) {
  const support::StopPoint stop(look.stop);
  LayerInspection made{scan_layer(layer_group, layer, look.depth), layer_facts(layer_group, layer, look.depth, stop, look.read), {}};
  if (!fault::planted(fault::Fault::statistics_are_forgotten)) {
    for (ScannedFault& fault : odd_statistics(layer_group, layer, made.parts)) made.faults.push_back(std::move(fault));
  }
  if (look.depth == Depth::weights) {
    if (std::optional<ScannedFault> router = zero_router_rows(files, layer_group, layer)) made.faults.push_back(std::move(*router));
  }
  // What is not converted has no format that the ledger speaks of.
  if (look.producer != nullptr && layer_group.form->converts()) {
    const auto scale = std::ranges::find(layer.experts, Piece::scale, [](const FoundTensor& tensor) { return tensor.row->piece; });
    explain(made.faults, *look.producer, layer_group.form->form.format, look.is_first && scale != layer.experts.end() ? &*scale : nullptr);
  }
  if (fault::planted(fault::Fault::findings_name_no_tensor)) {
    for (ScannedFault& one : made.faults) one.tensor = layer.prefix;
  }
  made.open = open_questions(made.parts);
  return made;
}

}  // namespace mx::checkpoint
