// A document and its renderings: each value once, and the same in all of them.

#include "verbs/document/document.hpp"

#include <string>

#include "tests/catch.hpp"
#include "verbs/compare/checkpoints_document.hpp"

namespace {

using namespace mx::verbs;

const Head kHead{"1.2", "abc", "mxact thing 'a b'", "a processor", "2026-01-02T03:04:05Z", 1.25};

Document sample() {
  Document document{"thing", "engine@1"};
  document.field("size", "size", 3);
  document.field("longer", "name", "x", "x, in words");
  document.field("text", {}, {}, "alone");
  document.line();
  document.value("hidden", true);
  Table table{"rows", {{"a", "first"}, in_json("b"), in_text("c"), {"d", "last"}}};
  table.add({1, 2, "shown", Json()});
  table.add({{10, "ten"}, Cell::none(), "", true});
  document.table(std::move(table));
  document.line("a sentence");
  document.note("a remark");
  document.ended(5);
  return document;
}

}  // namespace

TEST_CASE("a document as JSON: the head, then what it says in its order") {
  CHECK(to_json(sample(), kHead).dump() ==
        R"({"schema":"mxact-thing/1","mxact":{"version":"1.2","commit":"abc","command":"mxact thing 'a b'","processor":"a processor",)"
        R"("started":"2026-01-02T03:04:05Z","seconds":1.25},"engine":"engine@1","size":3,"name":"x","hidden":true,)"
        R"("rows":[{"a":1,"b":2,"d":null},{"a":10,"d":true}],"notes":["a remark"],"verdict":"MISTRUSTED","exit_code":5})");
  Document newer{"thing"};
  newer.version = 2;
  CHECK(to_json(newer, kHead)["schema"] == "mxact-thing/2");
  CHECK(body_json(newer).dump() == R"({"exit_code":0})");
}

TEST_CASE("a document as text: labels and columns are padded, no line ends with a blank") {
  CHECK(to_text(sample()) ==
        "size    3\n"
        "longer  x, in words\n"
        "text    alone\n"
        "\n"
        "first  c      last\n"
        "1      shown  -\n"
        "ten           yes\n"
        "a sentence\n"
        "a remark\n");
  Document empty{"thing"};
  empty.table({"rows", {{"a", "a"}}});
  CHECK(to_text(empty).empty());
  // Names are anybody's: none may colour a terminal, and in a column none begins a line.
  Document names{"names"};
  names.field("file", "file", "a\x1b[31m", "a\x1b[31m\nPASSED");
  names.table({"rows", {{"name", "name"}}, {{"b\r\nPASSED"}}});
  names.line("c\x1b[2J\nd\x7f");
  names.note("e\a");
  CHECK(to_text(names) == "file  a\\x1b[31m\\x0aPASSED\nname\nb\\x0d\\x0aPASSED\nc\\x1b[2J\nd\\x7f\ne\\x07\n");
  CHECK(body_json(empty)["rows"].dump() == "[]");
}

TEST_CASE("what has no text of its own is read as it is") {
  CHECK(default_text(Json(-7)) == "-7");
  CHECK(default_text(Json("a")) == "a");
  CHECK(default_text(Json(false)) == "no");
  CHECK(default_text(Json()) == "-");
  CHECK(default_text(Json::array({1, "b"})) == "1, b");
}

TEST_CASE("rows under their names") {
  Table table{{}, {{"name", ""}, in_json("x")}};
  table.add({"one", 1});
  table.add({"two", 2});
  CHECK(table.json_by_name().dump() == R"({"one":{"x":1},"two":{"x":2}})");
}

TEST_CASE("a table that is wider than the terminal wraps its last column, where that leaves room") {
  const std::vector<std::vector<std::string>> rows{{"a", "what it means"}, {"first", "one two three four five six seven"}, {"b", "short"}};
  CHECK(table_text(rows, 27) ==
        "a      what it means\n"
        "first  one two three four\n"
        "       five six seven\n"
        "b      short\n");
  const std::string whole =
      "a      what it means\n"
      "first  one two three four five six seven\n"
      "b      short\n";
  CHECK(table_text(rows) == whole);
  CHECK(table_text(rows, 80) == whole);
  CHECK(table_text(rows, 26) == whole);  // 19 columns would be left
  // Characters count, not bytes; a word that is too long stays whole.
  CHECK(table_text({{"\u00e9\u00e9", "x"}, {"a", "y"}}) == "\u00e9\u00e9  x\na   y\n");
  CHECK(table_text({{"a", "b"}, {"a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b"}}, 24) == "a  b\na  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n   b\n");
}

TEST_CASE("two checkpoints of which nothing was compared have no verdict") {
  mx::checkpoint::CheckpointComparison result{};
  result.first_form = "one form";
  result.second_form = "another";
  result.omitted = {{"mine", "only in the first", true}};
  result.finished = true;
  mx::verbs::Document nothing = mx::verbs::checkpoints_document(result, "a", "b");
  CHECK(nothing.exit_code == 5);
  CHECK(nothing.verdict == "MISTRUSTED");
  // One number that is the same beside it, and they differ.
  result.tensors = result.equal = result.values = 1;
  CHECK(mx::verbs::checkpoints_document(result, "a", "b").exit_code == 1);
  result.omitted.clear();
  CHECK(mx::verbs::checkpoints_document(result, "a", "b").exit_code == 0);
}
