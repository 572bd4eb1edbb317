// numpy's array files: what is read has as many elements as its shape says, and written again is read as the same.

#include "support/npy.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 20;
  const std::span<const std::uint8_t> file(data, size);
  mx::tests::expect_answer(mx::tests::text_of(data, size), [&] {
    const mx::support::NpyArray array = mx::support::npy_array(file, kMost, "array");
    std::uint64_t count = 1;
    for (const std::int64_t extent : array.shape) count *= static_cast<std::uint64_t>(extent);
    mx::tests::require(count <= kMost && array.bytes.size() == count * array.width, "the bytes are those of the shape");
    const std::string descr = std::string(array.width == 1 ? "|" : "<") + array.kind + std::to_string(array.width);
    const std::vector<std::uint8_t> written = mx::support::npy_bytes(descr, array.shape, array.bytes);
    const mx::support::NpyArray again = mx::support::npy_array(written, kMost, "again");
    mx::tests::require(again.shape == array.shape && again.type() == array.type() && std::ranges::equal(again.bytes, array.bytes),
                       "what is written is read as the same");
  });
  return 0;
}
