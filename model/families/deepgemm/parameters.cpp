// Words for what DeepGEMM's converters look at.

#include <array>
#include <string>

#include "model/error.hpp"
#include "model/families/deepgemm/family.hpp"
#include "model/families/setting_key_rows.hpp"

namespace mx::families {
namespace {

constexpr std::array<std::string_view, 2> kTrials{"yes", "no"};

constexpr std::array<SettingKey, 1> kKeys{{
    {"deep-gemm-e8m0", kYesNo, "VLLM_USE_DEEP_GEMM_E8M0: DeepGEMM's scales of FP8 blocks are made powers of two (default: yes)", kTrials,
     [](Setting& s, std::string_view v) { s.deepgemm.e8m0 = yes_or_no("deep-gemm-e8m0", v); },
     [](const Setting& s) { return word_of(s.deepgemm.e8m0); }},
}};

constexpr std::string_view kE8m0Variable = "VLLM_USE_DEEP_GEMM_E8M0";

/// bool(int(text)) of Python. Source: vllm envs.py.
std::string yes_unless_zero(std::string_view text) {
  const std::size_t first = text.find_first_not_of("+-");
  const std::string_view digits = first == std::string_view::npos ? std::string_view() : text.substr(first);
  if (digits.empty() || first > 1 || digits.find_first_not_of("0123456789") != std::string_view::npos)
    throw Error(ErrorCode::usage, "'" + std::string(text) + "' is no integer", std::string(kE8m0Variable));
  return word_of(digits.find_first_not_of('0') != std::string_view::npos);
}

constexpr std::array<SettingVariable, 1> kVariables{{{kE8m0Variable, "deep-gemm-e8m0", yes_unless_zero}}};

}  // namespace

constinit const std::span<const SettingVariable> kDeepgemmSettingVariables{kVariables};

constinit const std::span<const SettingKey> kDeepgemmSettingKeys{kKeys};

}  // namespace mx::families
