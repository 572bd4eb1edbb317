// Documents for continuous integration.

#include <string>
#include <string_view>

#include "tests/catch.hpp"
#include "verbs/document/document.hpp"

namespace {

using namespace mx::verbs;
using mx::support::CheckEnd;

const Head kHead{"1.2", "abc", "mxact thing", "a processor", "2026-01-02T03:04:05Z", 1.25};

std::size_t count_of(std::string_view text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

Document sample(int exit_code) {
  Document document{"thing", "engine@1"};
  document.cases = {{"a", "right", CheckEnd::passed, "not shown"},
                    {"a", "twice", CheckEnd::skipped, "refused"},
                    {"a", "twice", CheckEnd::failed, "1 of 2 differ", "row 3, \"x\" < y", "mxact thing --again", "a file", 0.5},
                    {"b", "luck", CheckEnd::mistrusted, "all zero"}};
  document.ended(exit_code);
  return document;
}

}  // namespace

// One case took 0.5 s of 1.25; the other three share the rest.
TEST_CASE("JUnit: a suite a group, unique names, and four ends that are told apart") {
  CHECK(to_junit(sample(0), kHead) ==
        R"xml(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="mxact thing" tests="4" failures="1" errors="1" skipped="1" time="1.250">
  <testsuite name="a" tests="3" failures="1" errors="0" skipped="1" timestamp="2026-01-02T03:04:05Z">
    <properties>
      <property name="version" value="1.2"/>
      <property name="commit" value="abc"/>
      <property name="command" value="mxact thing"/>
      <property name="processor" value="a processor"/>
      <property name="engine" value="engine@1"/>
      <property name="verdict" value="PASSED"/>
    </properties>
    <testcase classname="a" name="right" time="0.250"/>
    <testcase classname="a" name="twice" time="0.250"><skipped message="refused"/></testcase>
    <testcase classname="a" name="twice (2)" file="a file" time="0.500"><failure message="1 of 2 differ" type="FAILED">place: row 3, &quot;x&quot; &lt; y&#10;again: mxact thing --again</failure></testcase>
  </testsuite>
  <testsuite name="b" tests="1" failures="0" errors="1" skipped="0" timestamp="2026-01-02T03:04:05Z">
    <testcase classname="b" name="luck" time="0.250"><error message="all zero" type="MISTRUSTED"/></testcase>
  </testsuite>
</testsuites>
)xml");
}

TEST_CASE("JUnit: a run that does not end with 0 is never green") {
  Document empty{"thing"};
  CHECK(count_of(to_junit(empty, kHead), "<testcase") == 0);
  empty.ended(1);
  CHECK(to_junit(empty, kHead).find(R"(name="the run" time="1.250"><failure message="FAILED: exit status 1")") != std::string::npos);
  empty.ended(4);
  CHECK(to_junit(empty, kHead).find(R"(<failure message="REFUSED: exit status 4")") != std::string::npos);
  empty.ended(5);
  CHECK(to_junit(empty, kHead).find(R"(<error message="MISTRUSTED: exit status 5" type="MISTRUSTED">)") != std::string::npos);
}

TEST_CASE("Markdown: the verdict, what did not pass with its place, then tables, and nothing is read as markup") {
  Document document = sample(1);
  document.field("size", "size", 3);
  document.line("a_b <i>");
  Table table{"rows", {{"a", "a|b"}}};
  table.add({"x\ny"});
  document.table(std::move(table));
  document.line("\nthe end");
  CHECK(to_markdown(document, kHead) ==
        R"(### mxact thing: FAILED

mxact thing

| failed | mistrusted | skipped | passed |
| --- | --- | --- | --- |
| 1 | 1 | 1 | 1 |

|  | case | why | place | again |
| --- | --- | --- | --- | --- |
| failed | a twice | 1 of 2 differ | row 3, "x" &lt; y | mxact thing --again |
| mistrusted | b luck | all zero |  |  |

size: 3  
a\_b &lt;i>  

| a\|b |
| --- |
| x<br>y |


the end  
)");
}

TEST_CASE("Markdown holds no control characters and no bytes that are no UTF-8, wherever a name brings them") {
  Document document{"thing", "engine@1"};
  const std::string name =
      "a\x1b[31mred\x07\x7f\xC2\x9B"
      "2J\xFF \xC3\xA9";
  document.cases = {{name, name, CheckEnd::failed, name, name, name}};
  document.line(name);
  document.field("size", "size", 3, name);
  document.note(name);
  document.ended(1);
  Head head = kHead;
  head.command = name;
  const std::string text = to_markdown(document, head);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    INFO(i);
    CHECK((byte >= 0x20 || byte == '\n'));
    CHECK(byte != 0x7F);
    CHECK_FALSE((byte == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0));
  }
  // What takes their place, and a letter that stays.
  CHECK(count_of(text,
                 "a\xEF\xBF\xBD\\[31mred\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
                 "2J\xEF\xBF\xBD \xC3\xA9") == 9);
}
