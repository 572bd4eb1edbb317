// Manifests of recorded sets, beside arrays of some sizes.

#include <array>

#include "golden/witness/witness.hpp"
#include "tests/fuzz/target.hpp"

namespace {

/// Arrays that a manifest may name: a.bin to d.bin, of 16, 64, 256 and 1024 bytes.
const mx::tests::ScratchFolder& folder_with_arrays() {
  static const mx::tests::ScratchFolder folder;
  static const bool written = [] {
    std::array<std::uint8_t, 1024> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 37);
    std::size_t size = 16;
    for (const char* name : {"a.bin", "b.bin", "c.bin", "d.bin"}) {
      folder.write(name, bytes.data(), size);
      size *= 4;
    }
    return true;
  }();
  mx::tests::require(written, "arrays are there");
  return folder;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const mx::tests::ScratchFolder& folder = folder_with_arrays();
  folder.write("manifest.json", data, size);
  mx::tests::expect_answer(mx::tests::text_of(data, size), [&] {
    const std::vector<mx::golden::SetResult> results = mx::golden::run_witness(folder.path(), {.sweeps = false, .progress = {}});
    mx::tests::require(!results.empty(), "a set that is run has a result");
  });
  return 0;
}
