#include "model/oracle/env.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace mx::oracle {
namespace {

/// How the engine understands the text. Source: vllm envs.py.
enum class Parse {
  integer,  ///< bool(int(text)): raises ValueError on anything that Python's int() refuses
  word,     ///< text.lower() in ("1", "true")
  text,
};

struct EnvRow {
  std::string_view name;
  Parse parse;
  bool fallback;
};

// In the order of EnvVariable.
constexpr std::array<EnvRow, 9> kRows = {{
    {"VLLM_BATCH_INVARIANT", Parse::integer, false},
    {"VLLM_USE_FLASHINFER_MOE_MXFP4_BF16", Parse::integer, false},
    {"VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8", Parse::integer, false},
    {"VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS", Parse::integer, false},
    {"VLLM_MXFP4_USE_MARLIN", Parse::integer, false},
    {"VLLM_USE_DEEP_GEMM", Parse::integer, true},
    {"VLLM_ROCM_USE_AITER", Parse::word, false},
    {"VLLM_ROCM_USE_AITER_MOE", Parse::word, true},
    {"VLLM_HUMMING_MOE_GEMM_TYPE", Parse::text, false},
}};
static_assert(static_cast<std::size_t>(EnvVariable::humming_moe_gemm_type) + 1 == kRows.size());

// Those of the other oracles are known names too: setting one of them in a deployment is no mistake, it changes nothing here.
constexpr std::array<std::string_view, 14> kNames = {
    "VLLM_BATCH_INVARIANT",
    "VLLM_USE_FLASHINFER_MOE_MXFP4_BF16",
    "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8",
    "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS",
    "VLLM_MXFP4_USE_MARLIN",
    "VLLM_USE_DEEP_GEMM",
    "VLLM_MOE_USE_DEEP_GEMM",
    "VLLM_ROCM_USE_AITER",
    "VLLM_ROCM_USE_AITER_MOE",
    "VLLM_HUMMING_MOE_GEMM_TYPE",
    "VLLM_USE_FLASHINFER_MOE_FP4",
    "VLLM_USE_FLASHINFER_MOE_FP8",
    "VLLM_FLASHINFER_MOE_BACKEND",
    "VLLM_TEST_FORCE_FP8_MARLIN",
};

const EnvRow& row_of(EnvVariable variable) { return kRows[static_cast<std::size_t>(variable)]; }

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Python's int(text) != 0: blanks around, one sign, digits with single underscores between them, any length.
Switch parse_integer(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) text.remove_prefix(1);
  bool after_digit = false;
  bool nonzero = false;
  for (char c : text) {
    if (c == '_' && after_digit) {
      after_digit = false;
    } else if (is_digit(c)) {
      after_digit = true;
      nonzero = nonzero || c != '0';
    } else {
      return Switch::unreadable;
    }
  }
  if (!after_digit) return Switch::unreadable;
  return nonzero ? Switch::on : Switch::off;
}

}  // namespace

std::string_view name_of(EnvVariable variable) { return row_of(variable).name; }

bool is_set(const Environment& environment, EnvVariable variable) { return environment.contains(std::string(row_of(variable).name)); }

Switch read_switch(const Environment& environment, EnvVariable variable) {
  const EnvRow& row = row_of(variable);
  const auto found = environment.find(std::string(row.name));
  if (found == environment.end()) return row.fallback ? Switch::on : Switch::off;
  if (row.parse == Parse::integer) return parse_integer(found->second);
  const std::string word = lower(found->second);
  return word == "1" || word == "true" ? Switch::on : Switch::off;
}

std::string read_text(const Environment& environment, EnvVariable variable) {
  const auto found = environment.find(std::string(row_of(variable).name));
  return found == environment.end() ? std::string() : lower(found->second);
}

std::span<const std::string_view> env_names() { return kNames; }

}  // namespace mx::oracle
