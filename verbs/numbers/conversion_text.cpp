#include "verbs/numbers/conversion_text.hpp"

#include <fmt/core.h>

#include "model/numerics/rules.hpp"
#include "verbs/numbers/numbers.hpp"

namespace mx::verbs {
namespace {

const char* nan_rule_word(NanRule rule) {
  switch (rule) {
    case NanRule::keep_payload: return "keep_payload";
    case NanRule::quiet_payload: return "quiet_payload";
    case NanRule::refused: return "refused";
    case NanRule::fixed: break;
  }
  return "fixed";
}

Json preparation_json(const Preparation& before, const Format& to) {
  Json json = Json::object();
  if (before.power != 0) json["power"] = before.power;
  if (before.through != nullptr) json["through"] = before.through->name;
  if (before.least_input) json["least_input"] = hex(*before.least_input, kF32);
  if (before.range) {
    json["range"] = {{"from", hex(before.range->from, kF32)}, {"to", hex(before.range->to, kF32)}, {"code", hex(before.range->code, to)}};
  }
  if (before.tiny_is_nan) json["tiny_is_nan"] = true;
  return json;
}

/// What a negative number gives where there is no sign.
std::string_view negative_word(const Conversion& how) {
  switch (how.fine.negative) {
    case NegativeRule::zero: return "zero";
    case NegativeRule::least: return "least";
    case NegativeRule::directed: return "directed";
    case NegativeRule::as_said: break;
  }
  return how.negative_is_nan ? "nan" : "abs";
}

}  // namespace

std::string short_text(const Conversion& how) { return fmt::format("{}, {}", name_of(how.rounding), name_of(how.overflow)); }

std::string_view flush_word(Flush flush) {
  switch (flush) {
    case Flush::source: return "source";
    case Flush::target: return "target";
    case Flush::both: return "both";
    case Flush::none: break;
  }
  return "none";
}

Json conversion_json(const Conversion& how, const Format& to) {
  Json json{{"rounding", name_of(how.rounding)}, {"overflow", name_of(how.overflow)}, {"nan_rule", nan_rule_word(how.nan_rule)}};
  if (how.nan_rule == NanRule::fixed) {
    json["nan_positive"] = hex(how.nan_positive, to);
    json["nan_negative"] = hex(how.nan_negative, to);
  }
  if (!to.has_sign) {
    json["zero"] = hex(how.zero_code, to);
    json["negative"] = negative_word(how);
  }
  json["random_bits"] = how.random_bits;
  json["flush"] = flush_word(how.flush);
  if (how.before != Preparation{}) json["before"] = preparation_json(how.before, to);
  json["rules"] = text_of(to, how);
  return json;
}

std::string flag_words(const Flags& flags) {
  std::string words;
  const auto add = [&](bool set, const char* word) {
    if (set) words += (words.empty() ? "" : " ") + std::string(word);
  };
  add(flags.inexact, "inexact");
  add(flags.underflow, "underflow");
  add(flags.overflow, "overflow");
  add(flags.invalid, "invalid");
  add(flags.saturated, "saturated");
  add(flags.nan, "nan");
  add(flags.flushed, "flushed");
  return words;
}

}  // namespace mx::verbs
