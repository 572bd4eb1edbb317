// What the engine rounds sizes up to: the older column against the oracle's own table, the newer one against the sizes that the converters saw.

#include "model/engine/vllm/rounding.hpp"

#include <string>
#include <vector>

#include "checkpoint/rounding.hpp"
#include "model/engine/vllm/select.hpp"
#include "model/engine/vllm/tables.hpp"
#include "model/families/memory.hpp"
#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"

using namespace mx::families;
using namespace mx::layout;

namespace {

struct Device {
  Arch arch;
  mx::deployment::PlatformKind kind;
};

Setting setting_of(mx::deployment::Engine engine, Arch arch, std::int64_t intermediate, std::int64_t hidden) {
  Setting setting;
  setting.sizes = {1, intermediate, hidden, 32};
  setting.engine = engine;
  setting.arch = arch;
  return setting;
}

std::string text(const Sizes& sizes) { return std::to_string(sizes.intermediate) + " x " + std::to_string(sizes.hidden); }

}  // namespace

TEST_CASE("the rounding of 2026-05 is the oracle's, for every backend on every kind of device") {
  const std::vector<Device> devices{{Arch::sm100, mx::deployment::PlatformKind::cuda},
                                    {Arch::gfx950, mx::deployment::PlatformKind::rocm},
                                    {Arch::xpu, mx::deployment::PlatformKind::xpu},
                                    {Arch::cpu, mx::deployment::PlatformKind::cpu}};
  for (const auto& row : mx::engine::mxfp4_tables(mx::deployment::kVllm2026_05).backends) {
    for (const Device& device : devices) {
      for (const std::int64_t size : {32, 64, 96, 128, 160, 256, 288, 1440, 2880, 4096}) {
        mx::deployment::Deployment deployment{};
        deployment.hardware.platform = device.kind;
        const auto want = mx::engine::round_up(mx::engine::mxfp4_tables(mx::deployment::kVllm2026_05), row.name, deployment, {size, 4128 - size});
        const Sizes got = mx::checkpoint::rounded_up(row.name, setting_of(mx::deployment::kVllm2026_05, device.arch, 4128 - size, size));
        INFO(row.name << " " << name_of(device.arch) << " " << size);
        CHECK(got.hidden == want.hidden);
        CHECK(got.intermediate == want.intermediate);
        CHECK(got.experts == 1);
        CHECK(got.group == 32);
      }
    }
  }
}

TEST_CASE("the rounding of 2026-08 differs for TRT-LLM, EMULATION and AITER's bf16") {
  struct Row {
    std::string backend;
    Arch arch;
    ConverterActivation activation;
    std::string older;
    std::string newer;
  };
  // Of I = 2880, H = 2912. Source: layouts.md, sections 9 and 14.
  const std::vector<Row> rows{
      {"FLASHINFER_TRTLLM_MXFP4_BF16", Arch::sm100, ConverterActivation::swigluoai, "3072 x 3072", "2944 x 3072"},
      {"FLASHINFER_TRTLLM_MXFP4_MXFP8", Arch::sm100, ConverterActivation::swigluoai, "3072 x 3072", "2944 x 3072"},
      {"EMULATION", Arch::sm90, ConverterActivation::swigluoai, "2880 x 2912", "2880 x 2912"},
      {"EMULATION", Arch::gfx942, ConverterActivation::swigluoai, "3072 x 3072", "2880 x 2912"},
      {"AITER_MXFP4_BF16", Arch::gfx950, ConverterActivation::silu, "3072 x 3072", "2944 x 2944"},
      {"AITER_MXFP4_BF16", Arch::gfx950, ConverterActivation::situ, "3072 x 3072", "2944 x 2944"},
      {"AITER_MXFP4_BF16", Arch::gfx950, ConverterActivation::swigluoai, "3072 x 3072", "3072 x 3072"},
      {"AITER_MXFP4_MXFP4", Arch::gfx950, ConverterActivation::silu, "3072 x 3072", "3072 x 3072"},
      {"MARLIN", Arch::sm90, ConverterActivation::swigluoai, "2944 x 3072", "2944 x 3072"},
      {"BATCHED_MARLIN", Arch::xpu, ConverterActivation::swigluoai, "2944 x 2944", "2944 x 2944"},
      {"TRITON", Arch::sm90, ConverterActivation::swigluoai, "2880 x 2912", "2880 x 2912"},
      {"DEEPGEMM_MXFP4", Arch::sm100, ConverterActivation::swigluoai, "2944 x 2944", "2944 x 2944"},
      {"FLASHINFER_CUTLASS_MXFP4_BF16", Arch::sm90, ConverterActivation::swigluoai, "2944 x 2944", "2944 x 2944"},
      {"CPU", Arch::cpu, ConverterActivation::swigluoai, "2880 x 2912", "2880 x 2912"},
  };
  for (const Row& row : rows) {
    INFO(row.backend);
    Setting setting = setting_of(mx::deployment::kVllm2026_05, row.arch, 2880, 2912);
    setting.activation = row.activation;
    CHECK(text(mx::checkpoint::rounded_up(row.backend, setting)) == row.older);
    setting.engine = mx::deployment::kVllm2026_08;
    CHECK(text(mx::checkpoint::rounded_up(row.backend, setting)) == row.newer);
  }
  // EMULATION of 2026-05 rounds I to 64, of 2026-08 both to 32.
  CHECK(text(mx::checkpoint::rounded_up("EMULATION", setting_of(mx::deployment::kVllm2026_05, Arch::sm90, 96, 96))) == "128 x 96");
  CHECK(text(mx::checkpoint::rounded_up("EMULATION", setting_of(mx::deployment::kVllm2026_08, Arch::sm90, 96, 96))) == "96 x 96");
}

TEST_CASE("formats that are not rounded keep their sizes, and impossible sizes are refused") {
  Setting setting = setting_of(mx::deployment::kVllm2026_05, Arch::sm90, 96, 96);
  setting.form = {WeightFormat::nvfp4, SourceOrder::standard};
  setting.sizes.group = 16;
  CHECK(text(mx::checkpoint::rounded_up("MARLIN", setting)) == "96 x 96");
  setting.sizes.hidden = 0;
  CHECK(mx::tests::refuses(mx::ErrorCode::usage, "must be positive", [&] { mx::checkpoint::rounded_up("MARLIN", setting); }));
}
