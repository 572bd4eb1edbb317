// Names, stars and expressions of configurations: which module each of them names, and which expressions are refused.

#include "checkpoint/module_pattern.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/checkpoint/draft.hpp"

namespace mx::tests {

TEST_CASE("patterns name modules as configurations mean them") {
  using checkpoint::Match;
  struct Row {
    std::string pattern, module;
    Match match;
  };
  const std::string module = "model.layers.12.mlp.experts.3.gate_proj";
  const std::vector<Row> rows{
      {module, module, Match::name},
      {"model.layers.12", module, Match::name},
      {"model.layers.1", module, Match::none},
      {"model.layers.1*", module, Match::expression},
      {"model.layers.12.mlp*", module, Match::expression},
      {"*experts*", module, Match::expression},
      {"*.up_proj", module, Match::none},
      {"Linear", module, Match::kind},
      {"re:.*experts.*", module, Match::expression},
      {"re:experts", module, Match::none},
      {R"(re:.*mlp\.experts\.\d+\.(gate|up|down)_proj$)", module, Match::expression},
      {R"(re:.*\.(up|down)_proj$)", module, Match::none},
      {R"(re:^(?!.*experts).*$)", module, Match::none},
      {R"(re:model\.layers\.1[0-9]?\..*)", module, Match::expression},
      {R"(re:model\.layers\.[^1]+\.mlp)", module, Match::none},
      {R"(re:model\.layers\.\d{2}\.)", module, Match::expression},
      {R"(re:model\.layers\.\d{3,}\.)", module, Match::none},
      {R"(re:(model|mtp)\..*?gate_proj)", module, Match::expression},
  };
  for (const Row& row : rows) {
    INFO(row.pattern);
    CHECK(checkpoint::match_module(row.pattern, row.module, "here") == row.match);
  }
  for (const char* const bad : {"re:(", "re:a)", "re:*", "re:[a", "re:a{1", "re:\\q", "re:(?<a>b)", "re:\\"}) {
    INFO(bad);
    CHECK(input_error_defect(error_of([&] { static_cast<void>(checkpoint::match_module(bad, module, "here")); }), {"here", "the expression"}) == "");
  }
  CHECK(input_error_defect(error_of([&] { static_cast<void>(checkpoint::match_module("re:(a*)*(a*)*(a*)*b", std::string(60, 'a'), "here")); }), {"steps"}) ==
        "");
  // What waits for the rest of an expression lies on the stack: a long name, and repetitions of nothing.
  CHECK(input_error_defect(error_of([&] { static_cast<void>(checkpoint::match_module("re:.*", std::string(1'000'000, 'a'), "here")); }),
                           {"1000000 characters"}) == "");
  CHECK(input_error_defect(error_of([&] { static_cast<void>(checkpoint::match_module("re:((){1000}){1000}", module, "here")); }), {"2048 at once"}) == "");
  CHECK(checkpoint::match_module("re:.*a$", std::string(1000, 'a'), "here") == Match::expression);
  CHECK(input_error_defect(error_of([&] { static_cast<void>(checkpoint::match_module("re:" + std::string(2000, '('), module, "here")); }),
                           {"2000 characters"}) == "");
  CHECK(input_error_defect(error_of([&] { static_cast<void>(checkpoint::match_module("re:" + std::string(100, '('), module, "here")); }),
                           {"deeper than 32"}) == "");
}

}  // namespace mx::tests
