// Files, JSON and the safetensors container: what must work, and what a writer may do to a file.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "support/file.hpp"
#include "support/json.hpp"
#include "support/quote.hpp"
#include "support/safetensors.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/draft.hpp"

namespace mx::tests {
namespace {

std::vector<std::uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }
std::string text_of(std::span<const std::uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }

std::vector<std::string> names_in(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

support::Json parse(std::string_view text, const support::JsonLimits& limits = {.bytes = 1000}) {
  return support::parse_json(bytes_of(text), limits, "here", 100);
}

struct BadText {
  std::string text;
  std::vector<std::string> parts;
};

}  // namespace

TEST_CASE("files are read whole and within bounds") {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "file";
  write_bytes(file, "12345");
  CHECK(text_of(support::read_file(file, 5)) == "12345");
  CHECK(support::file_size(file) == 5);
  CHECK(input_error_defect(error_of([&] { support::read_file(file, 4); }), {file.string(), "5 bytes", "4 allowed"}) == "");
  write_bytes(file, "");
  CHECK(support::read_file(file, 0).empty());
  CHECK(support::MappedFile(file).bytes().empty());
}

TEST_CASE("what is no regular file is refused without waiting") {
  const TemporaryDirectory directory;
  const std::filesystem::path pipe = directory.path() / "pipe", loop = directory.path() / "loop";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::filesystem::create_symlink(loop, loop);
  const std::vector<std::pair<std::filesystem::path, std::string>> rows{{pipe, "is a pipe"},
                                                                        {directory.path(), "is a directory"},
                                                                        {"/dev/zero", "is a device"},
                                                                        {directory.path() / "none", "No such file"},
                                                                        {loop, "cannot be opened"}};
  for (const auto& [path, part] : rows) {
    INFO(path.string());
    const std::filesystem::path& where = path;
    CHECK(input_error_defect(error_of([&] { support::read_file(where, 10); }), {where.string(), part}) == "");
    CHECK(input_error_defect(error_of([&] { support::file_size(where); }), {where.string(), part}) == "");
    CHECK(input_error_defect(error_of([&] { support::MappedFile{where}; }), {where.string(), part}) == "");
  }
}

TEST_CASE("a mapped file keeps its bytes when it is moved") {
  const TemporaryDirectory directory;
  write_bytes(directory.path() / "a", "aaaa");
  write_bytes(directory.path() / "b", "bb");
  support::MappedFile a(directory.path() / "a"), b(directory.path() / "b");
  const std::span<const std::uint8_t> view = a.bytes();
  support::MappedFile moved(std::move(a));
  CHECK(moved.bytes().data() == view.data());
  b = std::move(moved);
  CHECK(text_of(b.bytes()) == "aaaa");
  CHECK(b.path().filename() == "a");
}

TEST_CASE("a file is written whole, with the usual permissions, and nothing beside it") {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "out";
  const mode_t mask = ::umask(022);
  support::write_file(file, bytes_of("new"), false);
  ::umask(mask);
  CHECK(read_bytes(file) == "new");
  struct stat status {};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0644);
  CHECK(names_in(directory.path()) == std::vector<std::string>{"out"});
}

TEST_CASE("a file is replaced by force only") {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "out";
  write_bytes(file, "old");
  CHECK(input_error_defect(error_of([&] { support::write_file(file, bytes_of("new"), false); }), {file.string(), "exists", "force"}) == "");
  CHECK(read_bytes(file) == "old");
  support::write_file(file, bytes_of("new"), true);
  CHECK(read_bytes(file) == "new");
  CHECK(names_in(directory.path()) == std::vector<std::string>{"out"});
}

TEST_CASE("only regular files are replaced") {
  const TemporaryDirectory directory;
  const std::filesystem::path link = directory.path() / "link", inside = directory.path() / "directory";
  std::filesystem::create_symlink("nowhere", link);
  std::filesystem::create_directory(inside);
  CHECK(input_error_defect(error_of([&] { support::write_file(link, bytes_of("new"), true); }), {link.string(), "symbolic link"}) == "");
  CHECK(input_error_defect(error_of([&] { support::write_file(inside, bytes_of("new"), true); }), {inside.string(), "is a directory"}) == "");
  CHECK(names_in(directory.path()) == std::vector<std::string>{"directory", "link"});
}

TEST_CASE("a refusal of the system leaves the old file and nothing else") {
  const TemporaryDirectory directory;
  const std::filesystem::path absent = directory.path() / "absent" / "out";
  const std::optional<Error> error = error_of([&] { support::write_file(absent, bytes_of("new"), false); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::resource);
  CHECK(std::string(error->what()).find(absent.string()) != std::string::npos);

  // A disk that fills up in the middle: the limit on file sizes makes write(2) fail after 4096 bytes.
  const std::filesystem::path file = directory.path() / "out";
  write_bytes(file, "old");
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::optional<Error> full = error_of([&] { support::write_file(file, std::vector<std::uint8_t>(100'000, 'n'), true); });
    const bool told = full && full->code() == ErrorCode::resource && std::string(full->what()).find("byte 4096 of 100000") != std::string::npos;
    ::_exit(told ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(read_bytes(file) == "old");
  CHECK(names_in(directory.path()) == std::vector<std::string>{"out"});
}

TEST_CASE("a directory that may not be written is a refusal of the system") {
  const TemporaryDirectory directory;
  REQUIRE(::chmod(directory.path().c_str(), 0555) == 0);
  // Nothing is forbidden to root: the write is tried as somebody else.
  constexpr uid_t kNobody = 65534;
  const uid_t user = ::geteuid();
  if (user == 0) REQUIRE(::seteuid(kNobody) == 0);
  const std::optional<Error> error = error_of([&] { support::write_file(directory.path() / "out", bytes_of("new"), false); });
  if (user == 0) REQUIRE(::seteuid(0) == 0);
  std::filesystem::permissions(directory.path(), std::filesystem::perms::owner_all);
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::resource);
  CHECK(names_in(directory.path()).empty());
}

TEST_CASE("a writer that is killed leaves the old file or the new one") {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "out";
  const std::vector<std::uint8_t> old_bytes(300'000, 'o'), new_bytes(400'000, 'n');
  support::write_file(file, old_bytes, false);
  for (int delay = 0; delay < 20; ++delay) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      for (;;) {
        support::write_file(file, new_bytes, true);
        support::write_file(file, old_bytes, true);
      }
    }
    ::usleep(static_cast<useconds_t>(500 * delay));
    ::kill(child, SIGKILL);
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    const std::vector<std::uint8_t> found = support::read_file(file, 1'000'000);
    CHECK((found == old_bytes || found == new_bytes));
  }
}

TEST_CASE("JSON keeps integers exactly and the order of keys") {
  const support::Json json = parse(R"( {"z": 18446744073709551615, "a": [-9223372036854775808, 9007199254740993, 1.5, true, null, "\u00e9\n"]} )");
  CHECK(json.dump() == R"({"z":18446744073709551615,"a":[-9223372036854775808,9007199254740993,1.5,true,null,"é\n"]})");
  CHECK(parse("7") == 7);
  CHECK(parse("[[[[[[[[]]]]]]]]").dump() == "[[[[[[[[]]]]]]]]");
  CHECK(parse(R"({"a":{"b":1},"b":{"a":1,"b":2}})").size() == 2);
}

TEST_CASE("JSON out of bounds is refused with its byte offset") {
  const std::vector<BadText> rows{
      {"", {"here: byte 100", "not valid JSON"}},
      {"  ", {"here: byte 102", "not valid JSON"}},
      {"[1 2]", {"here: byte 103", "not valid JSON"}},
      {"1 2", {"here: byte 102", "not valid JSON"}},
      {"[[[[[[[[[]]]]]]]]]", {"here: byte 108", "deeper than 8"}},
      {R"({"a":1,"a":1})", {"here: byte 107", "'a'", "twice"}},
      {R"({"x":{"a":1,"a":1}})", {"here: byte 112", "'a'", "twice"}},
      {R"([{"a\"":1,"a\"":1}])", {"here: byte 110", "twice"}},
      {"18446744073709551616", {"here: byte 100", "'18446744073709551616'", "64 bits"}},
      {"[-9223372036854775809]", {"here: byte 101", "'-9223372036854775809'", "64 bits"}},
      {"[1e400]", {"here: byte 10", "number overflow"}},
      {"\"\xFF\"", {"here: byte 101", "UTF-8"}},
      {"// c\n1", {"here: byte 100", "not valid JSON"}},
      {"\xEF\xBB\xBF{}", {"here: byte 100", "byte order mark"}},
      {std::string("{}\0x", 4), {"here: byte 102", "a zero byte"}},
      {std::string("{}\0", 3), {"here: byte 102", "a zero byte"}},
      {std::string(1001, ' '), {"here", "1001 bytes", "1000"}},
  };
  for (const BadText& row : rows) {
    INFO(row.text);
    CHECK(input_error_defect(error_of([&] { parse(row.text); }), row.parts) == "");
  }
  CHECK(input_error_defect(error_of([&] { parse("[0,0,0,0]", {.bytes = 100, .depth = 8, .memory = 200}); }), {"more values than 200 bytes"}) == "");
  CHECK_NOTHROW(parse("[0,0]", {.bytes = 100, .depth = 8, .memory = 200}));
}

TEST_CASE("foreign text in a message stays on one line") {
  CHECK(support::in_quotes("a b") == "'a b'");
  CHECK(support::in_quotes("a\n\x1b[0m'\\\xC3") == "'a\\x0a\\x1b[0m\\x27\\x5c\\xc3'");
  CHECK(support::in_quotes(std::string(121, 'a')) == "'" + std::string(120, 'a') + "...'");
  CHECK(support::printable("it's\t") == "it's\\x09");
}

TEST_CASE("dtypes have the sizes of the reference implementation") {
  // huggingface/safetensors, safetensors/src/tensor.rs, Dtype::bitsize
  const std::vector<std::pair<std::string_view, int>> expected{
      {"BOOL", 8},    {"F4", 4},          {"F6_E2M3", 6},     {"F6_E3M2", 6}, {"U8", 8},   {"I8", 8},   {"F8_E5M2", 8}, {"F8_E4M3", 8},
      {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16}, {"F16", 16}, {"BF16", 16},   {"I32", 32},
      {"U32", 32},    {"F32", 32},        {"C64", 64},        {"F64", 64},    {"I64", 64}, {"U64", 64}};
  std::vector<std::pair<std::string_view, int>> found;
  for (const support::Dtype& row : support::all_dtypes()) found.emplace_back(row.name, row.bits);
  CHECK(found == expected);
}

TEST_CASE("the container is written as the reference implementation writes it") {
  // The byte strings of tensor.rs test_empty and test_serialization.
  CHECK(text_of(support::safetensors_bytes({}, {})) == std::string("\x08\0\0\0\0\0\0\0{}      ", 16));
  CHECK(text_of(support::safetensors_bytes({}, {{"framework", "pt"}})) ==
        std::string("\x28\0\0\0\0\0\0\0", 8) + R"({"__metadata__":{"framework":"pt"}}     )");
  const std::vector<support::TensorData> tensors{{"attn.0", "F32", {1, 2, 3}, std::vector<std::uint8_t>(24, 1)}};
  CHECK(text_of(support::safetensors_bytes(tensors, {})) ==
        std::string("\x40\0\0\0\0\0\0\0", 8) + R"({"attn.0":{"dtype":"F32","shape":[1,2,3],"data_offsets":[0,24]}})" + std::string(24, 1));
}

TEST_CASE("what is written is what is read") {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "t.safetensors";
  const std::vector<support::TensorData> tensors{{"z \"quoted\" \xC3\xA9\n", "F64", {1, 2}, std::vector<std::uint8_t>(16, 3)},
                                                 {"scalar", "BF16", {}, {1, 2}},
                                                 {"empty", "F32", {5, 0, 7}, {}},
                                                 {"nibbles", "F4", {3, 2}, {1, 2, 3}},
                                                 {"a", "U8", {4}, {9, 8, 7, 6}}};
  support::write_file(file, support::safetensors_bytes(tensors, {{"format", "pt"}, {"", "x\ty"}}), false);
  const support::SafetensorsFile read(file);
  CHECK(read.metadata() == std::map<std::string, std::string>{{"format", "pt"}, {"", "x\ty"}});
  REQUIRE(read.tensors().size() == tensors.size());
  const std::string raw = read_bytes(file);
  for (const support::TensorData& tensor : tensors) {
    const support::TensorView* const view = read.find(tensor.name);
    REQUIRE(view != nullptr);
    CHECK(view->dtype->name == tensor.dtype);
    CHECK(view->shape == tensor.shape);
    CHECK(std::vector<std::uint8_t>(view->bytes.begin(), view->bytes.end()) == tensor.bytes);
    CHECK(raw.substr(view->file_offset, tensor.bytes.size()) == text_of(tensor.bytes));
  }
  CHECK(read.find("none") == nullptr);
}

TEST_CASE("the order of names and of bytes need not agree") {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "t.safetensors";
  write_bytes(file,
              container(R"({"a":{"data_offsets":[2,3],"shape":[1],"dtype":"U8"},"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})") + "xyz");
  const support::SafetensorsFile read(file);
  CHECK(text_of(read.find("a")->bytes) == "z");
  CHECK(text_of(read.find("b")->bytes) == "xy");
}

TEST_CASE("the writer refuses what the reader would refuse") {
  const auto code_of = [](std::vector<support::TensorData> tensors) {
    const std::optional<Error> error = error_of([&] { support::safetensors_bytes(tensors, {}); });
    return error ? static_cast<int>(error->code()) : 0;
  };
  CHECK(code_of({{"a", "U8", {2}, {1, 2}}}) == 0);
  CHECK(code_of({{"a", "U9", {2}, {1, 2}}}) == 2);
  CHECK(code_of({{"a", "U8", {3}, {1, 2}}}) == 2);
  CHECK(code_of({{"a", "U8", {-2}, {1, 2}}}) == 2);
  CHECK(code_of({{"a", "F4", {3}, {1, 2}}}) == 2);
  CHECK(code_of({{"a", "U8", {std::int64_t{1} << 62, 4}, {}}}) == 2);
  CHECK(code_of({{"a", "U8", {1}, {1}}, {"a", "U8", {1}, {1}}}) == 2);
  CHECK(code_of({{"__metadata__", "U8", {1}, {1}}}) == 2);
}

TEST_CASE("tensors that arrive in any order make the file that is written at once") {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "t.safetensors";
  const std::vector<support::TensorData> tensors{
      {"b", "U8", {3}, {1, 2, 3}}, {"empty", "F32", {0}, {}}, {"a", "BF16", {2}, {4, 5, 6, 7}}, {"c", "U8", {1}, {8}}};
  const std::vector<support::TensorEntry> entries{{"b", "U8", {3}}, {"empty", "F32", {0}}, {"a", "BF16", {2}}, {"c", "U8", {1}}};
  support::SafetensorsWriter writer(file, entries, {{"format", "pt"}}, false);
  for (const std::size_t i : {2U, 0U, 3U, 1U}) {
    CHECK_FALSE(support::is_there(file));
    writer.put(tensors[i].name, tensors[i].bytes);
  }
  writer.commit();
  CHECK(read_bytes(file) == text_of(support::safetensors_bytes(tensors, {{"format", "pt"}})));
  CHECK(support::names_in_order(support::SafetensorsFile(file)) == std::vector<std::string>{"b", "empty", "a", "c"});
  CHECK(names_in(directory.path()) == std::vector<std::string>{"t.safetensors"});
}

TEST_CASE("tensors that come in parts, before what is said of them, make the same file, and its digest") {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "t.safetensors";
  const std::vector<support::TensorData> tensors{{"b", "U8", {3}, {1, 2, 3}}, {"empty", "F32", {0}, {}}, {"a", "BF16", {2}, {4, 5, 6, 7}}};
  const std::vector<support::TensorEntry> entries{{"b", "U8", {3}}, {"empty", "F32", {0}}, {"a", "BF16", {2}}};
  const std::vector<std::uint8_t> whole = support::safetensors_bytes(tensors, {{"sum", "28"}});
  for (const bool in_order : {true, false}) {
    support::SafetensorsWriter writer(file, entries, {{"sum", "00"}}, true);
    if (!in_order) writer.put("a", tensors[2].bytes);
    writer.append("b", std::span(tensors[0].bytes).first(1));
    CHECK(error_of([&] { writer.put("b", tensors[0].bytes); }));
    CHECK(error_of([&] { writer.append("b", tensors[0].bytes); }));
    CHECK(error_of([&] { static_cast<void>(writer.digest()); }));
    writer.append("b", std::span(tensors[0].bytes).subspan(1));
    writer.append("empty", {});
    if (in_order) {
      writer.append("a", tensors[2].bytes);
      CHECK(writer.digest() == support::digest_of(support::safetensors_bytes(tensors, {{"sum", "00"}})));
    }
    const std::optional<Error> longer = error_of([&] { writer.set_metadata(entries, {{"sum", "12345678901"}}); });
    REQUIRE(longer);
    CHECK(longer->code() == ErrorCode::usage);
    writer.set_metadata(entries, {{"sum", "28"}});
    CHECK(writer.digest() == support::digest_of(whole));
    writer.commit();
    CHECK(read_bytes(file) == text_of(whole));
  }
}

TEST_CASE("a file whose tensors do not all arrive is never there") {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "t.safetensors";
  const std::vector<support::TensorEntry> entries{{"a", "U8", {2}}, {"b", "U8", {1}}};
  {
    support::SafetensorsWriter writer(file, entries, {}, false);
    const auto defect = [&](const std::string& name, std::size_t bytes) {
      const std::optional<Error> error = error_of([&] { writer.put(name, std::vector<std::uint8_t>(bytes)); });
      return error ? std::to_string(static_cast<int>(error->code())) + " " + error->what() : "";
    };
    const std::string where = "2 " + file.string() + ": tensor ";
    CHECK(defect("c", 1) == where + "'c': is not in the header");
    CHECK(defect("a", 1) == where + "'a': has 1 bytes where the header says 2");
    CHECK(defect("a", 2) == "");
    CHECK(defect("a", 2) == where + "'a': is written a second time");
    const std::optional<Error> error = error_of([&] { writer.commit(); });
    REQUIRE(error);
    CHECK(std::string(error->what()) == file.string() + ": tensor 'b': was never written");
  }
  CHECK(names_in(directory.path()).empty());
  write_bytes(file, "old");
  CHECK(input_error_defect(error_of([&] { support::SafetensorsWriter(file, entries, {}, false); }), {"not overwritten without force"}) == "");
  CHECK(read_bytes(file) == "old");
}

TEST_CASE("released memory of a mapped file is read again") {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "file";
  std::string content(100'000, 'x');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 31 >> 4);
  write_bytes(file, content);
  const support::MappedFile mapped(file);
  for (const std::size_t begin : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{50'000}}) {
    mapped.release(mapped.bytes().subspan(begin, 20'000));
    mapped.release(mapped.bytes().subspan(begin, 10));
    mapped.release({});
    CHECK(text_of(mapped.bytes()) == content);
  }
}

}  // namespace mx::tests
