#include "tests/props/restated_answers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <vector>

#include "checkpoint/rounding.hpp"
#include "model/families/convert.hpp"
#include "model/layout/packed.hpp"
#include "model/moe/routing.hpp"
#include "model/stand_in.hpp"

namespace mx::tests {
namespace {

using families::Arch;
using families::ConverterActivation;
using families::Setting;
using layout::Sizes;

constexpr std::array<std::string_view, 17> kBackends{"DEEPGEMM_MXFP4",
                                                     "FLASHINFER_TRTLLM_MXFP4_BF16",
                                                     "FLASHINFER_TRTLLM_MXFP4_MXFP8",
                                                     "FLASHINFER_CUTLASS_MXFP4_BF16",
                                                     "FLASHINFER_CUTLASS_MXFP4_MXFP8",
                                                     "MARLIN",
                                                     "BATCHED_MARLIN",
                                                     "AITER_MXFP4_BF16",
                                                     "AITER_MXFP4_FP8",
                                                     "AITER_MXFP4_MXFP4",
                                                     "TRITON",
                                                     "TRITON_UNFUSED",
                                                     "XPU",
                                                     "CPU",
                                                     "EMULATION",
                                                     "HUMMING",
                                                     "NONE"};
constexpr std::array<Arch, 6> kArchs{Arch::sm90, Arch::sm100, Arch::gfx942, Arch::gfx950, Arch::xpu, Arch::cpu};
constexpr std::array<ConverterActivation, 3> kActivations{ConverterActivation::silu, ConverterActivation::swigluoai, ConverterActivation::situ};

/// The first case for which `differs`, as text.
std::string first_case(const std::function<bool(std::string_view backend, const Setting& setting)>& differs) {
  for (const deployment::Engine engine : families::kConversionEngines) {
    for (const std::string_view backend : kBackends) {
      for (const Arch arch : kArchs) {
        for (const ConverterActivation activation : kActivations) {
          for (std::int64_t blocks = 1; blocks <= 17; ++blocks) {
            Setting setting;
            setting.sizes = {1, 32 * blocks, 32 * (18 - blocks), 32};
            setting.engine = engine;
            setting.arch = arch;
            setting.activation = activation;
            if (differs(backend, setting))
              return std::string(backend) + " " + std::string(deployment::name_of(engine)) + " " + std::string(families::name_of(arch)) + " " +
                     std::string(families::name_of(activation)) + " " + std::to_string(setting.sizes.intermediate) + " x " +
                     std::to_string(setting.sizes.hidden);
          }
        }
      }
    }
  }
  return {};
}

std::vector<std::uint32_t> words_of(const std::vector<std::uint8_t>& bytes) {
  std::vector<std::uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), 4 * words.size());
  return words;
}

std::int64_t up(std::int64_t size, std::int64_t multiple) { return size % multiple == 0 ? size : size + multiple - size % multiple; }

}  // namespace

Multiples restated_rounding(std::string_view backend, const Setting& setting) {
  const bool newer = setting.engine == deployment::kVllm2026_08;
  const bool rocm = setting.arch == Arch::gfx942 || setting.arch == Arch::gfx950;
  if (newer && backend == "EMULATION") return {32, 32};
  if (backend == "DEEPGEMM_MXFP4") return {128, 128};
  if (backend == "MARLIN" || backend == "BATCHED_MARLIN") return {setting.arch == Arch::xpu ? 128 : 256, 128};
  if (backend.starts_with("FLASHINFER_TRTLLM")) return {256, newer ? 128 : 256};
  if (backend.starts_with("FLASHINFER_CUTLASS")) return {128, 128};
  if (rocm) {
    const bool narrow = newer && backend == "AITER_MXFP4_BF16" && setting.activation != ConverterActivation::swigluoai;
    return narrow ? Multiples{128, 128} : Multiples{256, 256};
  }
  if (backend == "CPU") return {32, 32};
  return {1, 64};
}

std::string wrong_rounding() {
  return first_case([](std::string_view backend, const Setting& setting) {
    const Multiples to = restated_rounding(backend, setting);
    const Sizes got = checkpoint::rounded_up(backend, setting);
    return got.hidden != up(setting.sizes.hidden, to.hidden) || got.intermediate != up(setting.sizes.intermediate, to.intermediate);
  });
}

std::string wrong_weight_place() {
  for (const moe::RouterRecipe& router : moe::all_routers()) {
    const moe::WeightPlace place = router.name == "llama4" ? moe::WeightPlace::input : moe::WeightPlace::output;
    if (router.weight_on != place) return std::string(router.name);
  }
  return {};
}

std::string wrong_block_scales() {
  const auto smallest = std::bit_cast<std::uint32_t>(1e-10F);
  const std::array<std::uint32_t, 8> kScales{0, 1, smallest - 1, smallest, smallest + 1, 0x3F800000U, 0x3A123456U, 0x00800000U};
  for (const families::BackendLayout& row : families::all_backend_layouts()) {
    const bool raises = row.backend.starts_with("FLASHINFER");
    // XPU's kernel takes them as they are; other rows make other numbers of theirs.
    if (row.format != layout::WeightFormat::fp8_block || (!raises && row.backend != "XPU")) continue;
    Setting setting;
    setting.sizes = setting.padded = {1, 256, 512, 128};
    setting.form = layout::Form(row.format, layout::SourceOrder::standard);
    setting.engine = row.engines.has(deployment::kVllm2026_08) ? deployment::kVllm2026_08 : deployment::kVllm2026_05;
    setting.has_bias = false;
    layout::CanonicalLayer layer{setting.sizes, setting.form, {}};
    for (const layout::Role role : layout::kAllRoles) {
      if (!layout::has_role(row.format, role) || layout::is_bias(role)) continue;
      layer[role].resize(static_cast<std::size_t>(layout::canonical(role, setting.sizes, setting.form).bytes()));
      for (std::size_t i = 0; layout::is_scale(role) && i < layer[role].size() / 4; ++i) std::memcpy(&layer[role][4 * i], &kScales[i % 8], 4);
    }
    const families::PackedLayer packed = families::convert(layer, row, setting);
    for (const layout::Role role : {layout::Role::w13_weight_scale, layout::Role::w2_weight_scale}) {
      std::vector<std::uint32_t> wanted = words_of(layer[role]);
      if (raises) std::ranges::transform(wanted, wanted.begin(), [&](std::uint32_t scale) { return std::max(scale, smallest); });
      std::vector<std::uint32_t> found = words_of(packed.find(role)->bytes);
      std::ranges::sort(wanted);
      std::ranges::sort(found);
      if (found != wanted) return std::string(row.backend) + " " + std::string(layout::name_of(role));
    }
  }
  return {};
}

std::string different_rounding(std::span<const engine::RoundingRow> rows) {
  return first_case([rows](std::string_view backend, const Setting& setting) {
    const Sizes own = checkpoint::rounded_up(backend, setting);
    fault::set_stand_in(fault::Table::roundings, {rows.data(), rows.size()});
    const Sizes other = checkpoint::rounded_up(backend, setting);
    fault::set_stand_in(fault::Table::roundings, {});
    return !(own == other);
  });
}

}  // namespace mx::tests
