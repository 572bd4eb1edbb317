#include "model/engine/vllm/env.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "model/column.hpp"

namespace mx::engine {
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

// In the order of EnvVariable. Setting a variable that the oracle at hand does not read is no mistake, it changes nothing there.
constexpr std::array<EnvRow, 21> kRows = {{
    {"VLLM_BATCH_INVARIANT", Parse::integer, false},
    {"VLLM_USE_FLASHINFER_MOE_MXFP4_BF16", Parse::integer, false},
    {"VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8", Parse::integer, false},
    {"VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS", Parse::integer, false},
    {"VLLM_MXFP4_USE_MARLIN", Parse::integer, false},
    {"VLLM_USE_FLASHINFER_MOE_FP4", Parse::integer, false},
    {"VLLM_USE_FLASHINFER_MOE_FP8", Parse::integer, false},
    {"VLLM_FLASHINFER_MOE_BACKEND", Parse::text, false},
    {"VLLM_USE_DEEP_GEMM", Parse::integer, true},
    {"VLLM_MOE_USE_DEEP_GEMM", Parse::integer, true},
    {"VLLM_TEST_FORCE_FP8_MARLIN", Parse::word, false},
    {"VLLM_ROCM_USE_AITER", Parse::word, false},
    {"VLLM_ROCM_USE_AITER_MOE", Parse::word, true},
    {"VLLM_HUMMING_MOE_GEMM_TYPE", Parse::text, false},
    {"VLLM_HUMMING_INPUT_QUANT_CONFIG", Parse::text, false},  // JSON, read by the method behind the choice
    {"VLLM_USE_DEEP_GEMM_E8M0", Parse::integer, true},        // read as weights are converted
    {"VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS", Parse::word, false},
    {"VLLM_B12X_MOE_FP4_FORCE_A16", Parse::integer, false},
    {"VLLM_USE_FLASHINFER_MOE_INT4", Parse::integer, false},
    {"VLLM_ROCM_USE_AITER_MOE_A4W4_DSV4", Parse::word, false},
    {"VLLM_CPU_INT4_W4A8", Parse::integer, true},
}};
static_assert(static_cast<std::size_t>(EnvVariable::cpu_int4_w4a8) + 1 == kRows.size());

constexpr std::array kNames = column_of(kRows, &EnvRow::name);

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

Switch read_switches(const Environment& environment, std::span<const EnvVariable> variables) {
  for (EnvVariable variable : variables) {
    const Switch value = read_switch(environment, variable);
    if (value != Switch::on) return value;
  }
  return Switch::on;
}

std::string unreadable_text(const Environment& environment, std::span<const EnvVariable> variables) {
  for (EnvVariable variable : variables) {
    const std::string name(name_of(variable));
    if (read_switch(environment, variable) == Switch::unreadable) return name + "='" + environment.at(name) + "' is no integer";
  }
  return {};
}

std::string read_text(const Environment& environment, EnvVariable variable) {
  const auto found = environment.find(std::string(row_of(variable).name));
  return found == environment.end() ? std::string() : lower(found->second);
}

std::span<const std::string_view> env_names() { return kNames; }

}  // namespace mx::engine
