// Files of coverage: whatever is taken is written and read again as the same.

#include "golden/vectors/files/coverage_file.hpp"
#include "support/file.hpp"
#include "tests/fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const mx::tests::ScratchFolder folder;
  folder.write("coverage.json", data, size);
  mx::tests::expect_answer(mx::tests::text_of(data, size), [&] {
    const std::string text = mx::golden::coverage_file_text(mx::golden::read_coverage_file(folder.path() / "coverage.json"));
    folder.write("again.json", reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    const std::string again = mx::golden::coverage_file_text(mx::golden::read_coverage_file(folder.path() / "again.json"));
    mx::tests::require(text == again, "what was written is read as the same");
  });
  return 0;
}
