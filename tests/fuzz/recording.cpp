// Compressed recordings: an answer, and never more bytes than are allowed.

#include "golden/witness/recording.hpp"

#include "tests/fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 16;
  static const mx::tests::ScratchFolder folder;
  const std::filesystem::path file = folder.write("cases.jsonl.gz", data, size);
  mx::tests::expect_answer(mx::tests::text_of(data, size), [&] {
    mx::tests::require(mx::golden::read_recording(mx::golden::recording_name(file), kMost).size() <= kMost, "no more bytes than are allowed");
  });
  return 0;
}
