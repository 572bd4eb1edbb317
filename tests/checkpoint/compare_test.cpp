// Two checkpoints as numbers: every form against itself and against numbers written out, and what makes one of the other.

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <set>

#include "checkpoint/compare/compare_checkpoints.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/published_forms.hpp"

namespace mx::tests {
namespace {

namespace fs = std::filesystem;
using layout::Role;
constexpr std::size_t kHigh = kPublishedIntermediate, kWide = kPublishedHidden;

double e2m1(int code) {
  constexpr double kNumbers[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return (code & 8) != 0 ? -kNumbers[code & 7] : kNumbers[code & 7];
}
double e4m3(int code) {
  const int exponent = code >> 3 & 15, mantissa = code & 7;
  const double number = exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
  return (code & 0x80) != 0 ? -number : number;
}
double f32_at(const std::vector<std::uint8_t>& bytes, std::size_t index) {
  std::uint32_t word = 0;
  for (std::size_t b = 4; b-- > 0;) word = word << 8 | bytes[4 * index + b];
  return std::bit_cast<float>(word);
}

/// What the canonical layer's matrix holds at (n, k): computed from the format's definition.
double number_of(const layout::CanonicalLayer& layer, std::size_t expert, std::size_t half, std::size_t n, std::size_t k) {
  const bool w13 = half < 2;
  const std::size_t rows = w13 ? kHigh : kWide, columns = w13 ? kWide : kHigh;
  const std::size_t halves = w13 && layer.form.gated ? 2 : 1, matrix = expert * halves + (halves == 2 ? half : 0),
                    at = (matrix * rows + n) * columns + k;
  const std::vector<std::uint8_t>&codes = layer[w13 ? Role::w13_weight : Role::w2_weight],
        &scales = layer[w13 ? Role::w13_weight_scale : Role::w2_weight_scale];
  const double four = e2m1(codes[at / 2 % codes.size()] >> 4 * (at % 2) & 15);
  switch (layer.form.format) {
    case layout::WeightFormat::mxfp4: return four * std::ldexp(1.0, scales[at / 32] - 127);
    case layout::WeightFormat::nvfp4:
      return four * e4m3(scales[at / 16]) * f32_at(layer[w13 ? Role::w13_global_scale : Role::w2_global_scale], expert);
    case layout::WeightFormat::mxfp8: return e4m3(codes[at]) * std::ldexp(1.0, scales[at / 32] - 127);
    case layout::WeightFormat::fp8_tensor: return e4m3(codes[at]) * f32_at(scales, expert);
    case layout::WeightFormat::fp8_channel: return e4m3(codes[at]) * f32_at(scales, matrix * rows + n);
    default: return e4m3(codes[at]) * f32_at(scales, (matrix * ((rows + 127) / 128) + n / 128) * ((columns + 127) / 128) + k / 128);
  }
}

/// The numbers of a form's checkpoint, rounded into fp32, under the names of one that is not quantized.
struct WrittenOut {
  Draft draft;
  std::vector<std::int64_t> rounded;  ///< of each tensor: how many numbers fp32 does not have
};
WrittenOut written_out(const PublishedForm& form) {
  const layout::CanonicalLayer layer = published_layer(form);
  WrittenOut written;
  Draft& draft = written.draft;
  draft.has_index = false;
  for (std::size_t expert = 0; expert < kPublishedExperts; ++expert) {
    for (std::size_t half = layer.form.gated ? 0 : 1; half < 3; ++half) {
      const std::size_t rows = half < 2 ? kHigh : kWide, columns = half < 2 ? kWide : kHigh;
      support::TensorData tensor{form.before + "0" + form.after + std::to_string(expert) + "." +
                                 std::vector<std::string>{"gate_proj", "up_proj", "down_proj"}[half] + ".weight",
                             "F32",
                             {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)},
                             {}};
      written.rounded.push_back(0);
      for (std::size_t n = 0; n < rows; ++n) {
        for (std::size_t k = 0; k < columns; ++k) {
          const double number = number_of(layer, expert, half, n, k);
          const auto near = static_cast<float>(number);
          if (static_cast<double>(near) != number) ++written.rounded.back();
          const auto bits = std::bit_cast<std::uint32_t>(near);
          for (std::size_t b = 0; b < 4; ++b) tensor.bytes.push_back(static_cast<std::uint8_t>(bits >> 8 * b));
        }
      }
      draft.shards["model.safetensors"].push_back(std::move(tensor));
    }
  }
  return written;
}

checkpoint::CheckpointComparison compared(const Draft& a, const Draft& b, const checkpoint::CompareOptions& options = {}) {
  const TemporaryDirectory first, second;
  a.write(first.path());
  b.write(second.path());
  return checkpoint::compare_checkpoints(first.path(), second.path(), options);
}

}  // namespace

TEST_CASE("every form is its own numbers, written out") {
  bool rounds = false, exact = false;  // there are forms of both kinds
  for (const PublishedForm& form : published_forms()) {
    INFO(form.id);
    const checkpoint::CheckpointComparison itself = compared(published_draft(form), published_draft(form));
    CHECK(itself.same());
    CHECK(itself.equal == (form.gated() ? 6 : 4));
    const WrittenOut written = written_out(form);
    const checkpoint::CheckpointComparison other = compared(published_draft(form), written.draft);
    CHECK(other.tensors == itself.tensors);
    // Products of more than 24 bits are rounded in the file of fp32: those differ, and nothing else.
    std::vector<std::int64_t> differing, expected = written.rounded;
    for (const checkpoint::TensorDifference& difference : other.differences) {
      differing.push_back(difference.differing);
      CHECK(difference.b == static_cast<double>(static_cast<float>(difference.a)));
    }
    std::erase(expected, 0);
    CHECK(differing == expected);
    CHECK(other.same() == expected.empty());
    rounds = rounds || !expected.empty();
    exact = exact || expected.empty();
  }
  CHECK(rounds);
  CHECK(exact);
}

TEST_CASE("what one thing makes of a checkpoint is named") {
  const PublishedForm& form = published_form("mixtral");
  const std::string up = "model.layers.0.block_sparse_moe.experts.1.w3", gate = "model.layers.0.block_sparse_moe.experts.1.w1";
  struct Row {
    std::string id;
    std::function<void(Draft&)> change;
    std::size_t tensors;
    std::int64_t differing;  ///< of the first; -1: not told here
    std::string cause;
  };
  const auto swap = [](Draft& d, const std::string& a, const std::string& b) {
    for (const char* const end : {".weight", ".weight_scale", ".weight_scale_2"}) std::swap(d.tensor(a + end).bytes, d.tensor(b + end).bytes);
  };
  const std::vector<Row> rows{
      {"nothing", [](Draft&) {}, 0, 0, ""},
      // From 1 to 3: codes 2 and 5.
      {"a number",
       [&](Draft& d) {
         std::uint8_t& byte = d.tensor(up + ".weight").bytes[2 * 128 + 3];
         byte = static_cast<std::uint8_t>((byte & 0xF0) | ((byte & 0xF) == 5 ? 2 : 5));
       },
       1, 1, ""},
      {"a factor", [&](Draft& d) { d.tensor(up + ".weight_scale_2").bytes[2] ^= 0x80; }, 1, -1, "every number of the second is"},
      {"gate and up exchanged", [&](Draft& d) { swap(d, gate, up); }, 2, -1, "the second has the first's up here"},
      {"an expert in another's place", [&](Draft& d) { swap(d, up, "model.layers.0.block_sparse_moe.experts.0.w3"); }, 2, -1,
       "the second has the first's expert"},
  };
  for (const Row& row : rows) {
    INFO(row.id);
    Draft changed = published_draft(form);
    row.change(changed);
    const checkpoint::CheckpointComparison result = compared(published_draft(form), changed);
    REQUIRE(result.differences.size() == row.tensors);
    CHECK(result.same() == (row.tensors == 0));
    if (row.tensors == 0) continue;
    if (row.differing >= 0) {
      CHECK(result.differences[0].differing == row.differing);
      CHECK(result.differences[0].first == std::vector<std::int64_t>{2, 6});
    }
    CHECK(result.differences[0].cause.starts_with(row.cause));
    CHECK(result.differences[0].cause.empty() == row.cause.empty());
  }
}

TEST_CASE("the same numbers by other scales are equal, a lost global scale is named") {
  // compressed-tensors divides by what ModelOpt multiplies with: powers of two are exact both ways.
  const auto with_scale = [](const char* const id, const std::string& end, std::uint8_t high) {
    Draft draft = published_draft(published_form(id));
    for (auto& [file, tensors] : draft.shards) {
      for (support::TensorData& tensor : tensors) {
        if (tensor.name.ends_with(end)) tensor.bytes = {0, 0, 0, high};
      }
    }
    return draft;
  };
  const Draft divided = with_scale("ct-nvfp4", ".weight_global_scale", 0x43);            // 128
  const Draft multiplied = with_scale("modelopt-w4a16-nvfp4", ".weight_scale_2", 0x3C);  // 2^-7
  CHECK(compared(divided, multiplied).same());
  const Draft other = with_scale("modelopt-w4a16-nvfp4", ".weight_scale_2", 0x3F);  // 0.5
  const checkpoint::CheckpointComparison result = compared(divided, other);
  REQUIRE(result.differences.size() == 6);
  CHECK(result.differences[0].ratio == 64);
  CHECK(result.differences[0].cause == "every number of the second is 64 times that of the first");
}

TEST_CASE("a lost global scale is named, whatever number it is") {
  // Of 49, 0.003 and 0.0123 the rounded reciprocal times the number is not 1.
  for (const float scale : {0.0078125F, 1.0F / 2688, 0.003F, 0.0123F, 49.0F}) {
    INFO(scale);
    const auto with = [](float number) {
      Draft draft = published_draft(published_form("modelopt-w4a16-nvfp4"));
      const auto bits = std::bit_cast<std::uint32_t>(number);
      for (support::TensorData& tensor : draft.shards["model.safetensors"]) {
        for (std::size_t b = 0; b < 4 && tensor.name.ends_with(".weight_scale_2"); ++b) tensor.bytes[b] = static_cast<std::uint8_t>(bits >> 8 * b);
      }
      return draft;
    };
    const checkpoint::CheckpointComparison second = compared(with(scale), with(1)), first = compared(with(1), with(scale));
    REQUIRE(second.differences.size() == 6);
    REQUIRE(first.differences.size() == 6);
    for (std::size_t i = 0; i < 6; ++i) {
      CHECK(second.differences[i].cause.ends_with(" times that of the first: the first's global scale, which is lost"));
      CHECK(first.differences[i].cause.ends_with(" times that of the first: the second's global scale, which the first lost"));
    }
  }
}

TEST_CASE("a comparison says how far it is, matrix by matrix, and stops when it is told to") {
  Draft draft = published_draft(published_form("mixtral"));
  draft.shards["model.safetensors"].push_back({"model.norm.weight", "F32", {2}, std::vector<std::uint8_t>(8)});
  std::vector<std::uint64_t> done;
  std::uint64_t whole = 0;
  checkpoint::CompareOptions options;
  options.progress = [&](const std::string&, std::uint64_t bytes, std::uint64_t total) {
    done.push_back(bytes);
    whole = total;
  };
  CHECK(compared(draft, draft, options).finished);
  CHECK(std::ranges::is_sorted(done));
  // The layer, its six matrices, the other tensor.
  CHECK(done.size() == 8);
  CHECK(std::set(done.begin(), done.end()).size() == 7);
  CHECK(done.back() == whole - 8);
  int asked = 0;
  options.stop = [&] { return ++asked > 3; };
  CHECK_FALSE(compared(draft, draft, options).finished);
}

TEST_CASE("other tensors are compared under their names and what only one has is told") {
  Draft a = published_draft(published_form("mixtral")), b = a;
  a.shards["model.safetensors"].push_back({"model.norm.weight", "F32", {2}, {0, 0, 0x80, 0x3F, 1, 0, 0x80, 0x3F}});
  b.shards["model.safetensors"].push_back({"model.norm.weight", "BF16", {2}, {0x80, 0x3F, 0x80, 0x3F}});
  b.shards["model.safetensors"].push_back({"lm_head.weight", "BF16", {1}, {0, 0}});
  b.shards["model.safetensors"].push_back({"model.layers.0.self_attn.q_proj.weight_scale", "BF16", {1}, {0, 0}});
  const checkpoint::CheckpointComparison result = compared(a, b);
  REQUIRE(result.differences.size() == 1);
  CHECK(result.differences[0].name == "model.norm.weight");
  CHECK(result.differences[0].differing == 1);
  CHECK(result.differences[0].cause == "one is the other, rounded to the numbers of its file");
  REQUIRE(result.omitted.size() == 2);
  CHECK(result.omitted[0].name == "lm_head.weight");
  CHECK(result.omitted[0].differs);
  CHECK_FALSE(result.omitted[1].differs);
  checkpoint::CompareOptions options;
  options.layers = {0};
  options.tensors = {"experts.0"};
  CHECK(compared(a, b, options).tensors == 3);
  options.layers = {7};
  CHECK_THROWS_WITH(compared(a, b, options), Catch::Contains("layer 7 has no experts in the first checkpoint"));
  options.layers = {};
  options.tensors = {"nowhere"};
  CHECK_THROWS_WITH(compared(a, b, options), Catch::Contains("no tensor that is compared has 'nowhere' in its name"));
}

}  // namespace mx::tests
