#include "model/layout/packed.hpp"

#include <random>

#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using mx::layout::BackendLayout;
using mx::layout::CanonicalLayer;
using mx::layout::Comparison;
using mx::layout::Coord;
using mx::layout::find_backend_layout;
using mx::layout::PackedLayer;
using mx::layout::PackedTensor;
using mx::layout::Role;
using mx::layout::Sizes;
using mx::layout::SourceOrder;
using mx::test::refuses;

CanonicalLayer filled(const Sizes& sizes, SourceOrder order) {
  CanonicalLayer layer{sizes, order, {}};
  std::mt19937 engine(20260817);
  for (Role role : mx::layout::kRoles) {
    layer[role].resize(static_cast<std::size_t>(mx::layout::canonical(role, sizes, order).bytes()));
    for (std::uint8_t& byte : layer[role]) byte = static_cast<std::uint8_t>(engine());
  }
  return layer;
}

/// Sizes with padding in every direction, of which every byte is changed in turn.
struct FlipRow {
  std::string_view backend;
  Sizes sizes;
  Sizes padded;
};
const std::vector<FlipRow> kFlips{
    {"FLASHINFER_TRTLLM_MXFP4_BF16", {2, 96, 64}, {2, 128, 128}},
    {"FLASHINFER_TRTLLM_MXFP4_MXFP8", {1, 96, 128}, {1, 128, 256}},
    {"FLASHINFER_CUTLASS_MXFP4_MXFP8", {2, 96, 64}, {2, 128, 128}},
    {"XPU", {2, 32, 32}, {2, 64, 64}},
    {"EMULATION", {1, 32, 64}, {1, 64, 64}},
};

TEST_CASE("compare reports every changed byte of every tensor") {
  for (const FlipRow& row : kFlips) {
    for (SourceOrder order : {SourceOrder::gpt_oss, SourceOrder::standard}) {
      const CanonicalLayer layer = filled(row.sizes, order);
      const PackedLayer packed = mx::layout::convert(layer, *find_backend_layout(row.backend), row.padded);
      REQUIRE(packed.tensors.size() == 6U);
      for (const PackedTensor& tensor : packed.tensors) {
        INFO(row.backend << " " << mx::layout::name_of(order) << " " << mx::layout::name_of(tensor.role));
        REQUIRE(mx::layout::compare(tensor, layer).differing == 0);
        // A comparison walks the whole tensor: every byte of a slice that moves through it would take hours, so every byte of the small tensors and
        // a stride that is coprime to every power of two in the large ones.
        const std::size_t stride = tensor.bytes.size() > 4096 ? 61 : 1;
        PackedTensor changed = tensor;
        std::size_t missed = 0;
        for (std::size_t b = 0; b < changed.bytes.size(); b += stride) {
          changed.bytes[b] ^= 0xFF;
          const Comparison result = mx::layout::compare(changed, layer);
          const bool seen = result.differing > 0 && result.first.has_value() &&
                            result.first->byte_address * 8 / tensor.layout.grain_bits() == static_cast<std::int64_t>(b) * 8 / tensor.layout.grain_bits();
          missed += seen ? 0 : 1;
          changed.bytes[b] ^= 0xFF;
        }
        CHECK(missed == 0U);
      }
    }
  }
}

}  // namespace
