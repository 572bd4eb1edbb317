// kind error of layout-vectors/2: calls that the real converter refuses.

#include <fmt/format.h>

#include <algorithm>

#include "golden/witness/layout_kinds.hpp"
#include "golden/witness/layout_quantities.hpp"

namespace mx::golden {

namespace {

constexpr std::int64_t kLargestOperand = std::int64_t{1} << 24;

/// An operator of preconditions: the values nearest to the recorded one that meet it.
struct Operator {
  std::string_view word;
  std::vector<Json> (*met)(Fields& precondition, const Json& value);
};

std::int64_t integer_value(Fields& precondition) { return precondition.integer("value", 1, kLargestOperand); }

constexpr Operator kOperators[] = {
    {"multiple_of",
     [](Fields& p, const Json&) {
       const std::int64_t value = integer_value(p);
       const std::int64_t of = p.integer("multiple_of", 1, kLargestOperand);
       return std::vector<Json>{Json((value + of - 1) / of * of)};
     }},
    {"max", [](Fields& p, const Json&) { return std::vector<Json>{Json(std::min(integer_value(p), p.integer("max", 0, kLargestOperand)))}; }},
    {"one_of",
     [](Fields& p, const Json& value) {
       const Json& allowed = p.at("one_of");
       if (!allowed.is_array() || allowed.empty()) broken("one_of must be an array of values", p.where());
       if (std::ranges::find(allowed, value) != allowed.end()) return std::vector<Json>{value};
       return std::vector<Json>(allowed.begin(), allowed.end());
     }},
    {"equals", [](Fields& p, const Json&) { return std::vector<Json>{Json(p.boolean("equals"))}; }},
    {"power_of_two",
     [](Fields& p, const Json&) {
       if (!p.boolean("power_of_two")) broken("power_of_two must be true", p.where());
       std::int64_t power = 1;
       while (power < integer_value(p)) power *= 2;
       return std::vector<Json>{Json(power)};
     }},
};

/// The recorded requirement.
struct Precondition {
  std::string quantity;
  Json value;
  std::vector<Json> met;
};

Precondition read_precondition(const LayoutEntry& entry) {
  Fields entry_fields(*entry.json, "entry", entry.where);
  Fields fields(entry_fields.at("precondition"), "precondition", entry.where);
  Precondition precondition{fields.text("quantity"), fields.at("value"), {}};
  for (const Operator& row : kOperators) {
    if (fields.has(row.word)) precondition.met = row.met(fields, precondition.value);
  }
  if (precondition.met.empty()) throw Unmodelled("unknown operator in the precondition");
  fields.finish();
  if (precondition.met.front() == precondition.value) broken("the precondition holds", entry.where);
  return precondition;
}

template <typename Call>
const Quantity<Call>& quantity_named(const Call& call, const Precondition& precondition, const LayoutEntry& entry) {
  const auto rows = quantities_of(call);
  const auto row = std::ranges::find(rows, std::string_view(precondition.quantity), &Quantity<Call>::word);
  if (row == rows.end()) throw Unmodelled("unknown quantity '" + precondition.quantity + "' of " + entry.layout);
  const std::vector<Json> values = row->values(call);
  if (std::ranges::find(values, precondition.value) == values.end()) broken("precondition 'value' is not what params say", entry.where);
  return *row;
}

template <typename Call>
std::string_view subject_of(const Call& call, std::string_view word) {
  const auto rows = quantities_of(call);
  const auto row = std::ranges::find(rows, word, &Quantity<Call>::word);
  return row == rows.end() ? std::string_view() : subject_behind(call, row->subject);
}

/// The model's reason that speaks of what the precondition speaks of: the same word, else the same subject, else a reason that is text alone.
template <typename Call>
const Reason* agreeing(const Call& call, std::span<const Reason> reasons, const Quantity<Call>& quantity) {
  for (const Reason& reason : reasons) {
    if (reason.quantity == quantity.word) return &reason;
  }
  for (const Reason& reason : reasons) {
    if (!reason.quantity.empty() && subject_of(call, reason.quantity) == subject_of(call, quantity.word)) return &reason;
  }
  for (const Reason& reason : reasons) {
    if (reason.quantity.empty()) return &reason;
  }
  return nullptr;
}

template <typename Call>
void judge(const Call& call, const LayoutEntry& entry, LayoutFindings& findings) {
  const Precondition precondition = read_precondition(entry);
  const Quantity<Call>& quantity = quantity_named(call, precondition, entry);
  const std::string stated = entry.json->at("precondition").dump();
  const std::vector<Reason> reasons = reasons_against(call);
  findings.compared();
  if (reasons.empty())
    return findings.differs([&] { return "the recorded converter refuses this call, the model does not; precondition " + stated; });
  const Reason* reason = agreeing(call, reasons, quantity);
  findings.compared();
  if (reason == nullptr) {
    return findings.differs(
        [&] { return "the model refuses the call for another reason (" + reasons.front().rule + ") than the precondition " + stated; });
  }
  for (const Json& met : precondition.met) {
    Call changed = call;
    quantity.set(changed, precondition.value, met);
    const std::vector<Reason> still = reasons_against(changed);
    findings.compared();
    if (std::ranges::find(still, reason->rule, &Reason::rule) == still.end()) continue;
    findings.differs(
        [&] { return fmt::format("the model refuses the call for the same reason ({}) once the precondition is met: {}", reason->rule, stated); });
  }
}

}  // namespace

void run_error(const LayoutEntry& entry, LayoutFindings& findings) {
  if (entry.input.dtype == nullptr) broken("entry has no 'input'", entry.where);
  const LayoutCall call = call_of(entry);
  if (const auto* backend = std::get_if<BackendCall>(&call)) {
    const Json* const precondition = entry.json->find("precondition");
    const Json* const quantity = precondition == nullptr ? nullptr : precondition->find("quantity");
    const bool asked = quantity != nullptr && *quantity == "backend";
    if (backend->row() == nullptr && !asked) no_model(entry);
  }
  std::visit([&](const auto& one) { judge(one, entry, findings); }, call);
}

}  // namespace mx::golden
