// Relations and skip rules: each at its edge, where the next value would fall on the other side.

#include <limits>

#include "golden/witness/layouts.hpp"
#include "golden/witness/relation.hpp"
#include "tests/catch.hpp"
#include "tests/golden/witness/scratch.hpp"
#include "tests/json_text.hpp"

namespace mx::tests::witness {
namespace {

golden::Tensor tensor(std::string_view dtype, std::vector<std::int64_t> shape, const std::vector<std::uint64_t>& words) {
  golden::Tensor made{&golden::dtype_named(dtype), std::move(shape), {}};
  made.bytes.resize(words.size() * static_cast<std::size_t>(made.dtype->bytes));
  for (std::size_t i = 0; i < words.size(); ++i) made.set_word(static_cast<std::int64_t>(i), words[i]);
  return made;
}

struct Row {
  std::string relation;
  std::string dtype;
  std::vector<std::uint64_t> recorded;
  std::vector<std::uint64_t> model;
  std::int64_t differing;
};

// A row of each relation that holds by its last unit and one that fails by it. Expected counts by hand from the definitions.
const Row kRows[] = {
    {R"({"kind":"bits"})", "f32", {0x3F800000, 0x7FC00000}, {0x3F800000, 0x7FC00000}, 0},
    {R"({"kind":"bits"})", "f32", {0x00000000, 0x7FC00000}, {0x80000000, 0x7FC00001}, 2},
    {R"({"kind":"bits_nan_equal"})", "f32", {0x7FC00000, 0xFF800001}, {0x7F800001, 0x7FFFFFFF}, 0},
    {R"({"kind":"bits_nan_equal"})", "f32", {0x7FC00000, 0x7F800000}, {0x7F800000, 0x7F800001}, 2},
    {R"({"kind":"bits_nan_equal"})", "bf16", {0x7FC0}, {0xFFFF}, 0},
    {R"({"kind":"bits_nan_equal"})", "u8", {0x7F}, {0xFF}, 1},
    {R"({"kind":"ulp","max":1})", "f32", {0x3F800000, 0x3F800000, 0x00000000}, {0x3F800001, 0x3F7FFFFF, 0x80000001}, 0},
    {R"({"kind":"ulp","max":1})", "f32", {0x3F800000, 0x00000001}, {0x3F800002, 0x80000001}, 2},
    {R"({"kind":"ulp","max":3})", "u8", {0x01, 0x01}, {0x82, 0x83}, 1},
    {R"({"kind":"ulp","max":0})", "u8", {0x00}, {0x80}, 0},
    {R"({"kind":"steps","max":1,"max_count":2})", "u8", {0x10, 0x20, 0x30}, {0x11, 0x1F, 0x30}, 0},
    {R"({"kind":"steps","max":1,"max_count":2})", "u8", {0x10, 0x20, 0x30}, {0x11, 0x1F, 0x31}, 1},
    {R"({"kind":"steps","max":1,"max_count":2})", "u8", {0x10, 0x20, 0x30}, {0x12, 0x20, 0x30}, 1},
    // Row maximum 4: 2^-1 of it is 2. |3 - 1| = 2 holds, |1 - (-1.000000119)| does not.
    {R"({"kind":"rel","of":"row_max","max_pow2":-1})", "f32", {0x40800000, 0x3F800000}, {0x40800000, 0x40400000}, 0},
    {R"({"kind":"rel","of":"row_max","max_pow2":-1})", "f32", {0x40800000, 0x3F800000}, {0x40800000, 0xBF800001}, 1},
    {R"({"kind":"rel","of":"row_max","max_pow2":-1})", "f32", {0x40800000, 0x3F800000}, {0x40800000, 0x7FC00000}, 1},
    {R"({"kind":"rel","of":"row_max","max_pow2":-1})", "f32", {0x7F800000, 0x3F800000}, {0x7F800000, 0x40400000}, 1},
    {R"({"kind":"rel","of":"row_max","max_pow2":-1})", "f32", {0x7F800000, 0x3F800000}, {0x40400000, 0x3F800000}, 1},
    {R"({"kind":"rel","of":"row_max","max_pow2":-1})", "f32", {0x7F800000, 0x3F800000}, {0x7F800000, 0x3F800000}, 0},
    {R"({"kind":"rel","of":"row_max","max_pow2":0})", "f64", {0x3FF0000000000000, 0}, {0x4000000000000000, 0}, 0},
    {R"({"kind":"ids_as_set"})", "i32", {1, 2, 3}, {3, 1, 2}, 0},
    {R"({"kind":"ids_as_set"})", "i32", {1, 2, 3}, {3, 1, 4}, 2},
};

TEST_CASE("each relation holds up to its edge and not beyond", "[witness]") {
  for (const Row& row : kRows) {
    INFO(row.relation << " on " << row.dtype);
    const std::vector<std::int64_t> shape{1, static_cast<std::int64_t>(row.recorded.size())};
    const golden::Recorded recorded{"y", tensor(row.dtype, shape, row.recorded), golden::read_relation(parsed(row.relation), "y", "here"), {}, {},
                                    {}};
    golden::EntryResult result;
    golden::compare(recorded, {tensor(row.dtype, shape, row.model), nullptr, false, {}}, 1, "here", result);
    CHECK(result.differing == row.differing);
    CHECK(result.compared == static_cast<std::int64_t>(row.recorded.size()));
    CHECK(result.differences.size() == (row.differing > 0 ? 1U : 0U));
  }
}

TEST_CASE("a relative bound speaks of its own row", "[witness]") {
  // Row 0 has maximum 2^10, row 1 has 1: a difference of 1 is within 2^-10 of the first alone.
  const golden::Recorded recorded{"y",
                                  tensor("f32", {2, 2}, {0x44800000, 0, 0x3F800000, 0}),
                                  golden::read_relation(parsed(R"({"kind":"rel","of":"row_max","max_pow2":-10})"), "y", ""),
                                  {},
                                  {},
                                  {}};
  golden::EntryResult result;
  golden::compare(recorded, {tensor("f32", {2, 2}, {0x44800000, 0x3F800000, 0x3F800000, 0x3F800000}), nullptr, false, {}}, 4, "", result);
  REQUIRE(result.differing == 1);
  CHECK(result.differences[0].find("y[1][1]") != std::string::npos);
}

TEST_CASE("the words of a relation are exactly those of its row", "[witness]") {
  const auto reason = [](const char* text) -> std::string {
    try {
      golden::read_relation(parsed(text), "y", "here");
      return "";
    } catch (const golden::Unmodelled& unknown) {
      return std::string("unmodelled: ") + unknown.what();
    } catch (const Error& error) {
      return std::string("error: ") + error.what();
    }
  };
  CHECK(reason(R"({"kind":"near"})") == "unmodelled: unknown relation 'near'");
  CHECK(reason(R"({"kind":"bits","max":1})") == "unmodelled: unknown key 'max' in relation of y");
  CHECK(reason(R"({"kind":"ulp"})") == "error: here: relation of y has no 'max'");
  CHECK(reason(R"({"kind":"ulp","max":-1})").starts_with("unmodelled: relation of y 'max' is -1"));
  CHECK(reason(R"({"kind":"ulp","max":1.5})") == "unmodelled: relation of y 'max' must be an integer, not 1.5");
  CHECK(reason(R"({"kind":"rel","of":"column_max","max_pow2":-1})") == "unmodelled: unknown word 'column_max' for relation key 'of'");
  CHECK(reason(R"({"kind":"steps","max":1,"max_count":0})").empty());
}

TEST_CASE("skip rules leave out what they say and nothing else", "[witness]") {
  // 2^-48 exactly, just below, zero, NaN, Inf, minus a tiny one.
  const std::vector<std::uint64_t> words{0x27800000, 0x277FFFFF, 0, 0x7FC00000, 0x7F800000, 0x80000001};
  const golden::Tensor x = tensor("f32", {6}, words);
  golden::TensorSpec output;
  output.dtype = &golden::dtype_named("u8");
  output.shape = {6};
  output.elements = 6;
  const auto skipped = [&](const char* rule) {
    return golden::skipped_elements(golden::read_skip_rule(parsed(rule), "codes", ".", ""), output, &x, ".", "");
  };
  CHECK(skipped(R"({"abs_below_pow2":-48})") == std::vector<bool>{false, true, true, false, false, true});
  CHECK(skipped(R"({"input_nan":true})") == std::vector<bool>{false, false, false, true, false, false});
  CHECK(skipped(R"({"input_nan":false})") == std::vector<bool>(6, false));
  CHECK(skipped(R"({"abs_below_pow2":-48,"input_nan":true})") == std::vector<bool>{false, true, true, true, false, true});
}

TEST_CASE("generated bytes and digests have their published values", "[witness]") {
  const std::vector<std::uint8_t> bytes = golden::generated_bytes(0, 8);
  CHECK(bytes == std::vector<std::uint8_t>{0xAF, 0xF4, 0x4F, 0xEC, 0x9B, 0xEA, 0xE1, 0x3C});
  CHECK(golden::fnv1a64({}) == 0xCBF29CE484222325U);
  const std::string foobar = "foobar";
  CHECK(golden::fnv1a64(std::vector<std::uint8_t>(foobar.begin(), foobar.end())) == 0x85944171F73967E8U);
}

}  // namespace
}  // namespace mx::tests::witness
