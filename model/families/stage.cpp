#include "model/families/stage.hpp"

#include "model/error.hpp"
#include "model/names.hpp"
#include "model/numerics/rows.hpp"

namespace mx::families {
namespace {

std::vector<StageLayout> joined() {
  std::vector<StageLayout> rows;
  for (const auto library : {trtllm_stages, aiter_stages, cpu_stages, cutedsl_stages, cutlass_w4a8_stages, triton_kernels_stages, deepgemm_stages,
                             flashinfer_cutlass_stages, marlin_stages, humming_stages}) {
    const std::span<const StageLayout> of_library = library();
    rows.insert(rows.end(), of_library.begin(), of_library.end());
  }
  return rows;
}

[[noreturn]] void refuse(const StageLayout& stage, const std::string& text) { throw Error(ErrorCode::usage, text, std::string(stage.name)); }

/// Checks what can be checked without the matrix, and fills in what was not given.
void complete(const StageLayout& stage, StageRequest& request) {
  if (request.version.empty()) request.version = stage.versions.front();
  const auto known = std::ranges::find(stage.versions, request.version);
  if (known == stage.versions.end()) refuse(stage, unknown_name("converter version", request.version, stage.versions));
  if (stage.unit_bits != 0 && request.unit_bits != stage.unit_bits) {
    refuse(stage, "units of " + std::to_string(request.unit_bits) + " bits, it moves units of " + std::to_string(stage.unit_bits));
  }
  complete_params(stage.name, stage.params, request.params);
}

std::string text_of(const StageNeed& need) {
  std::string text = std::string(need.quantity) + " = " + std::to_string(need.value);
  if (need.multiple != 0) text += " is not a multiple of " + std::to_string(need.multiple);
  return text + ": " + std::string(need.why);
}

}  // namespace

std::span<const StageLayout> all_stage_layouts() {
  static const std::vector<StageLayout> rows = joined();
  return rows;
}

const StageLayout& stage_named(std::string_view name) { return rows::named(all_stage_layouts(), "layout", name); }

void complete_params(std::string_view stage, std::span<const StageParam> declared, StageParams& params) {
  const std::string where(stage);
  std::vector<std::string_view> keys;
  for (const StageParam& param : declared) {
    keys.push_back(param.key);
    const std::int64_t value = params.try_emplace(std::string(param.key), param.standard).first->second;
    if (value >= param.low && value <= param.high) continue;
    const std::string range = std::to_string(param.low) + ".." + std::to_string(param.high);
    throw Error(ErrorCode::usage, std::string(param.key) + " = " + std::to_string(value) + " is not in " + range, where);
  }
  for (const auto& [key, value] : params) {
    if (std::ranges::find(keys, key) == keys.end()) throw Error(ErrorCode::usage, unknown_name("parameter", key, keys), where);
  }
}

std::vector<StageNeed> broken_needs(const StageLayout& stage, StageRequest request) {
  complete(stage, request);
  return stage.broken == nullptr ? std::vector<StageNeed>{} : stage.broken(request);
}

layout::Layout stage_layout(const StageLayout& stage, StageRequest request) {
  complete(stage, request);
  const std::vector<StageNeed> broken = stage.broken == nullptr ? std::vector<StageNeed>{} : stage.broken(request);
  if (!broken.empty()) refuse(stage, text_of(broken.front()));
  return stage.build(request);
}

layout::Layout stage_layout(std::string_view name, std::int64_t batch, std::int64_t rows, std::int64_t cols, int unit_bits, StageParams params) {
  return stage_layout(stage_named(name),
                      {.version = {}, .batch = batch, .rows = rows, .cols = cols, .unit_bits = unit_bits, .params = std::move(params)});
}

void need_multiple(std::vector<StageNeed>& broken, std::string_view quantity, std::int64_t value, std::int64_t multiple, std::string_view why) {
  if (value % multiple != 0) broken.push_back({quantity, value, multiple, why});
}

}  // namespace mx::families
