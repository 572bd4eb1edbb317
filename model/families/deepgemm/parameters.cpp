// Words for what DeepGEMM's converters look at.

#include <array>

#include "model/families/setting_key_rows.hpp"

namespace mx::layout {
namespace {

constexpr std::array<std::string_view, 2> kTrials{"yes", "no"};

constexpr std::array<SettingKey, 1> kKeys{{
    {"deep-gemm-e8m0", kYesNo, "VLLM_USE_DEEP_GEMM_E8M0: DeepGEMM's scales of FP8 blocks are made powers of two (default: yes)", kTrials,
     [](Setting& s, std::string_view v) { s.deepgemm.e8m0 = yes_or_no("deep-gemm-e8m0", v); },
     [](const Setting& s) { return word_of(s.deepgemm.e8m0); }},
}};

}  // namespace

std::span<const SettingKey> deepgemm_setting_keys() { return kKeys; }

}  // namespace mx::layout
