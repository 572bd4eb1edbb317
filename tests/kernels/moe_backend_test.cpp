// Panels made from a backend's memory, with all that it pads.

#include <random>
#include <string>
#include <vector>

#include "kernels/moe/layer.hpp"
#include "kernels/relayout/tensor.hpp"
#include "model/error.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/moe_cases.hpp"

using namespace mx;
using namespace mx::kernels;
using namespace mx::kernels::moe;
using namespace mx::test;

namespace {

/// Sizes of a checkpoint and what a backend may make of them.
struct Sized {
  std::int64_t experts;
  std::int64_t intermediate, hidden;
  std::int64_t padded_intermediate, padded_hidden;
  bool gated = true;

  bool pads() const { return padded_intermediate != intermediate || padded_hidden != hidden; }
};
constexpr Sized kSized[] = {{1, 256, 256, 256, 256}, {3, 256, 256, 256, 256}, {3, 192, 320, 256, 512}, {3, 192, 256, 256, 256, false}};

/// The outputs of the experts for a token each; what the layer has beyond `hidden` must stay 0.
std::vector<std::uint32_t> outputs(const PanelLayer& panels, const std::vector<std::uint16_t>& x, std::size_t hidden, bool gated) {
  const std::size_t padded = panels.w13.shape.k;
  const std::size_t tokens = x.size() / hidden;
  std::vector<std::uint16_t> rows(tokens * padded);
  std::vector<std::int32_t> experts;
  for (std::size_t i = 0; i < x.size(); ++i) rows[i / hidden * padded + i % hidden] = x[i];
  for (std::size_t token = 0; token < tokens; ++token) experts.push_back(static_cast<std::int32_t>(token % panels.w13.shape.experts));
  const mx::moe::Activation& activation = mx::moe::activation_named(gated ? "silu_and_mul" : "silu_no_mul");
  std::vector<float> out(tokens * padded, -1);
  FusedLayer(panels, {.contract = Contract::bf16_block, .activation = &activation, .constants = {}}, isa_tier())
      .run({.x = rows, .experts = experts, .weights = std::vector<float>(tokens, 0.5F), .top_k = 1, .expert_map = {}}, out, 1);
  std::vector<std::uint32_t> found;
  std::size_t beyond = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i % padded < hidden) found.push_back(std::bit_cast<std::uint32_t>(out[i]));
    if (i % padded >= hidden && out[i] != 0) ++beyond;
  }
  CHECK(beyond == 0);
  return found;
}

/// How many layers a backend converted without loss, and how many of them it padded.
struct Packed {
  std::size_t all = 0;
  std::size_t padded = 0;
};

void hold(const layout::BackendLayout& backend, layout::Engine engine, SourceOrder order, const Sized& sized, std::mt19937& random, Packed& packed) {
  const CanonicalLayer layer = any_layer(backend.format, sized.experts, sized.intermediate, sized.hidden, order, sized.gated, random);
  layout::Sizes padded = layer.sizes;
  padded.intermediate = sized.padded_intermediate;
  padded.hidden = sized.padded_hidden;
  layout::PackedLayer converted;
  try {
    converted =
        layout::convert(layer, backend, {.sizes = layer.sizes, .padded = padded, .form = layer.form, .engine = engine}, relayout::kMoveByPlans);
  } catch (const Error&) {
    return;  // does not convert such a layer, which is the converter's business
  }
  if (!converted.losses.empty()) {
    CHECK_THROWS_AS(pack(converted), Error);
    return;
  }
  INFO(backend.backend << ", " << layout::name_of(backend.format) << (engine == layout::Engine::v2026_08 ? ", 2026-08" : ", 2026-05")
                       << (order == SourceOrder::gpt_oss ? ", rows of gpt-oss" : "") << (sized.gated ? "" : ", not gated") << ", " << sized.experts
                       << " experts of " << sized.intermediate << " x " << sized.hidden);
  const PanelLayer found = pack(converted);
  const PanelLayer expected = pack(layer);
  for (const auto matrix : {&PanelLayer::w13, &PanelLayer::w2}) {
    if (sized.pads()) break;  // then they are larger
    CHECK((found.*matrix).codes == (expected.*matrix).codes);
    CHECK((found.*matrix).scales == (expected.*matrix).scales);
    CHECK((found.*matrix).expert_scales == (expected.*matrix).expert_scales);
    CHECK((found.*matrix).bias == (expected.*matrix).bias);
  }
  const auto hidden = static_cast<std::size_t>(sized.hidden);
  std::vector<std::uint16_t> x;
  for (std::size_t i = 0; i < 4 * hidden; ++i) x.push_back(static_cast<std::uint16_t>((random() & 0x807FU) | (123 + random() % 4) << 7));
  CHECK(difference(outputs(found, x, hidden, sized.gated), outputs(expected, x, hidden, sized.gated)) == "");
  ++packed.all;
  packed.padded += found.w13.shape == expected.w13.shape ? 0U : 1U;
}

}  // namespace

TEST_CASE("panels from a backend's memory are those from the checkpoint, and what it pads adds nothing") {
  std::mt19937 random(17);
  Packed packed;
  for (const layout::Engine engine : {layout::Engine::v2026_05, layout::Engine::v2026_08}) {
    for (const layout::BackendLayout& backend : layout::all_backend_layouts()) {
      if (backend.format == WeightFormat::int4) continue;
      for (const Sized& sized : kSized) {
        hold(backend, engine, SourceOrder::standard, sized, random, packed);
        // Only MXFP4 comes in the other order, and gated.
        if (backend.format == WeightFormat::mxfp4 && sized.gated) hold(backend, engine, SourceOrder::gpt_oss, sized, random, packed);
      }
    }
  }
  CHECK(packed.all > 200);
  CHECK(packed.padded > 40);
}
