// Wildcards and expressions of configurations: which name each of them fits, and which expressions are refused.

#include "checkpoint/module_pattern.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/checkpoint/draft.hpp"

namespace mx::tests {
namespace {

const std::string kModule = "model.layers.12.mlp.experts.3.gate_proj";

struct Row {
  std::string pattern;
  bool fits;
};

std::string refusal_of(const std::string& expression, const std::string& name, const std::vector<std::string>& words) {
  return input_error_defect(error_of([&] { static_cast<void>(checkpoint::fits_expression(expression, name, "here")); }), words);
}

}  // namespace

// What Python's fnmatch.fnmatchcase answers.
TEST_CASE("wildcards fit whole names") {
  const std::vector<Row> rows{
      {kModule, true},
      {"model.layers.12", false},
      {"model.layers.1*", true},
      {"model.layers.12.mlp*", true},
      {"*experts*", true},
      {"*.up_proj", false},
      {"*layers.1?.mlp.*", true},
      {"*layers.1[0-2].mlp.*", true},
      {"*layers.1[!2].mlp.*", false},
      {"*layers.1[].mlp.*", false},
      {"*layers.[0-9][0-9].mlp.experts.[]3].*", true},
      {"*", true},
      {"", false},
  };
  for (const Row& row : rows) {
    INFO(row.pattern);
    CHECK(checkpoint::fits_wildcards(row.pattern, kModule) == row.fits);
  }
  CHECK(checkpoint::fits_wildcards("a[b", "a[b"));
  CHECK(checkpoint::fits_wildcards("", ""));
}

TEST_CASE("expressions fit from a name's beginning") {
  const std::vector<Row> rows{
      {".*experts.*", true},
      {"experts", false},
      {R"(.*mlp\.experts\.\d+\.(gate|up|down)_proj$)", true},
      {R"(.*\.(up|down)_proj$)", false},
      {R"(^(?!.*experts).*$)", false},
      {R"(model\.layers\.1[0-9]?\..*)", true},
      {R"(model\.layers\.[^1]+\.mlp)", false},
      {R"(model\.layers\.\d{2}\.)", true},
      {R"(model\.layers\.\d{3,}\.)", false},
      {R"((model|mtp)\..*?gate_proj)", true},
  };
  for (const Row& row : rows) {
    INFO(row.pattern);
    CHECK(checkpoint::fits_expression(row.pattern, kModule, "here") == row.fits);
  }
  for (const char* const bad : {"(", "a)", "*", "[a", "a{1", "\\q", "(?<a>b)", "\\"}) {
    INFO(bad);
    CHECK(refusal_of(bad, kModule, {"here", "the expression"}) == "");
  }
  CHECK(refusal_of("(a*)*(a*)*(a*)*b", std::string(60, 'a'), {"steps"}) == "");
  // What waits for the rest of an expression lies on the stack: a long name, and repetitions of nothing.
  CHECK(refusal_of(".*", std::string(1'000'000, 'a'), {"1000000 characters"}) == "");
  CHECK(refusal_of("((){1000}){1000}", kModule, {"2048 at once"}) == "");
  CHECK(checkpoint::fits_expression(".*a$", std::string(1000, 'a'), "here"));
  CHECK(refusal_of(std::string(2000, '('), kModule, {"2000 characters"}) == "");
  CHECK(refusal_of(std::string(100, '('), kModule, {"deeper than 32"}) == "");
}

}  // namespace mx::tests
