#include "kernels/dot/row.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>

#include "kernels/dot/sums.hpp"
#include "model/error.hpp"
#include "model/numerics/f32.hpp"

namespace mx::kernels::dot {
namespace {

[[noreturn]] void refuse(const ContractRow& contract, const std::string& text) {
  throw Error(ErrorCode::usage, "contract " + std::string(contract.name) + ": " + text, "quick dot products");
}

std::size_t group_of(const ContractRow& contract) { return contract.step == Step::exact ? kChunk : static_cast<std::size_t>(contract.group); }

/// Bits of an integer in a part: with those of any format of 8 bits, and four of their sum, a double has enough.
constexpr int kPartBits = 31;

bool fits_part(const Value& canonical_value) {
  return canonical_value.cls == ValueClass::finite && static_cast<int>(std::bit_width(canonical_value.significand)) <= kPartBits;
}

/// What a quick sum of the contract takes at all.
bool is_taken(const ContractRow& contract, const Factor& factor) {
  if (factor.value.cls == ValueClass::zero) return true;
  if (factor.value.cls != ValueClass::finite) return false;
  return contract.step == Step::exact ? fits_part(canonical(factor.value)) : factor.nominal_exponent <= kLargestExponent;
}

// What a table says of a code beside a scale.
constexpr std::uint8_t kNotZero = 1;
constexpr std::uint8_t kRefused = 2;  // no quick sum takes it

std::uint8_t mark_of(const ContractRow& contract, const Factor& factor) {
  if (!is_taken(contract, factor)) return kRefused;
  return factor.value.cls == ValueClass::zero ? 0 : kNotZero;
}

void clear(const ContractRow& contract, Row& row, std::size_t elements) {
  const std::size_t group = group_of(contract);
  const std::size_t filled = (elements + group - 1) / group * group;
  row.elements = elements;
  row.holds = row.narrow = true;
  row.nan = false;
  row.bits = 0;
  row.mantissas.clear();
  row.units.clear();
  row.chunks.clear();
  row.scales.clear();
  row.block = 0;
  if (contract.step == Step::aligned) {
    row.values.assign(filled, 0);
    row.exponents.assign(filled, kZeroExponent);
  }
}

void place_aligned(Row& row, std::span<const Factor> factors) {
  for (std::size_t k = 0; k < factors.size(); ++k) {
    const Factor& factor = factors[k];
    row.values[k] = std::bit_cast<float>(factor.f32);
    if (factor.value.cls != ValueClass::finite) continue;
    row.exponents[k] = static_cast<std::int16_t>(factor.nominal_exponent);
    row.narrow = row.narrow && factor.nominal_exponent >= kLeastExponent;
  }
}

int exponent_of(const Value& value) { return value.exponent + static_cast<int>(std::bit_width(value.significand)); }

/// The chunk's numbers as integers in the unit of the smallest one's last bit; those that would be too large come in further parts. The first part
/// has all signs.
void place_chunk(Row& row, std::size_t chunk, std::span<const Factor> factors) {
  std::int32_t below = INT32_MIN;
  do {
    std::int32_t unit = kNoUnit;
    for (const Factor& factor : factors) {
      const Value value = canonical(factor.value);
      if (fits_part(value) && exponent_of(value) > below) unit = std::min(unit, value.exponent);
    }
    const std::size_t first = row.mantissas.size();
    const bool is_first = below == INT32_MIN;
    row.mantissas.resize(first + std::max(kChunk, factors.size()), 0);
    row.units.push_back(unit);
    row.chunks.push_back(static_cast<std::uint32_t>(chunk));
    const std::int32_t last = unit == kNoUnit ? INT32_MAX : unit + kPartBits;
    bool more = false;
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const Value value = canonical(factors[i].value);
      double& mantissa = row.mantissas[first + i];
      if (is_first && value.negative) mantissa = -0.0;
      if (!fits_part(value) || exponent_of(value) <= below) continue;
      if (exponent_of(value) > last) {
        more = true;
        continue;
      }
      row.bits = std::max(row.bits, exponent_of(value) - unit);
      mantissa = std::ldexp(static_cast<double>(value.significand), value.exponent - unit);
      if (value.negative) mantissa = -mantissa;
    }
    below = more ? last : INT32_MAX;
  } while (below != INT32_MAX);
}

void place_exact(Row& row, std::span<const Factor> factors) {
  for (std::size_t first = 0; first < factors.size(); first += kChunk)
    place_chunk(row, first / kChunk, factors.subspan(first, std::min(kChunk, factors.size() - first)));
}

}  // namespace

bool takes(const ContractRow& contract) {
  const bool ascending = contract.order.size() == 1 && contract.restart >= 0 && !contract.flush && contract.product == nullptr && contract.split == 1;
  if (contract.step == Step::exact) {
    return ascending && contract.restart == 0 && contract.group == 0 && contract.cast == nullptr && contract.scales == ScaleEntry::operand &&
           contract.zero_sign == SumZero::ieee && *contract.result == kF32 && !contract.overflow_is_largest;
  }
  const bool plain = contract.presum == 1 && contract.reference == Reference::product && contract.scales != ScaleEntry::term &&
                     contract.result_loss == Loss::toward_zero && *contract.result == kF32;
  if (!plain || !truncates_with_c(contract)) return false;
  // A product lies below four in units of 2^alignment: each is an integer of 32 bits.
  const bool fits = (contract.group == 8 || contract.group == 16 || contract.group == 32) && contract.alignment_bits <= 25;
  return ascending && contract.step == Step::aligned && fits;
}

bool scales_chains(const ContractRow& contract) { return contract.restart > 0 && mx::scales_chains(contract.scales); }

bool truncates_with_c(const ContractRow& contract) {
  return contract.step == Step::aligned && contract.lanes == 1 && contract.split == 1 && contract.zero_exponent == kAnyExponent &&
         contract.product == nullptr && contract.product_limit == 0 && contract.alignment_loss == Loss::toward_zero &&
         contract.addend_place != AddendPlace::joined && contract.zero_sign == SumZero::plus;
}

Row quick_row(const ContractRow& contract, const PreparedOperand& operand) {
  if (!takes(contract)) refuse(contract, "has no quick sum");
  Row row;
  clear(contract, row, operand.elements);
  row.nan = std::ranges::any_of(operand.factors, [](const Factor& factor) { return factor.value.cls == ValueClass::nan; });
  if (scales_chains(contract)) {
    row.scales = operand.scales;
    row.block = operand.block;
  }
  row.holds = operand.scales.size() == row.scales.size() &&
              std::ranges::all_of(operand.factors, [&](const Factor& factor) { return is_taken(contract, factor); });
  if (contract.step == Step::exact) {
    place_exact(row, operand.factors);
  } else {
    place_aligned(row, operand.factors);
  }
  return row;
}

bool RowTable::takes(const ContractRow& contract, const Format& element, const Format* scale) {
  if (!dot::takes(contract) || element.width > 8) return false;
  return scale == nullptr || (scale->width <= 8 && contract.scales == ScaleEntry::operand);
}

RowTable::RowTable(const ContractRow& contract, Side side, const Format& element, const Format* scale) : contract_(&contract) {
  if (!takes(contract, element, scale)) refuse(contract, "no table for codes of " + std::string(element.name));
  const std::uint32_t codes = 1U << element.width;
  std::vector<Value> elements;
  for (std::uint32_t code = 0; code < codes; ++code) elements.push_back(decode(element, code));
  const std::size_t scales = scale == nullptr ? 1 : std::size_t{1} << scale->width;
  for (std::uint32_t code = 0; code < scales; ++code) {
    const Value value = scale == nullptr ? Value{} : decode(*scale, code);
    Operand operand{elements, &element};
    if (scale != nullptr) {
      operand.scales = {&value, 1};
      operand.block = static_cast<int>(codes);
    }
    const PreparedOperand prepared = prepare(contract, side, operand);
    Column column;
    clear(contract, column.codes, codes);
    for (const Factor& factor : prepared.factors) column.marks.push_back(mark_of(contract, factor));
    if (contract.step == Step::exact) {
      // One unit for all codes: a chunk of a row may hold any of them.
      place_chunk(column.codes, 0, prepared.factors);
    } else {
      place_aligned(column.codes, prepared.factors);
    }
    of_scale_.push_back(std::move(column));
  }
}

void RowTable::fill(Row& row, std::span<const std::uint8_t> codes, std::span<const std::uint8_t> scales, std::size_t block) const {
  const bool exact = contract_->step == Step::exact;
  const std::size_t shared = scales.empty() ? codes.size() : block;
  if (of_scale_.size() > 1 && scales.size() * block < codes.size())
    refuse(*contract_,
           std::to_string(scales.size()) + " scales for " + std::to_string(codes.size()) + " codes in blocks of " + std::to_string(block));
  if (exact && shared % kChunk != 0 && shared < codes.size()) refuse(*contract_, "a scale for " + std::to_string(block) + " codes");
  clear(*contract_, row, codes.size());
  if (exact) {
    row.mantissas.assign((codes.size() + kChunk - 1) / kChunk * kChunk, 0);
    row.units.resize(row.mantissas.size() / kChunk);
    row.chunks.resize(row.units.size());
    std::iota(row.chunks.begin(), row.chunks.end(), 0U);
  }
  unsigned refused = 0;
  for (std::size_t first = 0; first < codes.size(); first += shared) {
    const Column& column = of_scale_[scales.empty() ? 0 : scales[first / shared]];
    const Row& table = column.codes;
    const std::size_t end = std::min(first + shared, codes.size());
    unsigned marks = 0;
    for (std::size_t k = first; k < end; ++k) marks |= column.marks[codes[k]];
    refused |= marks & kRefused;
    // The scale of zeros, of padding above all, says nothing.
    const bool counts = (marks & kNotZero) != 0;
    row.narrow = row.narrow && (table.narrow || !counts);
    if (counts) row.bits = std::max(row.bits, table.bits);
    for (std::size_t k = first; k < end && exact; ++k) row.mantissas[k] = table.mantissas[codes[k]];
    for (std::size_t chunk = first / kChunk; chunk * kChunk < end && exact; ++chunk) row.units[chunk] = counts ? table.units[0] : kNoUnit;
    for (std::size_t k = first; k < end && !exact; ++k) {
      row.values[k] = table.values[codes[k]];
      row.exponents[k] = table.exponents[codes[k]];
    }
  }
  row.holds = refused == 0;
}

bool has_whole_chains(const ContractRow& contract, const Row& row) {
  return row.scales.size() < 2 || row.block % static_cast<std::size_t>(contract.restart) == 0;
}

std::uint32_t scale_of(const Row& row, std::size_t k) {
  if (row.scales.empty()) return f32::kOne;
  return row.scales.size() == 1 ? row.scales.front() : row.scales[k / row.block];
}

std::optional<std::uint32_t> quick_dot(const ContractRow& contract, const Row& a, const Row& b, std::optional<std::uint32_t> bias) {
  if (a.elements != b.elements)
    refuse(contract, "a dot product of " + std::to_string(a.elements) + " by " + std::to_string(b.elements) + " elements");
  if (a.nan || b.nan) return contract.nan;
  if (!a.holds || !b.holds || !has_whole_chains(contract, a) || !has_whole_chains(contract, b)) return std::nullopt;
  return contract.step == Step::exact ? exact_sum(a, b, bias) : std::optional(aligned_sum(contract, a, b));
}

}  // namespace mx::kernels::dot
