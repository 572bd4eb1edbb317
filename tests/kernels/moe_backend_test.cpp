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
using namespace mx::deployment;
using namespace mx::kernels;
using namespace mx::kernels::moe;
using namespace mx::tests;

namespace {

/// Sizes of a checkpoint and what backends are to make of them.
struct Sized {
  std::int64_t intermediate, hidden;
  std::int64_t padded_intermediate, padded_hidden;
  bool gated = true;
};

/// The outputs of the experts for a token each; what the layer has beyond `hidden` must stay 0.
std::vector<std::uint32_t> outputs_of(const PanelLayer& panels, const std::vector<std::uint16_t>& x, std::size_t hidden, bool gated) {
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

/// A layer of three experts, rows for them, and what becomes of these without a backend.
struct Reference {
  CanonicalLayer layer;
  layout::Sizes padded;
  PanelLayer panels;
  std::vector<std::uint16_t> x;
  std::vector<std::uint32_t> outputs;

  Reference(WeightFormat format, SourceOrder order, const Sized& sized, std::mt19937& random)
      : layer(any_layer(format, 3, sized.intermediate, sized.hidden, order, sized.gated, random)), padded(layer.sizes), panels(pack(layer)) {
    padded.intermediate = sized.padded_intermediate;
    padded.hidden = sized.padded_hidden;
    for (std::size_t i = 0; i < 4 * panels.w13.shape.k; ++i) {
      x.push_back(static_cast<std::uint16_t>((random() & 0x807FU) | (123 + random() % 4) << 7));
    }
    outputs = outputs_of(panels, x, panels.w13.shape.k, sized.gated);
  }
};

/// How many layers backends converted without loss, and how many of them they padded.
struct Packed {
  std::size_t all = 0;
  std::size_t padded = 0;
};

void hold(const families::BackendLayout& backend, Engine engine, const Reference& reference, Packed& packed) {
  const CanonicalLayer& layer = reference.layer;
  families::PackedLayer converted;
  try {
    converted = families::convert(layer, backend, {.sizes = layer.sizes, .padded = reference.padded, .form = layer.form, .engine = engine},
                                  kernels::relayout::kMoveByPlans);
  } catch (const Error&) {
    return;  // does not convert such a layer, which is the converter's business
  }
  if (!converted.losses.empty()) {
    CHECK_THROWS_AS(pack(converted), Error);
    return;
  }
  INFO(backend.backend << ", " << layout::name_of(backend.format) << (engine == kVllm2026_08 ? ", 2026-08" : ", 2026-05")
                       << (layer.form.order == SourceOrder::gpt_oss ? ", rows of gpt-oss" : ""));
  const PanelLayer found = pack(converted);
  // Padded ones are larger: of those the outputs alone are compared.
  if (reference.padded == layer.sizes) {
    for (const auto matrix : {&PanelLayer::w13, &PanelLayer::w2}) {
      const PanelMatrix& expected = reference.panels.*matrix;
      CHECK((found.*matrix).codes == expected.codes);
      CHECK((found.*matrix).scales == expected.scales);
      CHECK((found.*matrix).expert_scales == expected.expert_scales);
      CHECK((found.*matrix).bias == expected.bias);
    }
  }
  const std::size_t hidden = reference.panels.w13.shape.k;
  CHECK(difference(outputs_of(found, reference.x, hidden, layer.form.gated), reference.outputs) == "");
  ++packed.all;
  packed.padded += found.w13.shape == reference.panels.w13.shape ? 0U : 1U;
}

Packed hold_all(Engine engine, const Sized& sized) {
  std::mt19937 random(17);
  Packed packed;
  for (const WeightFormat format : tests::kFormats) {
    for (const SourceOrder order : {SourceOrder::standard, SourceOrder::gpt_oss}) {
      // Only MXFP4 comes in the other order, and gated.
      if (order == SourceOrder::gpt_oss && (format != WeightFormat::mxfp4 || !sized.gated)) continue;
      const Reference reference(format, order, sized, random);
      for (const families::BackendLayout& backend : families::all_backend_layouts()) {
        if (backend.format == format) hold(backend, engine, reference, packed);
      }
    }
  }
  return packed;
}

constexpr Sized kPadded{192, 320, 256, 512};

}  // namespace

TEST_CASE("panels from a backend's memory are those from the checkpoint") { CHECK(hold_all(kVllm2026_08, {256, 256, 256, 256}).all > 30); }

TEST_CASE("what a backend pads adds nothing to a layer's outputs") { CHECK(hold_all(kVllm2026_08, kPadded).padded > 10); }

TEST_CASE("what a backend of 2026-05 pads adds nothing to a layer's outputs") { CHECK(hold_all(kVllm2026_05, kPadded).padded > 10); }

TEST_CASE("what a backend pads adds nothing to the outputs of experts without a gate") {
  CHECK(hold_all(kVllm2026_08, {192, 256, 256, 256, false}).padded > 5);
}
