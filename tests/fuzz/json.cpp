// Foreign JSON, and reports made of it: whatever parses is a run that can be shown, or is refused.

#include "support/json.hpp"

#include "tests/fuzz/target.hpp"
#include "verbs/report/report.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mx::tests::expect_answer(mx::tests::text_of(data, size), [&] {
    mx::support::Json json = mx::support::parse_json({data, size}, {.bytes = std::uint64_t{1} << 20}, "input");
    const mx::verbs::Run run = mx::verbs::run_of("input", std::move(json));
    const std::string page = mx::verbs::report_html({&run, 1});
    mx::tests::require(page.ends_with("</html>\n"), "a page is whole");
    mx::verbs::checks_of({&run, 1});
  });
  return 0;
}
