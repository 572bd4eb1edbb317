// Which conversion stands for a version whose own were not run, by what was read of 0.33.0's sources.

#include "model/families/carried.hpp"

#include <string_view>

#include "model/families/setting_keys.hpp"
#include "tests/catch.hpp"

using namespace mx;
using namespace mx::layout;
using namespace mx::deployment;
using namespace mx::families;

namespace {

struct Expected {
  std::string_view backend;
  WeightFormat format;
  std::string_view changed;  ///< a part of what 0.33.0 does otherwise; empty: it reads the same
};

// What vllm 0.33.0 changed in its conversions since 7ca49fbe4, by its wheel's sources; the others' code is equal there, but for names and arguments.
constexpr Expected kNovember[] = {
    {"FLASHINFER_TRTLLM", WeightFormat::nvfp4, "padded each"},
    {"FLASHINFER_TRTLLM", WeightFormat::mxfp8, "I is padded to 128"},
    {"FLASHINFER_TRTLLM", WeightFormat::fp8_tensor, "padded each"},
    {"FLASHINFER_TRTLLM", WeightFormat::fp8_block, ""},
    {"FLASHINFER_CUTLASS", WeightFormat::fp8_tensor, "padded each"},
    {"FLASHINFER_CUTLASS", WeightFormat::fp8_block, ""},
    {"FLASHINFER_CUTLASS", WeightFormat::nvfp4, ""},
    {"FLASHINFER_CUTEDSL", WeightFormat::nvfp4, "H to 256"},
    {"FLASHINFER_CUTEDSL_BATCHED", WeightFormat::nvfp4, ""},
    {"FLASHINFER_CUTLASS_MXFP4_BF16", WeightFormat::mxfp4, ""},
    {"FLASHINFER_CUTLASS_MXFP4_MXFP8", WeightFormat::mxfp4, ""},
    {"FLASHINFER_TRTLLM_MXFP4_BF16", WeightFormat::mxfp4, ""},
    {"TRITON", WeightFormat::mxfp4, "triton_kernels 3.8"},
    {"TRITON_UNFUSED", WeightFormat::mxfp4, "triton_kernels 3.8"},
    {"TRITON", WeightFormat::fp8_block, ""},
    {"AITER_MXFP4_FP8", WeightFormat::mxfp4, "triton_kernels 3.8"},
    {"AITER_MXFP4_BF16", WeightFormat::mxfp4, "SITU"},
    {"AITER", WeightFormat::fp8_block, "not compared"},
    {"HUMMING", WeightFormat::mxfp4, ""},
    {"HUMMING", WeightFormat::fp8_pair, ""},
    {"DEEPGEMM_MXFP4", WeightFormat::mxfp4, "2.8.1"},
    {"DEEPGEMM", WeightFormat::fp8_block_e8m0, "e8m0 go to the packer"},
    {"MARLIN", WeightFormat::mxfp4, ""},
    {"MARLIN", WeightFormat::nvfp4, ""},
    {"MARLIN", WeightFormat::fp8_channel, ""},
    {"B12X", WeightFormat::nvfp4, ""},
    {"XPU", WeightFormat::mxfp4, ""},
    {"CPU", WeightFormat::mxfp4, ""},
    {"EMULATION", WeightFormat::nvfp4, ""},
    {"VLLM_CUTLASS", WeightFormat::nvfp4, ""},
    {"CUTLASS", WeightFormat::int4, ""},
};

}  // namespace

TEST_CASE("a version without conversions of its own takes the last ones that were run and says what changed since") {
  for (const Expected& row : kNovember) {
    INFO(row.backend << " " << name_of(row.format));
    const StandingConversion conversion = conversion_at(row.backend, row.format, kVllm2026_11);
    REQUIRE(conversion.row != nullptr);
    CHECK(conversion.row == find_backend_layout(row.backend, row.format, kVllm2026_08));
    CHECK(conversion.of == kVllm2026_08);
    CHECK(conversion.stands() == row.changed.empty());
    CHECK(conversion.changed.find(row.changed) != std::string_view::npos);
    CHECK(conversion.source.empty() == row.changed.empty());
    const std::string text = standing_text(conversion, kVllm2026_11);
    CHECK(text.starts_with(row.changed.empty() ? "run at vllm@2026-08, reads the same" : "run at vllm@2026-08, changed since: "));
  }
}

TEST_CASE("a version's own conversion needs no words, and what no row has is no layout") {
  for (const Engine engine : kConversionEngines) {
    const StandingConversion own = conversion_at("MARLIN", WeightFormat::nvfp4, engine);
    CHECK(own.is_own(engine));
    CHECK(own.stands());
    CHECK(own.row == find_backend_layout("MARLIN", WeightFormat::nvfp4, engine));
    CHECK(standing_text(own, engine).empty());
    CHECK(carried_libraries(own, engine).empty());
  }
  const StandingConversion none = conversion_at("CUTLASS_MXFP4_MXFP4", WeightFormat::mxfp4, kVllm2026_11);
  CHECK(none.row == nullptr);
  CHECK_FALSE(none.stands());
  CHECK(standing_text(none, kVllm2026_11) == "no layout");
}

TEST_CASE("a carried conversion takes the release of its library that the version asks for") {
  // The CUDA wheel of 0.33.0 requires flashinfer-python 0.7.2.post1.
  const StandingConversion mixed = conversion_at("FLASHINFER_CUTLASS_MXFP4_BF16", WeightFormat::mxfp4, kVllm2026_11);
  CHECK(carried_libraries(mixed, kVllm2026_11) == std::vector<std::string>{"flashinfer=0.7.2.post1"});
  CHECK(standing_text(mixed, kVllm2026_11) == "run at vllm@2026-08, reads the same, with flashinfer=0.7.2.post1");
  CHECK(standing_text(conversion_at("HUMMING", WeightFormat::mxfp4, kVllm2026_11), kVllm2026_11) ==
        "run at vllm@2026-08, reads the same, with humming=0.1.19");
  CHECK(carried_libraries(conversion_at("MARLIN", WeightFormat::mxfp4, kVllm2026_11), kVllm2026_11).empty());
}

TEST_CASE("who names a version without conversions of its own gets the last ones that were run, with the libraries that it asks for") {
  CHECK(conversion_engine_named("2026-11") == kVllm2026_08);
  CHECK(conversion_engine_named("vllm==0.33.0") == kVllm2026_08);
  CHECK(conversion_engine_named("2026-05") == kVllm2026_05);
  Setting setting{.sizes = {}, .padded = {}, .form = {}};
  find_setting_key("engine")->set(setting, "2026-11");
  CHECK(setting.engine == kVllm2026_08);
  CHECK(setting.of<families::FlashinferParameters>().release == Flashinfer::v0_6_18);
  CHECK(setting.of<families::HummingParameters>().release == Humming::v0_1_19);
  Setting august{.sizes = {}, .padded = {}, .form = {}};
  find_setting_key("engine")->set(august, "2026-08");
  CHECK_FALSE(august.of<families::FlashinferParameters>().release);
  find_setting_key("engine")->set(august, "vllm==0.29.0");
  CHECK(august.of<families::FlashinferParameters>().release == Flashinfer::v0_6_18);
  CHECK_FALSE(august.of<families::HummingParameters>().release);
}
