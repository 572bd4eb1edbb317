// Words for what FlashInfer's converters look at, and the record.

#include "model/families/flashinfer_cutlass/family.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "model/error.hpp"
#include "model/families/kernel_form.hpp"
#include "model/families/setting_key_rows.hpp"
#include "model/names.hpp"

namespace mx::families {
namespace {

using Text = std::string_view;

struct ReleaseRow {
  Flashinfer release;
  Text first;
  Text last;
};
// Source: flashinfer-ai/flashinfer, csrc/nv_internal/tensorrt_llm/kernels/cutlass_kernels/moe_gemm/moe_gemm_mixed_utils.cu and
// flashinfer/fused_moe/prepare.py; the text is equal from the first release to the last.
constexpr std::array<ReleaseRow, 2> kReleases{{
    {Flashinfer::v0_6_11, "0.6.11.post2", "0.6.17"},
    {Flashinfer::v0_6_18, "0.6.18", "0.7.2.post1"},
}};

/// Releases of the engine that ask for another FlashInfer than the commits of their month.
struct AskedRow {
  Text engine_release;
  Flashinfer release;
};
// Source: vllm-project/vllm, requirements/cuda.txt.
constexpr std::array<AskedRow, 2> kAsked{{{"0.29.0", Flashinfer::v0_6_18}, {"0.33.0", Flashinfer::v0_6_18}}};

/// Numbers of a release, "0.6.11.post2" as 0 6 11 2; none where the text is no release.
std::vector<int> numbers_of(Text text) {
  constexpr int kMost = 100'000;
  std::vector<int> numbers;
  while (!text.empty()) {
    const std::size_t dot = text.find('.');
    Text word = text.substr(0, dot);
    if (numbers.size() >= 2 && word.starts_with("post")) word.remove_prefix(4);
    if (word.empty() || word.find_first_not_of("0123456789") != Text::npos) return {};
    int number = 0;
    for (const char digit : word) number = number > kMost ? number : 10 * number + (digit - '0');
    numbers.push_back(number);
    text.remove_prefix(dot == Text::npos ? text.size() : dot + 1);
  }
  return numbers.size() > 1 ? numbers : std::vector<int>();
}

constexpr std::array<Text, 3> kTrials{"engine", "0.6.11.post2", "0.6.18"};

constexpr std::array<SettingKey, 1> kKeys{{
    {"flashinfer", "a release, as 0.6.17, or engine: the one that it asks for", "release of FlashInfer", kTrials,
     [](Setting& s, Text v) { s.of<FlashinferParameters>().release = same_name(v, "engine") ? std::nullopt : std::optional(flashinfer_named(v)); },
     [](const Setting& s) { return std::string(s.of<FlashinferParameters>().release ? name_of(*s.of<FlashinferParameters>().release) : "engine"); }},
}};

/// Does not compile when the parameters get another field, which must then become a row of kKeys.
[[maybe_unused]] void check_fields(const FlashinferParameters& parameters) { [[maybe_unused]] const auto& [release] = parameters; }

}  // namespace

std::string_view name_of(Flashinfer release) {
  for (const ReleaseRow& row : kReleases) {
    if (row.release == release) return row.first;
  }
  return {};
}

Flashinfer flashinfer_named(Text release) {
  const std::vector<int> asked = numbers_of(release);
  if (asked.empty()) throw Error(ErrorCode::usage, "'" + std::string(release) + "' is no release, as 0.6.17", "flashinfer");
  std::string known;
  for (const ReleaseRow& row : kReleases) {
    if (asked >= numbers_of(row.first) && asked <= numbers_of(row.last)) return row.release;
    known += (known.empty() ? "" : ", ") + std::string(row.first) + " to " + std::string(row.last);
  }
  throw Error(ErrorCode::unsupported, "release " + std::string(release) + " of FlashInfer is not known: " + known + " are", "flashinfer");
}

std::optional<Flashinfer> flashinfer_asked_by(Text engine_release) {
  const auto row = std::ranges::find(kAsked, engine_release, &AskedRow::engine_release);
  return row == kAsked.end() ? std::nullopt : std::optional(row->release);
}

Flashinfer flashinfer_of(const Setting& setting) { return setting.of<FlashinferParameters>().release.value_or(Flashinfer::v0_6_11); }

constinit const std::span<const SettingKey> kFlashinferCutlassSettingKeys{kKeys};

namespace {

/// Scales of the mixed input kernel on Hopper: tiles of 64 rows and 4 groups since FlashInfer 0.6.18.
constexpr std::string_view kMixedForms = "flashinfer fused_moe/utils.py interleave_moe_scales_for_sm90_mixed_gemm";
bool folds_mixed_scales(const Setting& setting) { return flashinfer_of(setting) == Flashinfer::v0_6_18; }
FormShape tiles_of_64_form(const FormParts& p) { return {{p.memory.experts, p.memory.rows / 64, p.memory.columns / 4, 16, 16}}; }
FormShape groups_of_4_form(const FormParts& p) { return {{p.memory.experts, p.memory.columns / 4, p.memory.rows * 4}}; }
constexpr std::array kFlashinferFormRows{
    KernelFormRow{"FLASHINFER_CUTLASS_MXFP4_BF16", {}, FormPart::scale, folds_mixed_scales, "uint8", tiles_of_64_form, kMixedForms},
    KernelFormRow{"FLASHINFER_CUTLASS_MXFP4_BF16", {}, FormPart::scale, nullptr, "uint8", groups_of_4_form, kMixedForms},
};

}  // namespace

constinit const std::span<const KernelFormRow> kFlashinferCutlassForms{kFlashinferFormRows};

constinit const Family kFlashinferCutlassFamily{
    .name = "flashinfer_cutlass",
    .layouts = {&kFlashinferCutlassLayouts, 1},
    .blocks = {&kFlashinferCutlassBlocks, 7},
    .inputs = {&kFlashinferCutlassInputs},
    .needs = {&kFlashinferCutlassNeeds},
    .classes = {&kFlashinferCutlassClasses},
    .executions = {&kFlashinferCutlassExecutions, 2},
    .forms = {&kFlashinferCutlassForms},
    .setting_keys = {&kFlashinferCutlassSettingKeys, 4},
};

}  // namespace mx::families
