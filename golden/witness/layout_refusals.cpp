// kind error of layout-vectors/2: calls that the real converter refuses.

#include <algorithm>

#include "golden/witness/layout_kinds.hpp"

namespace mx::golden {

namespace {

/// A size that a precondition speaks of, in terms of what params say.
struct Quantity {
  std::string_view word;
  std::string_view size;
  std::int64_t numerator, denominator;  ///< quantity = size * numerator / denominator
};
constexpr Quantity kQuantities[] = {
    {"hidden", "hidden", 1, 1},
    {"w13_rows", "intermediate", 2, 1},
    {"w2_rows", "hidden", 1, 1},
    {"w13_groups", "hidden", 1, 32},
    {"w2_groups", "intermediate", 1, 32},
    {"rows", "rows", 1, 1},
    {"columns", "cols", 1, 1},
    {"groups", "cols", 1, 1},
};

/// How to meet a precondition with the smallest change; `limit` is the operand.
struct Requirement {
  std::string_view word;
  std::int64_t (*met)(std::int64_t value, std::int64_t limit);
};
constexpr Requirement kRequirements[] = {
    {"multiple_of", [](std::int64_t value, std::int64_t limit) { return (value + limit - 1) / limit * limit; }},
    {"max", [](std::int64_t value, std::int64_t limit) { return std::min(value, limit); }},
};

constexpr std::int64_t kLargestSize = std::int64_t{1} << 24;

KnownConversion with_bias_met(Fields& precondition, const KnownConversion& call, const std::string& where) {
  const bool wanted = precondition.boolean("equals");
  const bool stated = precondition.boolean("value");
  if (stated != call.sizes.has_bias) broken("precondition 'value' is not what params say", where);
  KnownConversion met = call;
  met.sizes.has_bias = wanted;
  return met;
}

KnownConversion with_size_met(Fields& precondition, const std::string& word, const KnownConversion& call, const std::string& where) {
  const Quantity& quantity = row_named(kQuantities, "quantity", word);
  const auto size = call.sizes.numbers.find(quantity.size);
  if (size == call.sizes.numbers.end()) throw Unmodelled("quantity '" + word + "' of this layout");
  const std::int64_t value = precondition.integer("value", 1, kLargestSize);
  if (size->second * quantity.numerator != value * quantity.denominator) broken("precondition 'value' is not what params say", where);
  for (const Requirement& requirement : kRequirements) {
    if (!precondition.has(requirement.word)) continue;
    KnownConversion met = call;
    const std::int64_t wanted = requirement.met(value, precondition.integer(requirement.word, 1, kLargestSize));
    if (wanted == value) broken("the precondition holds", where);
    met.sizes.numbers[std::string(quantity.size)] = wanted * quantity.denominator / quantity.numerator;
    return met;
  }
  throw Unmodelled("unknown operator in the precondition");
}

}  // namespace

void run_error(const LayoutEntry& entry, LayoutFindings& findings) {
  const KnownConversion call = conversion_of(entry);
  if (entry.input.elements == 0) broken("entry has no 'input'", entry.where);
  Fields fields(*entry.json, "entry", entry.where);
  Fields precondition(fields.at("precondition"), "precondition", entry.where);
  const std::string quantity = precondition.text("quantity");
  const KnownConversion met =
      quantity == "has_bias" ? with_bias_met(precondition, call, entry.where) : with_size_met(precondition, quantity, call, entry.where);
  precondition.finish();

  const int element_bits = 8 * entry.input.element_bytes;
  const std::optional<std::string> refused = refusal(call, entry.role, element_bits);
  findings.compared();
  if (!refused)
    findings.differs(
        [&] { return "the recorded converter refuses this call, the model does not; precondition " + entry.json->at("precondition").dump(); });
  const std::optional<std::string> still = refusal(met, entry.role, element_bits);
  findings.compared();
  if (refused && still == refused) {
    findings.differs([&] {
      return "the model refuses the call for the same reason (" + *still + ") once the precondition is met: " + entry.json->at("precondition").dump();
    });
  }
}

}  // namespace mx::golden
