#include "tests/props/restated_answers.hpp"

#include <array>
#include <functional>

#include "model/moe/routing.hpp"
#include "model/stand_in.hpp"

namespace mx::props {
namespace {

using layout::Arch;
using layout::ConverterActivation;
using layout::Engine;
using layout::Setting;
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
  for (const Engine engine : layout::kEngines) {
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
              return std::string(backend) + " " + std::string(layout::name_of(engine)) + " " + std::string(layout::name_of(arch)) + " " +
                     std::string(layout::name_of(activation)) + " " + std::to_string(setting.sizes.intermediate) + " x " +
                     std::to_string(setting.sizes.hidden);
          }
        }
      }
    }
  }
  return {};
}

std::int64_t up(std::int64_t size, std::int64_t multiple) { return size % multiple == 0 ? size : size + multiple - size % multiple; }

}  // namespace

Multiples restated_rounding(std::string_view backend, const Setting& setting) {
  const bool newer = setting.engine == Engine::v2026_08;
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
    const Sizes got = layout::rounded_up(backend, setting);
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

std::string different_rounding(std::span<const layout::RoundingRow> rows) {
  return first_case([rows](std::string_view backend, const Setting& setting) {
    const Sizes own = layout::rounded_up(backend, setting);
    fault::set_stand_in(fault::Table::roundings, {rows.data(), rows.size()});
    const Sizes other = layout::rounded_up(backend, setting);
    fault::set_stand_in(fault::Table::roundings, {});
    return !(own == other);
  });
}

}  // namespace mx::props
