// Command lines, a word a line: what is no command line of the program is refused in one line. Nothing that is asked for is done.

#include <utility>

#include "cli/program.hpp"
#include "tests/fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Help goes nowhere.
  static const bool silent = std::freopen("/dev/null", "w", stdout) != nullptr;
  mx::tests::require(silent, "stdout can be closed");
  std::vector<std::string> words;
  std::string word;
  for (const char c : mx::tests::text_of(data, size)) {
    if (c == '\n')
      words.push_back(std::exchange(word, {}));
    else if (c != '\0')
      word += c;
  }
  if (!word.empty()) words.push_back(word);
  mx::tests::expect_answer(mx::tests::text_of(data, size), [&] { mx::cli::action_for(words); });
  return 0;
}
