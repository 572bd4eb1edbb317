// The fused layer of every tier against the model's, on layers, tokens and choices drawn from the first bytes, whose codes and activations the others
// replace.

#include "tests/fuzz/target.hpp"
#include "tests/kernels/moe_cases.hpp"

namespace {

using mx::tests::Case;

/// Puts bytes anywhere into codes and scales that may be any, and words anywhere into the tokens.
void replace_values(Case& c, mx::layout::WeightFormat format, mx::tests::Bytes& bytes) {
  std::vector<mx::layout::Role> roles{mx::layout::Role::w13_weight, mx::layout::Role::w2_weight};
  if (format == mx::layout::WeightFormat::mxfp4) roles.insert(roles.end(), {mx::layout::Role::w13_weight_scale, mx::layout::Role::w2_weight_scale});
  while (!bytes.empty()) {
    const std::size_t what = bytes.pick(roles.size() + 2);
    const std::size_t at = bytes.byte() | static_cast<std::size_t>(bytes.byte()) << 8;
    if (what < roles.size()) {
      auto& values = c.layer[roles[what]];
      values[at % values.size()] = bytes.byte();
    } else {
      c.x[at % c.x.size()] = static_cast<std::uint16_t>(bytes.byte() | bytes.byte() << 8);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mx::tests::Bytes bytes(data, size);
  const mx::layout::WeightFormat format = mx::tests::kFormats[bytes.pick(std::size(mx::tests::kFormats))];
  const mx::Contract contract = mx::tests::kContracts[bytes.pick(std::size(mx::tests::kContracts))];
  if (!mx::tests::takes(contract, format)) return 0;
  const bool gated = bytes.pick(4) != 0;
  const int threads = 1 + static_cast<int>(bytes.pick(3));
  std::mt19937 random(bytes.word());
  Case c = mx::tests::any_case(random, false, format, gated);
  const mx::moe::ScaledChoices choices = mx::tests::any_choices(random, contract, c);
  replace_values(c, format, bytes);
  const mx::kernels::moe::PanelLayer panels = mx::kernels::moe::pack(c.layer);
  const std::vector<std::uint32_t> wanted = mx::tests::modelled(c, choices);
  for (const mx::kernels::IsaTier& tier : mx::kernels::isa_tiers()) {
    if (mx::kernels::runs_here(tier))
      mx::tests::require(mx::tests::run(panels, c, choices, tier, threads) == wanted, "every tier has the model's bits");
  }
  return 0;
}
