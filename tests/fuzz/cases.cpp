// Files of oracle cases, a JSON object a line.

#include "golden/witness/cases.hpp"

#include "tests/fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const mx::tests::ScratchFolder folder;
  const std::filesystem::path path = folder.write("cases.jsonl", data, size);
  mx::tests::expect_answer(mx::tests::text_of(data, size), [&] { mx::golden::run_cases(path, {}); });
  return 0;
}
