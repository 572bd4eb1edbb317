#include "model/layout/packed.hpp"

#include <random>

#include "model/families/convert.hpp"
#include "model/layout/grains.hpp"
#include "tests/catch.hpp"
#include "tests/counts.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using mx::families::BackendLayout;
using mx::families::find_backend_layout;
using mx::families::PackedLayer;
using mx::layout::CanonicalLayer;
using mx::layout::Comparison;
using mx::layout::Coord;
using mx::layout::PackedTensor;
using mx::layout::Role;
using mx::layout::Sizes;
using mx::layout::SourceOrder;
using mx::tests::refuses;

CanonicalLayer filled(const Sizes& sizes, SourceOrder order) {
  CanonicalLayer layer{sizes, order, {}};
  std::mt19937 engine(20260817);
  for (Role role : mx::layout::kRoles) {
    layer[role].resize(static_cast<std::size_t>(mx::layout::canonical(role, sizes, order).bytes()));
    for (std::uint8_t& byte : layer[role]) byte = static_cast<std::uint8_t>(engine());
  }
  return layer;
}

/// Sizes with padding in every direction, and the order for the test that changes one byte at a time.
struct FlipRow {
  std::string_view backend;
  Sizes sizes;
  Sizes padded;
  SourceOrder order;
};
const std::vector<FlipRow> kFlips{
    {"FLASHINFER_TRTLLM_MXFP4_BF16", {1, 96, 64}, {1, 128, 128}, SourceOrder::gpt_oss},
    {"FLASHINFER_TRTLLM_MXFP4_MXFP8", {1, 64, 96}, {1, 128, 128}, SourceOrder::standard},
    {"FLASHINFER_CUTLASS_MXFP4_MXFP8", {1, 96, 64}, {1, 128, 128}, SourceOrder::standard},
    {"XPU", {2, 32, 32}, {2, 64, 64}, SourceOrder::standard},
    {"EMULATION", {2, 32, 64}, {2, 64, 96}, SourceOrder::gpt_oss},
};

PackedLayer converted(const FlipRow& row, const CanonicalLayer& layer) {
  return mx::families::convert(layer, *find_backend_layout(row.backend), row.padded);
}

/// How many bytes of a tensor can be changed without compare reporting the unit that holds them.
std::size_t unreported_bytes(PackedTensor tensor, const CanonicalLayer& layer) {
  const std::int64_t unit_bits = tensor.layout.grain_bits();
  std::size_t unreported = 0;
  // An odd step: bytes of every place in a word and in a row of whole words.
  mx::tests::EveryNth picked(7);
  for (std::size_t b = 0; b < tensor.bytes.size(); ++b) {
    if (!picked()) continue;
    tensor.bytes[b] ^= 0xFF;
    const Comparison result = mx::layout::compare(tensor, layer);
    const std::int64_t bit = static_cast<std::int64_t>(b) * 8;
    const bool reported = result.first.has_value() && result.first->byte_address * 8 + result.first->bit == bit / unit_bits * unit_bits;
    unreported += reported ? 0 : 1;
    tensor.bytes[b] ^= 0xFF;
  }
  return unreported;
}

TEST_CASE("compare reports a changed byte wherever it lies in a tensor") {
  for (const FlipRow& row : kFlips) {
    const CanonicalLayer layer = filled(row.sizes, row.order);
    const PackedLayer packed = converted(row, layer);
    REQUIRE(packed.tensors.size() == 6U);
    for (const PackedTensor& tensor : packed.tensors) {
      INFO(row.backend << " " << mx::layout::name_of(tensor.role));
      REQUIRE(mx::layout::compare(tensor, layer).differing == 0);
      CHECK(unreported_bytes(tensor, layer) == 0U);
    }
  }
}

TEST_CASE("compare counts every changed bit of every tensor") {
  for (const FlipRow& row : kFlips) {
    for (SourceOrder order : {SourceOrder::gpt_oss, SourceOrder::standard}) {
      const CanonicalLayer layer = filled(row.sizes, order);
      for (PackedTensor& tensor : converted(row, layer).tensors) {
        for (int bit = 0; bit < 8; ++bit) {
          INFO(row.backend << " " << mx::layout::name_of(order) << " " << mx::layout::name_of(tensor.role) << " bit " << bit);
          for (std::uint8_t& byte : tensor.bytes) byte ^= static_cast<std::uint8_t>(1U << bit);
          const Comparison result = mx::layout::compare(tensor, layer);
          CHECK(result.compared == tensor.layout.cosize());
          CHECK(result.unwritten == 0);
          // One bit of every byte: of a nibble every second unit, of wider units all.
          CHECK(result.differing == (tensor.layout.grain_bits() == 4 ? tensor.layout.cosize() / 2 : tensor.layout.cosize()));
          for (std::uint8_t& byte : tensor.bytes) byte ^= static_cast<std::uint8_t>(1U << bit);
        }
      }
    }
  }
}

TEST_CASE("a part of memory: pieces at equal distances are compared, their parts together are the whole") {
  const CanonicalLayer layer = filled({2, 128, 128}, SourceOrder::gpt_oss);
  const PackedLayer packed = mx::families::convert(layer, *find_backend_layout("FLASHINFER_TRTLLM_MXFP4_BF16"), Sizes{2, 128, 128});
  PackedTensor tensor = *packed.find(Role::w13_weight);
  const mx::layout::Layout memory = mx::layout::canonical(Role::w13_weight, layer.sizes, layer.form);
  const mx::layout::Units units{4, mx::layout::to_row_major(memory, layer[Role::w13_weight])};
  const std::int64_t pieces = tensor.layout.cosize() / mx::layout::kComparedPiece;
  REQUIRE(pieces == 16);  // 2 * 256 * 128 nibbles
  // One nibble of the piece number 6.
  tensor.bytes[6 * mx::layout::kComparedPiece / 2 + 9] ^= 0x20;
  std::int64_t compared = 0;
  for (std::int64_t from = 0; from < 3; ++from) {
    const Comparison part = mx::layout::compare(tensor, units, {3, from});
    CHECK(part.units == tensor.layout.cosize());
    CHECK(part.differing == (from == 6 % 3 ? 1 : 0));
    compared += part.compared;
  }
  CHECK(compared == tensor.layout.cosize());
  CHECK(mx::layout::compare(tensor, units).differing == 1);
  CHECK(mx::layout::compare(tensor, units, {1, pieces}).compared == 0);
}

TEST_CASE("what a backend leaves unwritten is counted and not compared") {
  // triton_kernels 3.7 pads sm100's rows of values from 160 to 256 elements, which nobody writes.
  mx::families::Setting setting{.sizes = {2, 160, 96}, .padded = {2, 160, 96}, .form = SourceOrder::gpt_oss};
  setting.engine = mx::deployment::kVllm2026_08;
  setting.arch = mx::families::Arch::sm100;
  setting.of<mx::families::TritonParameters>().release = mx::families::TritonKernels::v3_7;
  const CanonicalLayer layer = filled(setting.sizes, SourceOrder::gpt_oss);
  const BackendLayout& row = mx::families::backend_layout_named("TRITON", mx::layout::WeightFormat::mxfp4, setting.engine);
  PackedTensor tensor = *mx::families::convert(layer, row, setting).find(Role::w2_weight);
  for (const bool changed : {false, true}) {
    if (changed) tensor.bytes.back() ^= 0xFF;
    const Comparison result = mx::layout::compare(tensor, layer);
    CHECK(result.unwritten == 2 * 96 * (256 - 160));
    CHECK(result.compared == 2 * 96 * 160);
    CHECK(result.differing == 0);
  }
}

TEST_CASE("a difference is reported with its tensor, index and address") {
  struct Row {
    Role role;
    std::size_t byte;
    std::uint8_t mask;
    std::string text;  // up to the values
  };
  // TRT-LLM: memory rows 0, 1, 8 hold up 0, up 2, gate 0; I 96 of 128, H 64 of 128, so a weight row has 64 bytes of which 32 are the checkpoint's,
  // and a scale line four bytes of which two are.
  const std::vector<Row> rows{
      {Role::w13_weight, 0, 0x01, "w13_weight [E=0 half=up I=0 K=0] at byte 0 bit 0: "},
      {Role::w13_weight, 0, 0x10, "w13_weight [E=0 half=up I=0 K=1] at byte 0 bit 4: "},
      {Role::w13_weight, 64 + 31, 0x80, "w13_weight [E=0 half=up I=2 K=63] at byte 95 bit 4: "},
      {Role::w13_weight, 64 + 32, 0x02, "w13_weight [padding] at byte 96 bit 0: "},
      {Role::w13_weight_scale, 8 * 16 + 1, 0x01, "w13_weight_scale [E=0 half=gate I=0 G=1] at byte 129 bit 0: "},
      {Role::w13_weight_scale, 8 * 16 + 2, 0x01, "w13_weight_scale [padding] at byte 130 bit 0: "},
      {Role::w13_bias, 4 * 8 + 3, 0x01, "w13_bias [E=0 half=gate I=0] at byte 32 bit 0: "},
      {Role::w2_bias, 4 * 2, 0x01, "w2_bias [E=0 N=8] at byte 8 bit 0: "},
  };
  const FlipRow& flip = kFlips[0];
  const CanonicalLayer layer = filled(flip.sizes, flip.order);
  const PackedLayer packed = converted(flip, layer);
  for (const Row& row : rows) {
    PackedTensor tensor = *packed.find(row.role);
    tensor.bytes[row.byte] ^= row.mask;
    const Comparison result = mx::layout::compare(tensor, layer);
    REQUIRE(result.differing == 1);
    CHECK(result.first->text().substr(0, row.text.size()) == row.text);
  }
}

TEST_CASE("biases widen exactly where the engine casts them") {
  CanonicalLayer layer = filled({1, 128, 128}, SourceOrder::gpt_oss);
  // Row 1 of the checkpoint is up 0, which is the first row of the TRT-LLM layout; CUTLASS has it first too. 0xC2F7 is -123.5 in bf16.
  layer[Role::w13_bias][2] = 0xF7;
  layer[Role::w13_bias][3] = 0xC2;
  const auto head = [&](std::string_view backend, std::size_t count) {
    const PackedLayer packed = mx::families::convert(layer, *find_backend_layout(backend), layer.sizes);
    const std::vector<std::uint8_t>& bytes = packed.find(Role::w13_bias)->bytes;
    return std::vector<std::uint8_t>(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
  };
  CHECK(head("FLASHINFER_TRTLLM_MXFP4_BF16", 4) == std::vector<std::uint8_t>{0x00, 0x00, 0xF7, 0xC2});
  CHECK(head("FLASHINFER_CUTLASS_MXFP4_MXFP8", 2) == std::vector<std::uint8_t>{0xF7, 0xC2});
}

TEST_CASE("restore is the inverse of convert") {
  for (const FlipRow& row : kFlips) {
    INFO(row.backend);
    const CanonicalLayer layer = filled(row.sizes, row.order);
    const CanonicalLayer back = mx::families::restore(converted(row, layer));
    CHECK(back.tensors == layer.tensors);
    CHECK(back.sizes == layer.sizes);
    CHECK(back.form.order == layer.form.order);
  }
}

TEST_CASE("convert refuses what the backend refuses") {
  const BackendLayout& trtllm = *find_backend_layout("FLASHINFER_TRTLLM_MXFP4_BF16");
  const Sizes sizes{1, 128, 128};
  CanonicalLayer layer = filled(sizes, SourceOrder::gpt_oss);
  CHECK(refuses(ErrorCode::usage, "H = 96", [&] { mx::families::convert(filled({1, 128, 96}, SourceOrder::gpt_oss), trtllm, Sizes{1, 128, 96}); }));
  CHECK(refuses(ErrorCode::usage, "do not hold", [&] { mx::families::convert(layer, trtllm, Sizes{1, 128, 64}); }));
  layer[Role::w2_weight].pop_back();
  CHECK(refuses(ErrorCode::input, "8191 bytes where the layout has 8192", [&] { mx::families::convert(layer, trtllm, sizes); }));
  CHECK(refuses(ErrorCode::input, "w2_weight", [&] { mx::families::convert(layer, trtllm, sizes); }));

  SECTION("a missing weight") {
    CanonicalLayer without = filled(sizes, SourceOrder::gpt_oss);
    without[Role::w2_weight_scale].clear();
    CHECK(refuses(ErrorCode::input, "w2_weight_scale: missing from the layer", [&] { mx::families::convert(without, trtllm, sizes); }));
  }
  SECTION("a form that no version of the engine converts for it") {
    using mx::layout::Form;
    using mx::layout::WeightFormat;
    CanonicalLayer other = filled(sizes, SourceOrder::standard);
    other.form = Form(WeightFormat::mxfp4, SourceOrder::standard, false);
    CHECK(refuses(ErrorCode::usage, "checkpoints of mxfp4 in standard order, not gated, are not converted by engine vllm@2026-08",
                  [&] { mx::families::convert(other, trtllm, sizes); }));
    other.form = Form(WeightFormat::mxfp8, SourceOrder::gpt_oss);
    CHECK(refuses(ErrorCode::usage, "checkpoints of mxfp8 in gpt_oss order are not converted", [&] { mx::families::convert(other, trtllm, sizes); }));
  }
  SECTION("a missing bias") {
    for (SourceOrder order : {SourceOrder::gpt_oss, SourceOrder::standard}) {
      CanonicalLayer without = filled(sizes, order);
      without[Role::w2_bias].clear();
      const bool refused = refuses(ErrorCode::usage, "biases are missing", [&] { mx::families::convert(without, trtllm, sizes); });
      CHECK(refused == (order == SourceOrder::gpt_oss));
      if (refused) continue;
      const PackedLayer packed = mx::families::convert(without, trtllm, sizes);
      CHECK(packed.tensors.size() == 5U);
      CHECK(packed.find(Role::w2_bias) == nullptr);
      CHECK(mx::families::restore(packed).tensors == without.tensors);
    }
  }
}

TEST_CASE("packed bytes that no conversion makes are refused") {
  const FlipRow& row = kFlips[0];
  const CanonicalLayer layer = filled(row.sizes, row.order);
  PackedLayer packed = converted(row, layer);

  SECTION("too few bytes") {
    packed.tensors[1].bytes.pop_back();
    CHECK(refuses(ErrorCode::input, "w13_weight_scale", [&] { mx::families::restore(packed); }));
    CHECK(refuses(ErrorCode::input, "1023 bytes", [&] { mx::layout::compare(packed.tensors[1], layer); }));
  }
  SECTION("a missing weight") {
    packed.tensors.erase(packed.tensors.begin());
    CHECK(refuses(ErrorCode::input, "w13_weight: missing", [&] { mx::families::restore(packed); }));
  }
  SECTION("a bias that is no bf16 value") {
    packed.tensors[2].bytes[0] = 1;
    CHECK(refuses(ErrorCode::input, "which bf16_to_f32 never makes", [&] { mx::families::restore(packed); }));
  }
  SECTION("sizes of another layer") {
    const CanonicalLayer other = filled({1, 64, 64}, row.order);
    CHECK(refuses(ErrorCode::usage, "not one of these sizes", [&] { mx::layout::compare(packed.tensors[0], other); }));
    packed.setting.sizes = other.sizes;
    CHECK(refuses(ErrorCode::usage, "not one of these sizes", [&] { mx::families::restore(packed); }));
  }
  SECTION("another backend's layout") {
    CHECK_NOTHROW(packed.require(row.backend));
    CHECK(refuses(ErrorCode::usage, "packed for FLASHINFER_TRTLLM_MXFP4_BF16, not for XPU", [&] { packed.require("XPU"); }));
  }
}

}  // namespace
