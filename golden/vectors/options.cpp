#include "golden/vectors/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "model/error.hpp"
#include "support/quote.hpp"

namespace mx::golden {
namespace {

constexpr std::array<OptionKey, 14> kKeys{{
    {"edition", "which vectors, and what their coverage asks: v1.1 (default), v1"},
    {"profile", "rounding, overflow, NaN and scale rule: a name (mxact formats lists them; default ocp), or rules as round=rne,overflow=ieee"},
    {"rounding", "the first profile with this rounding; with --profile, refuse one that rounds in another way"},
    {"overflow", "the first profile with this overflow rule; with --profile, refuse one that overflows in another way"},
    {"flush", "subnormals that become zero: none (default), source, target, both"},
    {"nan", "NaN answers: exact (default) compares every bit, free leaves sign and payload open"},
    {"flags", "yes: the device appends its flags as well (default no); ieee: the five of IEEE 754, other bits not compared"},
    {"from", "type of a block's elements: f32 (default), bf16, fp16"},
    {"contract", "arithmetic contract of a dot product or a layer: a name, a record, or @FILE with a record (default exact)"},
    {"length", "elements of a dot product (default: one block, or 32)"},
    {"operand-c", "yes: a dot product takes C as well, fp32 bits, its last operand (default no; not in edition v1)"},
    {"shape", "ROWSxCOLUMNS of a layout (default 256x8)"},
    {"version", "converter version of a layout (default: the engine's)"},
    {"type", "type that an activation works in: f32 (default), bf16, fp16"},
}};

}  // namespace

std::span<const OptionKey> all_option_keys() { return kKeys; }

std::optional<std::string_view> OpOptions::get(std::string_view key) const {
  const auto found = std::ranges::find(given_, key, &OpSetting::key);
  if (found == given_.end()) return std::nullopt;
  return found->value;
}

Edition OpOptions::edition() const {
  const std::optional<std::string_view> name = get("edition");
  return name ? edition_named(*name) : kLatestEdition;
}

std::int64_t OpOptions::number_or(std::string_view key, std::int64_t standard, std::int64_t low, std::int64_t high) const {
  const std::optional<std::string_view> text = get(key);
  if (!text) return standard;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error == std::errc() && end == text->data() + text->size() && value >= low && value <= high) return value;
  throw Error(ErrorCode::usage, fmt::format("--{}: {} is not a whole number in {}..{}", key, support::in_quotes(*text), low, high));
}

void require_taken(std::string_view op, const OpOptions& options, std::span<const std::string_view> taken) {
  for (const OpSetting& setting : options.given()) {
    if (setting.key == "edition" || std::ranges::find(taken, setting.key) != taken.end()) continue;
    const std::string others = taken.empty() ? "no choices" : fmt::format("--{}", fmt::join(taken, " --"));
    throw Error(ErrorCode::usage, fmt::format("{} takes no --{}; it takes: {}", op, setting.key, others));
  }
}

}  // namespace mx::golden
