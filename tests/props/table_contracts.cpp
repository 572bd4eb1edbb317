// Changes of the table of contracts, and the exam that says whether a change alters any dot product.

#include <array>
#include <sstream>

#include "model/numerics/dot.hpp"
#include "tests/props/table_mutants.hpp"

namespace mx::tests {
namespace {

using Random = Draws;

std::string executed(const ContractRow& row, Random random) {
  return told([&](std::ostream& out) {
    const Format& a_format = row.a_formats.empty() ? kBf16 : *row.a_formats[random() % row.a_formats.size()];
    const Format& b_format = row.b_formats.empty() ? kBf16 : *row.b_formats[random() % row.b_formats.size()];
    const std::size_t count = random() % 200 + 1;
    // Codes of all magnitudes, of a narrow band, or of a band with a few far outside it; or subnormals alone on one side.
    const std::uint32_t kind = random() % 4;
    const auto value = [&](const Format& format, bool subnormal) {
      const std::uint32_t mask = (1U << format.width) - 1U;
      const auto any = random() & mask;
      if (kind == 3 && subnormal && format.mantissa_bits > 0)
        return decode(format, any & ((1U << (format.width - 1)) | ((1U << format.mantissa_bits) - 1U)));
      if (kind == 0 || kind == 3 || (kind == 2 && random() % 32 == 0)) return decode(format, any);
      const std::uint32_t half = 1U << (format.width - 2);
      return decode(format, (any & (1U << (format.width - 1))) | (half - half / 16 + any % std::max(half / 8, 1U)));
    };
    std::vector<Value> a;
    std::vector<Value> b;
    for (std::size_t k = 0; k < count; ++k) {
      a.push_back(value(a_format, true));
      b.push_back(value(b_format, false));
    }
    const auto scale = [&] { return decode(kE8m0, 117 + random() % 20); };
    const int block = row.restart == kScaleBlock ? 32 : row.restart > 0 ? row.restart : static_cast<int>(count);
    std::vector<Value> scales_a;
    std::vector<Value> scales_b;
    for (std::size_t k = 0; k < count; k += static_cast<std::size_t>(block)) {
      scales_a.push_back(scale());
      scales_b.push_back(scale());
    }
    const std::uint32_t c = random() % 4 == 0 ? 0U : 0x3F8ABCDEU + (random() % 64 << 20U);
    const std::uint32_t bias = random() % 2 == 0 ? 0U : 0xBE123457U;
    out << dot(row, {a, &a_format, scales_a, block}, {b, &b_format, scales_b, block}, {.c = c, .bias = bias});
  });
}

std::string different_dot(const ContractRow& own, const ContractRow& changed) {
  for (std::uint32_t seed = 1; seed <= 3000; ++seed) {
    // The case is made from the own row, so that both compute the same sum.
    ContractRow other = changed;
    other.a_formats = own.a_formats;
    other.b_formats = own.b_formats;
    if (executed(own, Random(seed)) != executed(other, Random(seed))) return "dot product of seed " + std::to_string(seed);
  }
  return {};
}

ContractRow aligned(ContractRow row) {
  const ContractRow& tensor_core = row_of(Contract::hopper_bf16);
  row.step = Step::aligned;
  row.group = tensor_core.group;
  row.alignment_bits = tensor_core.alignment_bits;
  row.kept_bits = tensor_core.kept_bits;
  row.lanes = tensor_core.lanes;
  return row;
}

std::vector<Changes<ContractRow>::Change> changes_of(const ContractRow& row) {
  Changes<ContractRow> changes(row);
  for (const Format* cast : {static_cast<const Format*>(nullptr), &kBf16, &kFp16}) {
    if (cast != row.cast)
      changes.add(
          std::string("cast ") + (cast == nullptr ? "none" : std::string(cast->name)), [](ContractRow& r) -> const Format*& { return r.cast; }, cast);
  }
  changes.flag("flush", [](ContractRow& r) -> bool& { return r.flush; });
  changes.choice(
      "scales", [](ContractRow& r) -> ScaleEntry& { return r.scales; }, 5);
  const auto step = [](ContractRow& r) -> Step& { return r.step; };
  for (const Step other : {Step::exact, Step::fused}) {
    if (other != row.step) changes.add("step " + std::to_string(static_cast<int>(other)), step, other);
  }
  if (row.step != Step::aligned) {
    // A group of none would never end: those of the 16-bit tensor cores.
    changes.add(
        "step 2", [](ContractRow& r) -> ContractRow& { return r; }, aligned(row));
  } else {
    changes.add(
        "group - 1", [](ContractRow& r) -> int& { return r.group; }, row.group - 1);
    // More than 32 are no row: the model has no room for them.
    if (row.group < 32)
      changes.add(
          "group + 1", [](ContractRow& r) -> int& { return r.group; }, row.group + 1);
    changes.number("alignment_bits", [](ContractRow& r) -> int& { return r.alignment_bits; });
    if (row.least_exponent != kAnyExponent) changes.number("least_exponent", [](ContractRow& r) -> int& { return r.least_exponent; });
    changes.number("kept_bits", [](ContractRow& r) -> int& { return r.kept_bits; });
  }
  for (const int restart : {0, 32, 64, 128, kScaleBlock}) {
    if (restart != row.restart)
      changes.add(
          "restart " + std::to_string(restart), [](ContractRow& r) -> int& { return r.restart; }, restart);
  }
  if (row.lanes != 1)
    changes.add(
        "lanes 1", [](ContractRow& r) -> int& { return r.lanes; }, 1);
  changes.flag("bias_in_sum", [](ContractRow& r) -> bool& { return r.bias_in_sum; });
  changes.add(
      "nan ^ sign", [](ContractRow& r) -> std::uint32_t& { return r.nan; }, row.nan ^ 0x80000000U);
  changes.add(
      "nan ^ 1", [](ContractRow& r) -> std::uint32_t& { return r.nan; }, row.nan ^ 1U);
  static constexpr std::array<std::uint8_t, 1> kAscending{0};
  static constexpr std::array<std::uint8_t, 2> kSwapped{1, 0};
  const auto order = [](ContractRow& r) -> std::span<const std::uint8_t>& { return r.order; };
  if (row.order.size() != 1) changes.add("order ascending", order, std::span<const std::uint8_t>(kAscending));
  if (row.order.size() != 2) changes.add("order of pairs swapped", order, std::span<const std::uint8_t>(kSwapped));
  return changes.all();
}

}  // namespace

std::vector<TableMutant> contract_mutants() {
  std::vector<TableMutant> all;
  const std::span<const ContractRow> own = all_contracts();
  for (std::size_t r = 0; r < own.size(); ++r) {
    for (const auto& change : changes_of(own[r])) {
      const auto rows = with_row(own, r, change.row);
      all.push_back({"contracts",
                     std::string(own[r].name),
                     change.name,
                     std::string(own[r].name),
                     fault::Table::contracts,
                     {rows, rows->data()},
                     rows->size(),
                     [row = own[r], changed = change.row] { return different_dot(row, changed); }});
    }
  }
  return all;
}

}  // namespace mx::tests
