#include "model/families/experts.hpp"

#include <vector>

namespace mx::families {

std::unique_ptr<moe::Experts> packed_experts(const PackedLayer& layer) {
  const BackendLayout& backend = backend_layout_named(layer.backend, layer.setting.form.format, layer.setting.engine);
  // A kernel does not know where the checkpoint ended: it reads the padded sizes.
  Setting kernel_view = layer.setting;
  kernel_view.sizes = layer.setting.padded;
  std::vector<moe::ExpertMemory> tensors;
  for (const layout::PackedTensor& tensor : layer.tensors) {
    const auto [memory, cast] = backend.build(tensor.role, kernel_view);
    tensors.push_back({tensor.role, memory, cast, tensor.bytes});
  }
  return moe::memory_experts(layer.setting.padded, tensors);
}

}  // namespace mx::families
