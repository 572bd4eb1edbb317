// The strict INFO reader: what it takes, and what it says about files that are wrong.

#include "support/info.hpp"

#include <string>

#include "support/json.hpp"
#include "tests/catch.hpp"
#include "tests/engine/vllm/expect_error.hpp"

using mx::support::InfoNode;
using mx::tests::message_of;
using mx::tests::says;

namespace {

std::string refused(const std::string& text) {
  return message_of(mx::ErrorCode::input, [&] { InfoNode::parse(text, "f.info"); });
}

}  // namespace

TEST_CASE("values, blocks, comments and quotes are read") {
  const InfoNode root =
      InfoNode::parse("; comment\na 1 ; after\nb {\r\n  c \"two words ; { }\" \n d \"a\\tb\\\"\"}\n\ne\n{ f true }\ng { h 1 } i x\n", "f.info");
  CHECK(root.integer("a", 0, 5) == 1);
  const auto b = root.child("b");
  REQUIRE(b);
  CHECK(b->text("c") == "two words ; { }");
  CHECK(b->text("d") == "a\tb\"");
  CHECK(b->where("c") == "f.info:4");
  CHECK(root.child("e")->boolean_or("f", false));
  CHECK(root.child("e")->where() == "f.info:7");
  CHECK(root.child("g")->integer("h", 0, 1) == 1);
  CHECK(root.text("I") == "x");
  CHECK(root.text_or("absent", "z") == "z");
  CHECK(root.integer_or("absent", 7, 0, 9) == 7);
  CHECK_FALSE(root.child("absent"));
  CHECK_FALSE(root.has("absent"));
  root.finish();
}

TEST_CASE("a key with a dot is one name") {
  const InfoNode root = InfoNode::parse("a.b 1\nb 2\n", "f.info");
  CHECK(root.text("b") == "2");
  CHECK(says(message_of(mx::ErrorCode::input, [&] { root.finish(); }), "f.info:1: unknown key 'a.b'"));
}

TEST_CASE("blocks whose keys are data are listed in the order of the file, and count as read") {
  const InfoNode root = InfoNode::parse("b { x 1 }\na-1 { }\nc", "f.info");
  const auto blocks = root.blocks();
  REQUIRE(blocks.size() == 3);
  CHECK(blocks[0].first == "b");
  CHECK(blocks[1].first == "a-1");
  CHECK(blocks[2].first == "c");
  CHECK(blocks[1].second.where() == "f.info:2");
  CHECK(says(message_of(mx::ErrorCode::input, [&] { root.finish(); }), "f.info:1: unknown key of b 'x'"));
  CHECK(blocks[0].second.text("x") == "1");
  CHECK(blocks[1].second.blocks().empty());
  root.finish();
  const InfoNode value = InfoNode::parse("a { }\nb 1\n", "f.info");
  CHECK(says(message_of(mx::ErrorCode::input, [&] { value.blocks(); }), "f.info:2: b takes a block in braces, not a value"));
}

TEST_CASE("an empty file is an empty block") {
  for (const char* text : {"", "; nothing"}) {
    const InfoNode node = InfoNode::parse(text, "f.info");
    CHECK(node.entries().empty());
    CHECK_NOTHROW(node.finish());
  }
}

TEST_CASE("a byte order mark before the first line is skipped, and stands nowhere else") {
  const InfoNode node = InfoNode::parse("\xEF\xBB\xBFtp 2\n", "f.info");
  CHECK(node.integer_or("tp", 1, 1, 8) == 2);
  CHECK_NOTHROW(node.finish());
  CHECK(says(message_of(mx::ErrorCode::input,
                        [] {
                          InfoNode::parse(
                              "tp 2\n\xEF\xBB\xBF"
                              "dp 2\n",
                              "f.info");
                        }),
             "f.info:2: "));
}

TEST_CASE("files that are no INFO of ours") {
  struct Row {
    std::string text;
    const char* part;
  };
  const Row rows[] = {
      {"a {\n b 1\n", "f.info:1: '{' is never closed"},
      {"a 1\n}\n", "f.info:2: '}' closes nothing"},
      {"{\n}", "f.info:1: '{' must follow a key"},
      {"a { }\n{ }", "f.info:2: '{' must follow a key"},
      {"a 1 {\n b 2 }", "'a' has a value and a block"},
      {"#include \"other.info\"", "f.info:1: directives such as #include"},
      {"a 1\n  #define x", "f.info:2: directives"},
      {"a 1\nb 2\na 3\n", "f.info:3: 'a' is already given in line 1"},
      {"use_ep 1\nUSE-EP 2\n", "already given in line 1"},
      {"a {\n b {\n  c 1\n  d 2\n  C 3\n }\n}\n", "f.info:5: 'C' is already given in line 3"},
      {"a 1 2\n", "f.info:1: '2' is no key"},
      {"a{ b 1 }", "braces need blanks"},
      {"a { b 1}", "braces need blanks"},
      {"a \"open\n", "not closed on its line"},
      {"a \"x\" \\\n \"y\"", "f.info:1: a backslash stands within quotes only; continued lines are not supported"},
      {"a \"x\"\\\n", "must be followed by a blank"},
      {"a \"\\q\"\n", "f.info:1: unknown escape"},
      {"\"a\" 1\n", "quoted text is no key"},
      {std::string("a 1\nb \0 2\n", 10), "f.info:2: a zero byte"},
      {"a { b { c { d { e { f { g { h { i { j 1 } } } } } } } } }", "nest deeper than 8"},
      {std::string((1 << 20) + 1, ' '), "larger than 1048576 bytes"},
  };
  for (const Row& row : rows) {
    INFO(row.text.substr(0, 60));
    const std::string message = refused(row.text);
    INFO(message);
    CHECK(says(message, row.part));
  }
}

TEST_CASE("deep nesting is refused before it can hurt") {
  CHECK(refused("a { b { c { d { e { f { g { h { i 1 } } } } } } } }") == "no error");
  std::string text;
  for (int i = 0; i < 200000; ++i) text += "a{\n";
  CHECK(says(refused(text), "braces need blanks"));
  text.clear();
  for (int i = 0; i < 200000; ++i) text += "a {\n";
  CHECK(says(refused(text), "f.info:9: blocks nest deeper than 8"));
}

TEST_CASE("values that break their rule") {
  const InfoNode root = InfoNode::parse("n 12x\nbig 99\nb maybe\nblock { x 1 }\nc triton\nempty\nhuge 99999999999999999999\n", "f.info");
  const auto message = [&](const auto& read) { return message_of(mx::ErrorCode::input, [&] { read(root); }); };
  constexpr std::string_view kKnown[] = {"tritonx", "marlin"};
  CHECK(message([](const InfoNode& r) { r.integer("n", 0, 50); }) == "f.info:1: n is '12x', must be a whole number in [0, 50]");
  CHECK(message([](const InfoNode& r) { r.integer("big", 0, 50); }) == "f.info:2: big is '99', must be a whole number in [0, 50]");
  CHECK(says(message([](const InfoNode& r) { r.integer("huge", 0, 50); }), "f.info:7"));
  CHECK(message([](const InfoNode& r) { r.boolean_or("b", true); }) == "f.info:3: b is 'maybe', must be true or false");
  CHECK(says(message([](const InfoNode& r) { r.text("block"); }), "f.info:4: block takes a value, not a block"));
  CHECK(says(message([](const InfoNode& r) { r.child("n"); }), "f.info:1: n takes a block"));
  CHECK(says(message([&](const InfoNode& r) { r.choice_or("c", "marlin", kKnown); }), "did you mean tritonx"));
  CHECK(message([](const InfoNode& r) { r.text("empty"); }) == "f.info:6: empty has no value");
  CHECK(message([](const InfoNode& r) { r.text("absent"); }) == "f.info:1: absent is missing");
}

TEST_CASE("a key that nobody asked for is an error with the nearest one that somebody did") {
  const InfoNode root = InfoNode::parse("hidden 1\nlayer {\n experst 3\n zzzzzz 1\n}\n", "f.info");
  root.integer("hidden", 0, 9);
  const auto layer = root.child("layer");
  layer->integer_or("experts", 1, 0, 9);
  const std::string message = message_of(mx::ErrorCode::input, [&] { root.finish(); });
  CHECK(says(message, "f.info:3: unknown key of layer 'experst' (did you mean experts?)"));
  CHECK(says(message_of(mx::ErrorCode::input, [] { InfoNode::load("/nonexistent/x.info"); }), "x.info"));
}

TEST_CASE("a nested object is read as a file is, and wrong ones are refused in its words") {
  using mx::support::Json;
  const InfoNode root = InfoNode::of(Json{{"a", 1}, {"b", {{"c", "two words ; { }"}, {"f", true}}}, {"env", {{"X", -3}}}, {"i", "x"}}, "object");
  CHECK(root.integer("A", 0, 5) == 1);
  const auto b = root.child("b");
  REQUIRE(b);
  CHECK(b->text("c") == "two words ; { }");
  CHECK(b->boolean_or("f", false));
  CHECK(b->where("c") == "object");
  CHECK(root.child("env")->entries().front().second == "-3");
  CHECK(message_of(mx::ErrorCode::input, [&] { root.finish(); }) == "object: unknown key 'i' (known: A b env)");
  const auto refused_object = [](const Json& object) { return message_of(mx::ErrorCode::input, [&] { InfoNode::of(object, "object").finish(); }); };
  CHECK(refused_object(Json{{"a", nullptr}}) == "object: a is null, must be text, a number, a flag or a block");
  CHECK(refused_object(Json{{"a", {{"b", Json::array({1})}}}}) == "object: a.b is an array, must be text, a number, a flag or a block");
  CHECK(refused_object(Json{{"a", 1}, {"A", 2}}) == "object: 'A' is already given as 'a'");
  CHECK(refused_object(Json{{"a b", 1}}) == "object: 'a b' is no key");
  CHECK(refused_object(Json(3)) == "object: is number, must be an object");
  CHECK(refused_object(Json{{"a", std::string("x\0y", 3)}}) == "object: a has a zero byte");
  Json deep{{"a", 1}};
  for (int i = 0; i < 9; ++i) deep = Json{{"a", deep}};
  CHECK(refused_object(deep) == "object: blocks nest deeper than 8");
}
