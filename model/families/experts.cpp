#include "model/families/experts.hpp"

#include <vector>

namespace mx::moe {

std::unique_ptr<Experts> packed_experts(const layout::PackedLayer& layer) {
  const layout::BackendLayout& backend = layout::backend_layout_named(layer.backend, layer.setting.form.format, layer.setting.engine);
  // A kernel does not know where the checkpoint ended: it reads the padded sizes.
  layout::Setting kernel_view = layer.setting;
  kernel_view.sizes = layer.setting.padded;
  std::vector<ExpertMemory> tensors;
  for (const layout::PackedTensor& tensor : layer.tensors) {
    const auto [memory, cast] = backend.build(tensor.role, kernel_view);
    tensors.push_back({tensor.role, memory, cast, tensor.bytes});
  }
  return memory_experts(layer.setting.padded, tensors);
}

}  // namespace mx::moe
