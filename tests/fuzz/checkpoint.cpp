// Checkpoints of any form: the first line is config.json, the second the header of the container, the rest its data; without a header the
// rest is the file. What opens has whole layers
// whose tensors lie in their canonical memory, and is the same numbers as itself.

#include "checkpoint/checkpoint.hpp"

#include <algorithm>
#include <string>

#include "checkpoint/compare/compare_checkpoints.hpp"
#include "tests/fuzz/target.hpp"

namespace {

void use_layer(const mx::checkpoint::Checkpoint& checkpoint, int layer) {
  const mx::layout::Sizes sizes = checkpoint.sizes(layer);
  for (const mx::checkpoint::ExpertTensor& tensor : checkpoint.expert_tensors(layer)) {
    const auto memory = static_cast<std::uint64_t>(mx::layout::canonical(tensor.role, sizes, checkpoint.layout_form()).bytes());
    mx::tests::require(tensor.offset <= memory && (tensor.stays || tensor.memory.size() <= memory - tensor.offset),
                       "a tensor lies in its role's memory");
  }
  for (const mx::checkpoint::ScannedFault& fault : checkpoint.scan(layer)) mx::tests::require(fault.count > 0, "a fault is somewhere");
  static_cast<void>(checkpoint.layer(layer));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const mx::tests::ScratchFolder folder;
  const std::string_view text = mx::tests::text_of(data, size);
  const std::size_t first = std::min(text.find('\n'), text.size()), second = std::min(text.find('\n', std::min(first + 1, text.size())), text.size());
  folder.write("config.json", data, first);
  const std::string_view header = text.substr(std::min(first + 1, second), second - std::min(first + 1, second));
  std::string container;
  for (int shift = 0; !header.empty() && shift < 64; shift += 8) container += static_cast<char>(header.size() >> shift & 0xFF);
  container += header;
  container += text.substr(std::min(second + 1, text.size()));
  folder.write("model.safetensors", reinterpret_cast<const std::uint8_t*>(container.data()), container.size());
  mx::tests::expect_answer(text, [&] {
    const mx::checkpoint::Checkpoint opened(folder.path());
    for (std::size_t layer_group = 0; layer_group < opened.layer_groups().size(); ++layer_group) {
      mx::tests::require(!opened.layer_groups()[layer_group].layers.empty(), "a layer group has layers");
      const mx::checkpoint::Checkpoint one = opened.of_group(static_cast<int>(layer_group));
      if (!opened.layer_groups()[layer_group].converts) continue;
      for (int layer = 0; layer < one.layer_count(); ++layer) mx::tests::expect_answer(text, [&] { use_layer(one, layer); });
    }
    mx::tests::require(mx::checkpoint::compare_checkpoints(folder.path(), folder.path(), {}).same(), "a checkpoint is the same numbers as itself");
  });
  return 0;
}
