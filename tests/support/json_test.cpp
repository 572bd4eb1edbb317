// The JSON value: how it is built, copied and compared, what it refuses to be read as, and its text.

#include "support/json.hpp"

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "support/python_json.hpp"
#include "tests/catch.hpp"
#include "tests/json_text.hpp"
#include "tests/layout/errors.hpp"

namespace mx::tests {
namespace {

using support::Json;

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kTwoTo63 = std::uint64_t{1} << 63;

/// Text of the Error(input) that a call throws; "" where it throws none.
std::string refusal(const std::function<void()>& call) {
  const std::optional<Thrown> thrown = thrown_by(call);
  return thrown && thrown->code == ErrorCode::input ? thrown->text : "";
}

}  // namespace

// Nemotron-H's configurations have them; Python's json.load reads and writes them.
TEST_CASE("infinities that Python writes are texts, outside of texts, and bytes keep their places") {
  const auto read = [](const std::string& text) {
    return support::parse_python_json({text.begin(), text.end()}, {.bytes = 1000, .depth = 4, .memory = 100000}, "config.json");
  };
  const std::string text = R"({"limit": [0.0, Infinity, -Infinity], "named": "Infinity \"-Infinity", "after": 1})";
  CHECK(read(text).dump() == R"({"limit":[0.0,"inf","-inf"],"named":"Infinity \"-Infinity","after":1})");
  CHECK(refusal([&] { static_cast<void>(read(R"({"limit": Infinity, "experts": NaN})")); }).find("byte 31") != std::string::npos);
  CHECK(refusal([&] { static_cast<void>(read(R"({"limit": Inf})")); }) != "");
}

TEST_CASE("JSON is built in the order in which it is written") {
  const Json json{{"z", 1}, {"a", Json::array({"x", nullptr, true})}, {"m", {{"b", 2.5}, {"a", Json::object()}}}};
  CHECK(json.dump() == R"({"z":1,"a":["x",null,true],"m":{"b":2.5,"a":{}}})");
  CHECK(Json().dump() == "null");
  CHECK(Json::array({7}).dump() == "[7]");
  CHECK(Json(std::vector<std::string>{"b", "a"}).dump() == R"(["b","a"])");
  CHECK(Json(std::map<std::string, bool>{{"b", true}, {"a", false}}).dump() == R"({"a":false,"b":true})");
  Json grown;
  grown["z"] = 1;
  grown["a"]["b"].push_back("x");
  grown["z"] = 2;
  CHECK(grown.dump() == R"({"z":2,"a":{"b":["x"]}})");
}

TEST_CASE("copies of JSON are independent, and what was moved away is null") {
  Json first{{"list", Json::array({1})}, {"text", "a"}};
  Json second = first;
  second["list"].push_back(2);
  second["text"] = "b";
  CHECK(first.dump() == R"({"list":[1],"text":"a"})");
  CHECK(second.dump() == R"({"list":[1,2],"text":"b"})");
  const Json third = std::move(first);
  CHECK(first.is_null());  // NOLINT(bugprone-use-after-move): this is what is said of it
  CHECK(third.dump() == R"({"list":[1],"text":"a"})");
  first = std::move(second);
  CHECK(second.is_null());  // NOLINT(bugprone-use-after-move)
  // A value takes from itself.
  first["copy"] = first["list"];
  CHECK(first.dump() == R"({"list":[1,2],"text":"b","copy":[1,2]})");
  first = first["text"];
  CHECK(first.dump() == R"("b")");
}

TEST_CASE("numbers of JSON are equal by value, other kinds are not mixed") {
  CHECK(Json(4) == Json(4U));
  CHECK(Json(4) == Json(4.0));
  CHECK(Json(4U) == Json(4.0));
  CHECK(Json(0.0) == Json(-0.0));
  CHECK(Json(kTwoTo63) == Json(9223372036854775808.0));
  CHECK(Json(kLowest) == Json(-9223372036854775808.0));
  CHECK(Json(kTwoTo63) != Json(kLowest));
  CHECK(Json(-1) != Json(kLargest));
  CHECK(Json(kLargest) != Json(-1));
  CHECK(Json(9007199254740993) != Json(9007199254740992));
  CHECK(Json(std::nan("")) != Json(std::nan("")));
  CHECK(Json(1) != Json(true));
  CHECK(Json(0) != Json(nullptr));
  CHECK(Json("1") != Json(1));
  CHECK(Json::array({1, 2}) == Json::array({1.0, 2U}));
  CHECK(Json::array() != Json::object());
  CHECK(Json{{"a", 1}, {"b", 2}} != Json{{"b", 2}, {"a", 1}});
}

TEST_CASE("JSON is read as what it is, and an error names a value that is something else") {
  CHECK(Json(-128).get<std::int8_t>() == -128);
  CHECK(Json(255).get<std::uint8_t>() == 255);
  CHECK(Json(kTwoTo63 - 1).get<std::int64_t>() == std::numeric_limits<std::int64_t>::max());
  CHECK(Json(kLargest).get<std::uint64_t>() == kLargest);
  CHECK(Json(5).get<double>() == 5.0);
  CHECK(Json(true).get<bool>());
  CHECK(Json("x").get<std::string>() == "x");
  CHECK(Json::array({3, 4}).get<std::vector<int>>() == std::vector<int>{3, 4});
  CHECK(refusal([] { Json(-129).get<std::int8_t>(); }) == "-129 is no integer that fits");
  CHECK(refusal([] { Json(256).get<std::uint8_t>(); }) == "256 is no integer that fits");
  CHECK(refusal([] { Json(kTwoTo63).get<std::int64_t>(); }) == "9223372036854775808 is no integer of 64 bits with a sign");
  CHECK(refusal([] { Json(-1).get<std::uint64_t>(); }) == "-1 is no integer of 64 bits without a sign");
  CHECK(refusal([] { Json(1.0).get<int>(); }) == "1.0 is no integer of 64 bits with a sign");
  CHECK(refusal([] { Json("7").get<int>(); }) == "\"7\" is no integer of 64 bits with a sign");
  CHECK(refusal([] { Json(true).get<double>(); }) == "true is no number");
  CHECK(refusal([] { Json(1).get<bool>(); }) == "1 is no true or false");
  CHECK(refusal([] { Json().get<std::string>(); }) == "null is no text");
  CHECK(refusal([] { Json::array({1, "x"}).get<std::vector<int>>(); }) == "\"x\" is no integer of 64 bits with a sign");
  CHECK(refusal([] { Json("x").size(); }) == "\"x\" is no array");
  CHECK(refusal([] { Json{{"a", 1}}.begin(); }) == "{\"a\":1} is no array");
  CHECK(refusal([] { Json::array({1}).items(); }) == "[1] is no object");
}

TEST_CASE("members and elements of JSON are found, changed and removed") {
  Json json{{"a", 1}, {"b", 2}, {"c", 3}};
  CHECK(json.find("b") == &json.at("b"));
  CHECK(json.find("d") == nullptr);
  CHECK(Json::array({"a"}).find("a") == nullptr);
  CHECK(json.contains("c"));
  CHECK_FALSE(json.contains("d"));
  CHECK(refusal([&] { json.at("d"); }) == R"({"a":1,"b":2,"c":3} is no object with a member 'd')");
  CHECK(refusal([&] { std::as_const(json)["d"]; }) == R"({"a":1,"b":2,"c":3} is no object with a member 'd')");
  json.update({{"d", 4}, {"a", 5}});
  CHECK(json.dump() == R"({"a":5,"b":2,"c":3,"d":4})");
  json.erase("b");
  json.erase("e");
  CHECK(json.dump() == R"({"a":5,"c":3,"d":4})");
  Json list = Json::array({1, 2, 3});
  list.erase(1);
  list.back() = 4;
  list[0] = 0;
  CHECK(list.dump() == "[0,4]");
  CHECK(refusal([&] { list[2]; }) == "[0,4] is no array with an element 2");
  CHECK(refusal([&] { list.erase(2); }) == "[0,4] is no array with an element 2");
  CHECK(refusal([&] { list["a"] = 1; }) == "[0,4] is no object");
  CHECK(refusal([&] { json.push_back(1); }) == R"({"a":5,"c":3,"d":4} is no array)");
}

TEST_CASE("the text of JSON, in one line and indented, is read back as the same value") {
  const Json json{{"numbers", Json::array({0.1, 1e-05, 2.0, -0.0, kLargest, kLowest})}, {"text", "\"\\\n\x01é"}, {"empty", Json::array()}};
  CHECK(json.dump() == R"({"numbers":[0.1,1e-05,2.0,-0.0,18446744073709551615,-9223372036854775808],"text":"\"\\\n\u0001é","empty":[]})");
  CHECK(Json{{"a", Json::array({1, Json::object()})}, {"b", {{"c", "d"}}}}.dump(2) ==
        "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": {\n    \"c\": \"d\"\n  }\n}");
  CHECK(parsed(json.dump()) == json);
  CHECK(parsed(json.dump(1)) == json);
  CHECK(Json::array({std::nan(""), INFINITY, -INFINITY}).dump() == "[null,null,null]");
  CHECK(refusal([] { Json("a\xFF").dump(); }) == "text that is not UTF-8 cannot be written as JSON");
  CHECK(Json("a\xFFz\xC3").dump(-1, Json::BadText::replaced) == "\"a\uFFFDz\uFFFD\"");
  std::ostringstream stream;
  stream << Json::array({1, "x"});
  CHECK(stream.str() == R"([1,"x"])");
}

}  // namespace mx::tests
