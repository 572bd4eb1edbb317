#include "model/engine/vllm/env.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "model/column.hpp"
#include "model/engine/vllm/tables.hpp"
#include "model/engine/vllm/variables.hpp"
#include "model/names.hpp"

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
  deployment::Versions versions = kAlways;  ///< whose choices, needs or conversions read it
};

// In the order of EnvVariable. Setting a variable that the oracle at hand does not read is no mistake, it changes nothing there.
// Which went: vllm/envs.py of 0.22.1, 0.29.0 and 0.33.0 held against one another.
constexpr std::array<EnvRow, 21> kRows = {{
    {"VLLM_BATCH_INVARIANT", Parse::integer, false},
    {"VLLM_USE_FLASHINFER_MOE_MXFP4_BF16", Parse::integer, false, kMay},
    {"VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8", Parse::integer, false, kMay},
    {"VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS", Parse::integer, false, kMay},
    {"VLLM_MXFP4_USE_MARLIN", Parse::integer, false, kMay},
    {"VLLM_USE_FLASHINFER_MOE_FP4", Parse::integer, false, kMay},
    {"VLLM_USE_FLASHINFER_MOE_FP8", Parse::integer, false, kMay},
    {"VLLM_FLASHINFER_MOE_BACKEND", Parse::text, false, kMay},
    {"VLLM_USE_DEEP_GEMM", Parse::integer, true},
    {"VLLM_MOE_USE_DEEP_GEMM", Parse::integer, true},
    {"VLLM_TEST_FORCE_FP8_MARLIN", Parse::word, false, kMay},
    {"VLLM_ROCM_USE_AITER", Parse::word, false},
    {"VLLM_ROCM_USE_AITER_MOE", Parse::word, true},
    {"VLLM_HUMMING_MOE_GEMM_TYPE", Parse::text, false},
    {"VLLM_HUMMING_INPUT_QUANT_CONFIG", Parse::text, false},  // JSON, read by the method behind the choice
    {"VLLM_USE_DEEP_GEMM_E8M0", Parse::integer, true},        // read as weights are converted
    {"VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS", Parse::word, false, kSinceAugust},
    {"VLLM_B12X_MOE_FP4_FORCE_A16", Parse::integer, false, kSinceAugust},
    {"VLLM_USE_FLASHINFER_MOE_INT4", Parse::integer, false, kSinceAugust},
    {"VLLM_ROCM_USE_AITER_MOE_A4W4_DSV4", Parse::word, false, kSinceNovember},
    {"VLLM_CPU_INT4_W4A8", Parse::integer, true, kSinceNovember},
}};
static_assert(static_cast<std::size_t>(EnvVariable::cpu_int4_w4a8) + 1 == kRows.size());

constexpr std::array kNames = column_of(kRows, &EnvRow::name);

/// What is the engine's, and no choice, need or conversion of an expert's weights reads.
struct ElsewhereRow {
  std::string_view name;
  std::string_view what;  ///< "which .."
  deployment::Versions versions;
};
constexpr std::array kElsewhere{
    ElsewhereRow{"VLLM_MOE_SKIP_PADDING", "which gives tokens that pad a batch no expert", kSinceAugust},
    ElsewhereRow{"VLLM_MXFP8_EMULATION_DEQUANT_AT_LOAD", "which moves an emulation's dequantization", kSinceAugust},
    ElsewhereRow{"VLLM_MXFP4_EMULATION_DEQUANT_AT_LOAD", "which moves an emulation's dequantization", kSinceNovember},
    ElsewhereRow{"VLLM_ROCM_AITER_MOE_DISPATCH_POLICY", "which sets how AITER starts its kernels", kSinceAugust},
    ElsewhereRow{"VLLM_NVFP4_GEMM_BACKEND", "which is of linear layers", kMay},
    ElsewhereRow{"VLLM_USE_NVFP4_CT_EMULATIONS", "which is of linear layers", kMay},
    ElsewhereRow{"VLLM_ROCM_USE_AITER_FP4_ASM_GEMM", "which is of linear layers", kMay},
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

std::string unknown_variable(std::string_view name) {
  const auto* const row = std::ranges::find(kElsewhere, name, &ElsewhereRow::name);
  if (row == kElsewhere.end()) return mx::unknown_name("variable", name, kNames);
  std::string text = std::string(name) + " is a variable of the engine, " + std::string(row->what) + "; no choice of a backend reads it";
  if (row->versions.until) text += ", and " + std::string(deployment::name_of(*row->versions.until)) + " dropped it";
  return text + ": leave it out";
}

std::vector<std::string> unread_variables(const Environment& environment, deployment::Engine engine) {
  std::vector<std::string> lines;
  for (const EnvRow& row : kRows) {
    if (row.versions.has(engine) || !environment.contains(std::string(row.name))) continue;
    const bool is_gone = engine >= row.versions.since;
    lines.push_back(std::string(row.name) + " changes nothing: " +
                    (is_gone ? std::string(deployment::name_of(*row.versions.until)) + " dropped it"
                             : "no choice of " + std::string(deployment::name_of(engine)) + " reads it, " +
                                   std::string(deployment::name_of(row.versions.since)) + " is the first that does"));
  }
  return lines;
}

}  // namespace mx::engine
