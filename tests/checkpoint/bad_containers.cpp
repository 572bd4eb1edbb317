// Safetensors files that must be refused, each beside a good neighbour that must not. Rules: huggingface/safetensors README, tensor.rs validate.

#include <string>
#include <vector>

#include "support/safetensors.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/draft.hpp"

namespace mx::tests {
namespace {

struct Row {
  std::string id;
  std::string bad;
  std::string good;
  std::vector<std::string> parts;  ///< of the message, beside the file's name
};

/// {"a":{"dtype":DTYPE,"shape":SHAPE,"data_offsets":OFFSETS}}
std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"a":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}
std::string bytes(const std::string& name, const std::string& shape, const std::string& offsets) {
  return '"' + name + R"(":{"dtype":"U8","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}
std::string both(const std::string& a, const std::string& b) { return "{" + a + "," + b + "}"; }
std::string repeated(const std::string& text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

std::vector<Row> length_rows() {
  return {
      {"empty file", "", container("{}"), {"byte 0", "0 bytes", "header length of 8"}},
      {"seven bytes", std::string(7, '\0'), container("{}"), {"byte 0", "7 bytes"}},
      {"GGUF", std::string("GGUF\3\0\0\0\0\0\0\0", 12), container("{}"), {"is a GGUF file, not safetensors"}},
      {"a pickle in a zip archive",
       std::string("PK\3\4\0\0\10\10\0\0", 10),
       container("{}"),
       {"is a zip archive, as torch.save and numpy.savez write, not"}},
      {"config.json", R"({"model_type": "gpt_oss"})", container("{}"), {"is JSON text, not safetensors"}},
      {"length 0", container_claiming(0, ""), container("{}"), {"byte 0", "header length is 0"}},
      {"length 1", container_claiming(1, "{"), container("{}"), {"byte 0", "header length is 1", "'{}'"}},
      {"length beyond the file", container_claiming(3, "{}"), container("{}"), {"byte 0", "header length is 3", "only 2 bytes"}},
      {"length of 90 MB in 100 bytes", container_claiming(90'000'000, "{}", 90), container("{} "), {"byte 0", "90000000", "only 92 bytes"}},
      {"length above the cap", container_claiming(100'000'001, "{}"), container("{}  "), {"byte 0", "100000001", "100000000"}},
      {"length 2^63", container_claiming(std::uint64_t{1} << 63, "{}"), container("{}"), {"byte 0", "9223372036854775808"}},
      {"length 2^64-1", container_claiming(~std::uint64_t{0}, "{}"), container("{}"), {"byte 0", "18446744073709551615"}},
      {"length that wraps with the prefix", container_claiming(~std::uint64_t{0} - 7, "{}"), container("{}"), {"byte 0", "18446744073709551608"}},
      {"length that cuts the header",
       container_claiming(20, one("\"U8\"", "[4]", "[0,4]"), 4),
       container(one("\"U8\"", "[4]", "[0,4]"), 4),
       {"byte 27"}},
      {"length that takes data for header", container_claiming(10, "{}", 8), container("{}        "), {"byte 17", "0x00"}},
  };
}

std::vector<Row> json_rows() {
  const std::string good = container(one("\"U8\"", "[4]", "[0,4]"), 4);
  const auto entry = [](const std::string& name) { return "{" + bytes(name, "[4]", "[0,4]") + "}"; };
  return {
      {"space before the header", container(" {}"), container("{} "), {"byte 8", "0x20", "'{'"}},
      {"an array", container("[]"), container("{}"), {"byte 8", "0x5b", "'{'"}},
      {"open at the end", container("{" + bytes("a", "[4]", "[0,4]"), 4), good, {"byte 60", "not valid JSON"}},
      {"only an open brace", container("{ "), container("{}"), {"byte 8", "0x7b"}},
      {"text after the object", container("{}x"), container("{}"), {"byte 10", "0x78"}},
      {"a second object", container("{}{}"), container("{}"), {"byte 10", "not valid JSON"}},
      {"newline as padding", container("{}\n"), container("{} "), {"byte 10", "0x0a", "spaces"}},
      {"zero as padding", container(std::string("{}\0", 3)), container("{} "), {"byte 10", "0x00"}},
      {"byte order mark", container("\xEF\xBB\xBF{}"), container("{}"), {"byte 8", "0xef"}},
      {"invalid UTF-8", container(entry("\xFF"), 4), container(entry("\xC3\xA9"), 4), {"byte 10", "UTF-8"}},
      {"overlong UTF-8", container(entry("\xC0\xAF"), 4), container(entry("/"), 4), {"byte 10", "UTF-8"}},
      {"surrogate in UTF-8", container(entry("\xED\xA0\x80"), 4), container(entry("\xED\x9F\xBF"), 4), {"byte 11", "UTF-8"}},
      {"lone surrogate escape", container(entry("\\ud800"), 4), container(entry("\\ud83d\\ude00"), 4), {"byte 16", "surrogate"}},
      {"control byte in a name", container(entry("a\nb"), 4), container(entry("a\\nb"), 4), {"byte 11", "control character"}},
      {"comment", container("{/*x*/}"), container("{}"), {"byte 9", "not valid JSON"}},
      {"trailing comma", container("{" + bytes("a", "[4]", "[0,4]") + ",}", 4), good, {"byte 61", "not valid JSON"}},
      {"single quotes", container("{'a':{}}"), container("{}"), {"byte 9", "not valid JSON"}},
      {"NaN in a shape", container(one("\"U8\"", "[NaN]", "[0,4]"), 4), good, {"byte 36", "not valid JSON"}},
      {"hexadecimal", container(one("\"U8\"", "[0x4]", "[0,4]"), 4), good, {"byte 37", "not valid JSON"}},
      {"leading zero", container(one("\"U8\"", "[04]", "[0,4]"), 4), good, {"byte 37", "not valid JSON"}},
      {"number too large for any type", container(one("\"U8\"", "[1e999]", "[0,4]"), 4), good, {"number overflow"}},
      {"integer beyond 64 bits",
       container(one("\"U8\"", "[18446744073709551616]", "[0,4]"), 4),
       good,
       {"byte 36", "'18446744073709551616'", "64 bits"}},
      {"nine levels", container("{\"a\":" + repeated("[", 8) + repeated("]", 8) + "}"), container("{}"), {"byte 20", "deeper than 8"}},
      {"a million levels", container("{\"a\":" + repeated("[", 1'000'000) + "}"), container("{}"), {"byte 20", "deeper than 8"}},
      {"string of 2 MiB",
       container("{\"" + std::string(std::size_t{2} << 20, 'n') + "\":1}"),
       container(entry(std::string(4096, 'n')), 4),
       {"byte 9", "1048576"}},
      {"blanks of 2 MiB",
       container("{" + std::string(std::size_t{2} << 20, ' ') + "}"),
       container("{" + std::string(1000, ' ') + "}"),
       {"byte 8", "1048576"}},
      {"values without end", container("{\"a\":[" + repeated("0,", 100'000) + "0]}"), good, {"holds more values"}},
  };
}

std::vector<Row> name_rows() {
  const std::string a = bytes("a", "[4]", "[0,4]");
  const std::string good = container("{" + a + "}", 4);
  const std::string two = container(both(a, bytes("b", "[4]", "[4,8]")), 8);
  return {
      {"a name twice", container(both(a, bytes("a", "[4]", "[4,8]")), 8), two, {"byte 61", "'a'", "twice"}},
      {"a name twice, once escaped", container(both(a, bytes("\\u0061", "[4]", "[4,8]")), 8), two, {"byte 61", "'a'", "twice"}},
      {"same name, same range", container(both(a, a), 4), good, {"byte 61", "'a'", "twice"}},
      {"a quoted backslash before a repeated name",
       container(both(bytes("\\\\", "[4]", "[0,4]"), bytes("\\\\", "[4]", "[4,8]")), 8),
       two,
       {"byte 62", "twice"}},
      {"dtype twice", container(R"({"a":{"dtype":"U8","dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 4), good, {"byte 27", "'dtype'", "twice"}},
      {"metadata twice",
       container(R"({"__metadata__":{"k":"v"},"__metadata__":{"k":"v"}})"),
       container(R"({"__metadata__":{"k":"v"}})"),
       {"'__metadata__'", "twice"}},
      {"metadata twice, empty", container(R"({"__metadata__":{},"__metadata__":{}})"), container(R"({"__metadata__":{}})"), {"byte 27", "twice"}},
      {"metadata key twice",
       container(R"({"__metadata__":{"k":"v","k":"w"}})"),
       container(R"({"__metadata__":{"k":"v","l":"w"}})"),
       {"byte 33", "'k'", "twice"}},
      {"metadata not an object",
       container(R"({"__metadata__":[]})"),
       container(R"({"__metadata__":{}})"),
       {"byte 9", "__metadata__", "not an object"}},
      {"metadata value not text", container(R"({"__metadata__":{"k":1}})"), container(R"({"__metadata__":{"k":"1"}})"), {"'k'", "not a string"}},
      {"name too long",
       container("{" + bytes(std::string(4097, 'n'), "[4]", "[0,4]") + "}", 4),
       container("{" + bytes(std::string(4096, 'n'), "[4]", "[0,4]") + "}", 4),
       {"'nnnn", "4097 bytes", "4096"}},
  };
}

std::vector<Row> entry_rows() {
  const std::string good = container(one("\"U8\"", "[4]", "[0,4]"), 4);
  const auto bad = [](const std::string& entry) { return container("{\"a\":" + entry + "}", 4); };
  const auto with = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return container(one(dtype, shape, offsets), 4);
  };
  return {
      {"entry is a number", bad("7"), good, {"'a'", "byte 9", "not an object"}},
      {"entry is null", bad("null"), good, {"'a'", "not an object"}},
      {"entry is a list", bad("[]"), good, {"'a'", "not an object"}},
      {"no dtype", bad(R"({"shape":[4],"data_offsets":[0,4]})"), good, {"'a'", "has no dtype"}},
      {"no shape", bad(R"({"dtype":"U8","data_offsets":[0,4]})"), good, {"'a'", "has no shape"}},
      {"no data_offsets", bad(R"({"dtype":"U8","shape":[4]})"), good, {"'a'", "has no data_offsets"}},
      {"unknown key", bad(R"({"dtype":"U8","shape":[4],"data_offsets":[0,4],"strides":[1]})"), good, {"'a'", "unknown key 'strides'"}},
      {"dtype is a number", with("8", "[4]", "[0,4]"), good, {"'a'", "dtype '8'", "not a string"}},
      {"unknown dtype", with("\"BF61\"", "[2]", "[0,4]"), with("\"BF16\"", "[2]", "[0,4]"), {"'a'", "unknown dtype 'BF61'"}},
      {"dtype in lower case", with("\"u8\"", "[4]", "[0,4]"), good, {"'a'", "unknown dtype 'u8'"}},
      {"dtype with a line break", with("\"U8\\n\"", "[4]", "[0,4]"), good, {"'a'", "'U8\\x0a'"}},
      {"shape is a number", with("\"U8\"", "4", "[0,4]"), good, {"'a'", "shape '4'", "not an array"}},
      {"negative size", with("\"U8\"", "[-4]", "[0,4]"), good, {"'a'", "'-4'", "0 to 2^63-1"}},
      {"two negative sizes", with("\"U8\"", "[-2,-2]", "[0,4]"), with("\"U8\"", "[2,2]", "[0,4]"), {"'a'", "'-2'"}},
      {"negative zero", with("\"U8\"", "[4,-0]", "[0,0]"), good, {"'a'", "shape"}},
      {"fractional size", with("\"U8\"", "[4.0]", "[0,4]"), good, {"'a'", "'4.0'", "not an integer"}},
      {"size with exponent", with("\"U8\"", "[4e0]", "[0,4]"), good, {"'a'", "not an integer"}},
      {"size as text", with("\"U8\"", "[\"4\"]", "[0,4]"), good, {"'a'", "not an integer"}},
      {"size null", with("\"U8\"", "[null]", "[0,4]"), good, {"'a'", "'null'"}},
      {"size true", with("\"U8\"", "[true]", "[0,4]"), good, {"'a'", "'true'"}},
      {"size 2^63", with("\"U8\"", "[9223372036854775808]", "[0,4]"), good, {"'a'", "9223372036854775808"}},
      {"33 axes",
       with("\"U8\"", "[4" + repeated(",1", 32) + "]", "[0,4]"),
       with("\"U8\"", "[4" + repeated(",1", 31) + "]", "[0,4]"),
       {"'a'", "33 axes", "32"}},
      {"elements wrap to zero", with("\"U8\"", "[4294967296,4294967296]", "[0,0]"), good, {"'a'", "64 bits"}},
      {"elements wrap to four", with("\"U8\"", "[4611686018427387905,4]", "[0,4]"), good, {"'a'", "64 bits"}},
      {"bits wrap to zero", with("\"F64\"", "[288230376151711744]", "[0,0]"), good, {"'a'", "64 bits"}},
      {"an axis of zero hides the wrap", with("\"U8\"", "[4294967296,4294967296,0]", "[0,0]"), good, {"'a'", "64 bits"}},
      {"half bytes", with("\"F4\"", "[7]", "[0,4]"), with("\"F4\"", "[8]", "[0,4]"), {"'a'", "F4 [7]", "28 bits", "whole number of bytes"}},
      {"six-bit elements", with("\"F6_E2M3\"", "[5]", "[0,4]"), container(one("\"F6_E2M3\"", "[4]", "[0,3]"), 3), {"'a'", "30 bits"}},
      {"shape too small", with("\"U8\"", "[3]", "[0,4]"), good, {"'a'", "U8 [3] takes 3 bytes", "[0, 4] hold 4"}},
      {"shape too large", with("\"U8\"", "[5]", "[0,4]"), good, {"'a'", "U8 [5] takes 5 bytes"}},
      {"shape of another type's size", with("\"BF16\"", "[4]", "[0,4]"), with("\"BF16\"", "[2]", "[0,4]"), {"'a'", "BF16 [4] takes 8 bytes"}},
      {"scalar with four bytes", with("\"U8\"", "[]", "[0,4]"), with("\"F32\"", "[]", "[0,4]"), {"'a'", "U8 [] takes 1 bytes"}},
  };
}

std::vector<Row> range_rows() {
  const auto with = [](const std::string& offsets) { return container(one("\"U8\"", "[4]", offsets), 4); };
  const std::string good = with("[0,4]");
  const std::string a = bytes("a", "[4]", "[0,4]");
  const std::string two = container(both(a, bytes("b", "[4]", "[4,8]")), 8);
  const std::string zero = container(both(a, bytes("b", "[0]", "[4,4]")), 4);
  return {
      {"one offset", with("[0]"), good, {"'a'", "data_offsets '[0]'", "not a pair"}},
      {"three offsets", with("[0,2,4]"), good, {"'a'", "not a pair"}},
      {"offsets as object", with("{}"), good, {"'a'", "not a pair"}},
      {"negative offset", with("[-4,0]"), good, {"'a'", "'-4'"}},
      {"fractional offset", with("[0,4.5]"), good, {"'a'", "'4.5'"}},
      {"reversed", with("[4,0]"), good, {"'a'", "[4, 0]", "end before they begin"}},
      {"beyond the data", with("[1,5]"), good, {"'a'", "[1, 5]", "4 bytes of data"}},
      {"far beyond the data", with("[9223372036854775803,9223372036854775807]"), good, {"'a'", "9223372036854775807", "4 bytes of data"}},
      {"truncated data", container(one("\"U8\"", "[4]", "[0,4]"), 3), good, {"'a'", "[0, 4]", "3 bytes of data"}},
      {"one byte too many", container(one("\"U8\"", "[4]", "[0,4]"), 5), good, {"byte 65", "1 bytes of data follow"}},
      {"data without tensors", container("{}", 4), container("{}"), {"byte 10", "4 bytes of data follow"}},
      {"hole before the first", container(one("\"U8\"", "[4]", "[1,5]"), 5), good, {"'a'", "offset 1", "ends at 0", "a hole"}},
      {"hole in the middle", container(both(a, bytes("b", "[4]", "[5,9]")), 9), two, {"'b'", "offset 5", "ends at 4", "a hole"}},
      {"overlap", container(both(a, bytes("b", "[4]", "[3,7]")), 7), two, {"'b'", "offset 3", "ends at 4", "an overlap"}},
      {"two names for the same bytes", container(both(a, bytes("b", "[4]", "[0,4]")), 4), two, {"'b'", "offset 0", "an overlap"}},
      {"one inside another", container(both(bytes("a", "[8]", "[0,8]"), bytes("b", "[4]", "[2,6]")), 8), two, {"'b'", "an overlap"}},
      {"empty one inside another", container(both(a, bytes("b", "[0]", "[2,2]")), 4), zero, {"'b'", "offset 2", "an overlap"}},
      {"empty one beyond the data", container(both(a, bytes("b", "[0]", "[5,5]")), 4), zero, {"'b'", "[5, 5]", "4 bytes of data"}},
      {"empty one in a hole", container(both(a, bytes("b", "[0]", "[5,5]")), 5), zero, {"'b'", "offset 5", "a hole"}},
      {"a zero size for real bytes", container(one("\"U8\"", "[0]", "[0,4]"), 4), good, {"'a'", "U8 [0] takes 0 bytes"}},
  };
}

void check_rows(const std::vector<Row>& rows) {
  const TemporaryDirectory directory;
  for (const Row& row : rows) {
    INFO(row.id);
    const std::filesystem::path file = directory.path() / "bad.safetensors";
    write_bytes(file, row.bad);
    std::vector<std::string> parts = row.parts;
    parts.push_back(file.string());
    CHECK(input_error_defect(error_of([&] { support::SafetensorsFile{file}; }), parts) == "");
    write_bytes(file, row.good);
    CHECK_NOTHROW(support::SafetensorsFile{file});
  }
}

}  // namespace

TEST_CASE("containers with a wrong header length are refused") { check_rows(length_rows()); }
TEST_CASE("containers with wrong JSON are refused") { check_rows(json_rows()); }
TEST_CASE("containers with repeated or unbounded names are refused") { check_rows(name_rows()); }
TEST_CASE("containers with wrong tensor descriptions are refused") { check_rows(entry_rows()); }
TEST_CASE("containers with wrong ranges are refused") { check_rows(range_rows()); }
TEST_CASE("there are at least 60 bad containers") {
  CHECK(length_rows().size() + json_rows().size() + name_rows().size() + entry_rows().size() + range_rows().size() >= 60);
}

TEST_CASE("every truncation of a container is refused, and no change of one byte does worse than that") {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "t.safetensors";
  const std::string good =
      container(R"({"__metadata__":{"k":"v"},)" + bytes("a", "[4]", "[0,4]") + "," + bytes("b\\u00e9", "[2,1]", "[4,6]") + "}  ", 6);
  write_bytes(file, good);
  REQUIRE_NOTHROW(support::SafetensorsFile{file});
  for (std::size_t size = 0; size < good.size(); ++size) {
    INFO(size);
    write_bytes(file, good.substr(0, size));
    REQUIRE(input_error_defect(error_of([&] { support::SafetensorsFile{file}; }), {file.string(), "byte"}).empty());
  }
  std::size_t refused = 0;
  for (std::size_t at = 0; at + 6 < good.size(); ++at) {
    for (const char byte : {'\0', '\x80', '\xff', '"', '\\', '{', ']', ',', '9', '-', ' '}) {
      INFO(at << " " << static_cast<int>(byte));
      std::string changed = good;
      changed[at] = byte;
      write_bytes(file, changed);
      const std::optional<Error> error = error_of([&] { support::SafetensorsFile{file}; });
      if (error) REQUIRE(input_error_defect(error, {file.string()}).empty());
      refused += error ? 1U : 0U;
    }
  }
  CHECK(refused > 1000);
}

}  // namespace mx::tests
