// Hostile files must not make the readers allocate: every allocation of this program is counted.

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/compare/compare_checkpoints.hpp"
#include "checkpoint/convert.hpp"
#include "tests/allocations.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/draft.hpp"

namespace mx::tests {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// About `bytes` bytes of numbered copies: text(0) + text(1) + ...
std::string many(std::size_t bytes, const std::function<std::string(std::size_t)>& text) {
  std::string result;
  for (std::size_t i = 0; result.size() < bytes; ++i) result += text(i);
  result.pop_back();  // the last comma
  return result;
}

std::string repeated(const std::string& text, std::size_t bytes) {
  return many(bytes, [&](std::size_t) { return text; });
}

struct Hostile {
  std::string id;
  std::string header;
  bool accepted = false;
};

std::vector<Hostile> hostile_headers() {
  constexpr std::size_t size = 12 * kMiB;
  const auto empty_tensor = [](std::size_t i) { return "\"" + std::to_string(i) + R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)"; };
  return {
      {"many empty tensors", "{" + many(size, empty_tensor) + "}"},
      {"few empty tensors", "{" + many(kMiB / 2, empty_tensor) + "}", true},
      {"one long shape", R"({"a":{"dtype":"U8","shape":[)" + repeated("0,", size) + R"(],"data_offsets":[0,0]}})"},
      {"many long shapes", "{" +
                               many(size,
                                    [](std::size_t i) {
                                      return "\"" + std::to_string(i) + R"(":{"dtype":"U8","shape":[0)" + repeated(",0", 62) +
                                             R"(],"data_offsets":[0,0]},)";
                                    }) +
                               "}"},
      {"empty lists", R"({"a":[)" + repeated("[],", size) + "]}"},
      {"empty objects", R"({"a":[)" + repeated("{},", size) + "]}"},
      {"small objects", R"({"a":[)" + repeated("{\"\":0},", size) + "]}"},
      {"numbers", R"({"a":[)" + repeated("1.5,", size) + "]}"},
      {"literals", R"({"a":[)" + repeated("null,", size) + "]}"},
      {"metadata of many keys", R"({"__metadata__":{)" + many(size, [](std::size_t i) { return "\"" + std::to_string(i) + "\":\"\","; }) + "}}"},
      {"metadata of one long text", R"({"__metadata__":{"k":")" + std::string(size, 'x') + "\"}}"},
      {"metadata of escapes", R"({"__metadata__":{"k":")" + repeated("\\u20ac", size) + "c\"}}"},
      {"a long name", "{\"" + std::string(size, 'n') + "\":0}"},
      {"a long number", "{\"a\":" + std::string(size, '1') + "}"},
      {"blanks", "{" + std::string(size, ' ') + "}"},
      {"lists and blanks", R"({"a":[)" + repeated("[]," + std::string(kMiB - 100, ' '), size) + "]}"},
      {"open lists", R"({"a":)" + std::string(size, '[') + "}"},
      {"a string without end", "{\"" + std::string(size, 'n') + "}"},
      {"backslashes", "{\"" + std::string(size, '\\') + "}"},
      {"zeros", "{" + std::string(size, '\0') + "}"},
      {"trailing spaces", "{}" + std::string(size, ' '), true},
  };
}

}  // namespace

TEST_CASE("allocations are counted") {
  const auto allocate = [] {
    const std::vector<char> bytes(kMiB);
    // A compiler may leave out an allocation that nobody sees.
    asm volatile("" : : "r"(bytes.data()) : "memory");
  };
  CHECK(peak_of(allocate) >= kMiB);
  CHECK(peak_of([] {}) == 0);
}

TEST_CASE("a claim of 90 MB in 100 bytes allocates nothing of that size") {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "claim.safetensors";
  for (const std::uint64_t claim : {std::uint64_t{90'000'000}, std::uint64_t{100'000'000}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    write_bytes(file, container_claiming(claim, "{}", 90));
    CHECK(peak_of([&] { CHECK(input_error_defect(error_of([&] { support::SafetensorsFile{file}; }), {file.string(), "byte 0"}) == ""); }) < 64 * 1024);
  }
  const std::string huge = R"({"a":{"dtype":"F64","shape":[1000000000000],"data_offsets":[0,8000000000000]}})";
  write_bytes(file, container(huge, 20));
  CHECK(peak_of([&] { CHECK(input_error_defect(error_of([&] { support::SafetensorsFile{file}; }), {"'a'", "8000000000000"}) == ""); }) < 64 * 1024);
}

TEST_CASE("no header takes more memory than twice the file and 4 MiB") {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "hostile.safetensors";
  for (const Hostile& row : hostile_headers()) {
    INFO(row.id);
    write_bytes(file, container(row.header));
    std::optional<Error> error;
    const std::size_t memory = peak_of([&] { error = error_of([&] { support::SafetensorsFile{file}; }); });
    CHECK(memory <= 2 * row.header.size() + 4 * kMiB);
    if (row.accepted) {
      CHECK_FALSE(error);
    } else {
      CHECK(input_error_defect(error, {file.string()}) == "");
    }
  }
}

TEST_CASE("data stay mapped until a layer is asked for") {
  const TemporaryDirectory directory;
  checkpoint::write_synthetic_checkpoint(directory.path() / "new", {.layers = 2, .experts = 16, .hidden = 512, .intermediate = 512, .top_k = 4});
  const std::filesystem::path path = directory.path() / "new";
  CHECK(peak_of([&] {
          const checkpoint::Checkpoint checkpoint(path);
          CHECK(checkpoint.bytes() > 12 * kMiB);
        }) < kMiB);
  const checkpoint::Checkpoint checkpoint(path);
  CHECK(peak_of([&] { static_cast<void>(checkpoint.layer(0)); }) < 2 * checkpoint.bytes() / 2);
}

TEST_CASE("conversions both ways hold a few parts of a tensor, however large layers are and however many there are") {
  const auto peaks = [](int layers, int experts) {
    const TemporaryDirectory directory;
    const std::filesystem::path source = directory.path() / "source", packed = directory.path() / "packed", restored = directory.path() / "restored";
    checkpoint::write_synthetic_checkpoint(source, {.layers = layers, .experts = experts, .hidden = 1024, .intermediate = 1024, .top_k = 4});
    const std::size_t convert = peak_of([&] { checkpoint::convert_checkpoint(source, packed, {.backend = "FLASHINFER_TRTLLM_MXFP4_BF16", .setting = {}}); });
    const std::size_t restore = peak_of([&] { checkpoint::restore_checkpoint({packed}, restored, {}); });
    return std::pair(convert, restore);
  };
  // A turn takes 4 MiB of a tensor: read, made, and made before. A layer of 32 experts has 50 MiB, its gate and up 32.
  constexpr std::size_t turn = 4 * kMiB;
  constexpr std::size_t other = 3 * kMiB;  // headers, tags, buffers of copies, layouts and what is compiled of them
  for (const auto& [layers, experts] : {std::pair(1, 8), std::pair(1, 32), std::pair(4, 8)}) {
    const auto [convert, restore] = peaks(layers, experts);
    INFO(layers << " layers of " << experts << " experts: " << convert << ", " << restore);
    CHECK(convert < 3 * turn + other);
    CHECK(restore < 3 * turn + other);
  }
}

TEST_CASE("a comparison holds a part of each matrix, however it lies in its file") {
  // Gate and up of 16 MiB in one tensor, inputs first.
  Draft draft;
  draft.has_index = false;
  draft.config = R"({"model_type": "llama4"})";
  const std::string experts = "language_model.model.layers.0.feed_forward.experts.";
  draft.shards["model.safetensors"] = {{experts + "gate_up_proj", "BF16", {1, 2048, 4096}, std::vector<std::uint8_t>(16 * kMiB, 0x3F)},
                                       {experts + "down_proj", "BF16", {1, 2048, 2048}, std::vector<std::uint8_t>(8 * kMiB, 0x3F)}};
  const TemporaryDirectory directory;
  draft.write(directory.path());
  // Of each of three matrices two slabs of 2 MiB, and 2^16 numbers of both sides with the bytes that they come from.
  CHECK(peak_of([&] { CHECK(checkpoint::compare_checkpoints(directory.path(), directory.path(), {}).equal == 3); }) < 3 * 6 * kMiB);
}

TEST_CASE("a hostile index or config takes bounded memory") {
  const TemporaryDirectory directory;
  good_draft().write(directory.path());
  const std::filesystem::path index = directory.path() / "model.safetensors.index.json", config = directory.path() / "config.json";
  const std::string good_index = read_bytes(index);
  const auto checkpoint_peak = [&] {
    return peak_of([&] { CHECK(input_error_defect(error_of([&] { checkpoint::Checkpoint{directory.path()}; }), {directory.path().string()}) == ""); });
  };
  const std::vector<std::string> texts{
      R"({"weight_map":{)" + many(15 * kMiB, [](std::size_t i) { return "\"" + std::to_string(i) + R"(":".safetensors",)"; }) + "}}",
      R"({"weight_map":[)" + repeated("0,", 15 * kMiB) + "]}",
      R"({"weight_map":[)" + repeated("[],", 15 * kMiB) + "]}",
  };
  for (const std::string& text : texts) {
    write_bytes(index, text);
    CHECK(checkpoint_peak() <= text.size() + 68 * kMiB);
  }
  write_bytes(index, good_index);
  write_bytes(config, "[" + repeated("0,", 1'000'000) + "]");
  CHECK(checkpoint_peak() <= 20 * kMiB);
}

}  // namespace mx::tests
