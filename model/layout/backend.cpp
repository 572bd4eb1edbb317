#include "model/layout/backend.hpp"

#include <array>
#include <string>

#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::layout {
namespace {

/// What a Need may speak of.
struct Quantity {
  std::string_view name;
  std::int64_t (*of)(const Sizes& sizes);
};

constexpr std::array<Quantity, 4> kQuantities{{
    {"2I", [](const Sizes& sizes) { return 2 * sizes.intermediate; }},
    {"H", [](const Sizes& sizes) { return sizes.hidden; }},
    {"H/group", [](const Sizes& sizes) { return sizes.hidden / sizes.group; }},
    {"I/group", [](const Sizes& sizes) { return sizes.intermediate / sizes.group; }},
}};

constexpr Need kBiases{"biases", 1, "both biases must exist"};

std::int64_t value_of(std::string_view quantity, const Sizes& sizes) {
  for (const Quantity& row : kQuantities) {
    if (row.name == quantity) return row.of(sizes);
  }
  throw Error(ErrorCode::usage, "no quantity " + std::string(quantity), "layout needs");
}

std::vector<BrokenNeed> broken_sizes(std::span<const Need> needs, const Sizes& padded) {
  check(padded);
  std::vector<BrokenNeed> broken;
  for (const Need& need : needs) {
    const std::int64_t value = value_of(need.quantity, padded);
    if (value % need.multiple != 0) broken.push_back({need, value});
  }
  return broken;
}

[[noreturn]] void refuse(const BrokenNeed& broken, std::string_view where) {
  const Need& need = broken.need;
  std::string text(need.quantity);
  if (need.quantity == kBiases.quantity) {
    text += " are missing";
  } else {
    text += " = " + std::to_string(broken.value) + " is not a multiple of " + std::to_string(need.multiple);
  }
  throw Error(ErrorCode::usage, text + ": " + std::string(need.why), std::string(where));
}

std::vector<BackendLayout> joined() {
  std::vector<BackendLayout> rows;
  for (const auto family : {trtllm_layouts, flashinfer_cutlass_layouts, identity_layouts}) {
    const std::span<const BackendLayout> of_family = family();
    rows.insert(rows.end(), of_family.begin(), of_family.end());
  }
  return rows;
}

}  // namespace

std::span<const BackendLayout> all_backend_layouts() {
  static const std::vector<BackendLayout> rows = joined();
  return rows;
}

const BackendLayout* find_backend_layout(std::string_view backend) {
  for (const BackendLayout& row : all_backend_layouts()) {
    if (same_name(row.backend, backend)) return &row;
  }
  return nullptr;
}

std::vector<BrokenNeed> broken_needs(const BackendLayout& row, const Sizes& padded, bool has_bias, SourceOrder order) {
  std::vector<BrokenNeed> broken;
  if (row.needs_bias && !has_bias && order == SourceOrder::gpt_oss) broken.push_back({kBiases, 0});
  const std::vector<BrokenNeed> sizes = broken_sizes(row.needs, padded);
  broken.insert(broken.end(), sizes.begin(), sizes.end());
  return broken;
}

void check_needs(const BackendLayout& row, const Sizes& padded, bool has_bias, SourceOrder order) {
  const std::vector<BrokenNeed> broken = broken_needs(row, padded, has_bias, order);
  if (!broken.empty()) refuse(broken.front(), row.backend);
}

void check_sizes(std::span<const Need> needs, const Sizes& padded, std::string_view where) {
  const std::vector<BrokenNeed> broken = broken_sizes(needs, padded);
  if (!broken.empty()) refuse(broken.front(), where);
}

int memory_unit_bits(const BackendLayout& row, Role role) { return is_bias(role) && row.bias_cast == Cast::bf16_to_f32 ? 32 : unit_bits(role); }

}  // namespace mx::layout
