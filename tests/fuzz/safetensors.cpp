// The container: what opens must be readable to its last byte, and its tensors must lie where the header says.

#include "support/safetensors.hpp"

#include "tests/fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const mx::tests::ScratchFolder folder;
  const std::filesystem::path path = folder.write("input.safetensors", data, size);
  mx::tests::expect_answer(mx::tests::text_of(data, size), [&] {
    const mx::support::SafetensorsFile file(path);
    std::uint64_t covered = 0;
    for (const auto& [name, tensor] : file.tensors()) {
      mx::tests::require(tensor.file_offset + tensor.bytes.size() <= size, "a tensor lies inside its file");
      mx::tests::require(file.read(tensor).size() == tensor.bytes.size(), "a tensor is read whole");
      covered += tensor.bytes.size();
    }
    mx::tests::require(covered <= size, "tensors do not overlap");
  });
  return 0;
}
