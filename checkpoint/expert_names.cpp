#include "checkpoint/expert_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "model/error.hpp"
#include "support/quote.hpp"

namespace mx::checkpoint {
namespace {

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw Error(ErrorCode::input, message, where); }

std::string_view take_digits(std::string_view& text) {
  const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789"));
  text.remove_prefix(digits.size());
  return digits;
}

int number_of(std::string_view digits, std::string_view what, const std::string& place) {
  if (digits.size() > 4 || (digits.size() > 1 && digits.front() == '0')) {
    fail(place, fmt::format("the {} number {} is not from 0 to 9999 without leading zeros", what, support::in_quotes(digits)));
  }
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

/// Tensors of a router that checkpoints keep among the experts. Source: vllm of 7ca49fbe4 models/laguna.py.
constexpr std::array<std::string_view, 1> kOfRouters{"e_score_correction_bias"};

/// The part of a name before the experts: its last component of digits is the layer.
struct Prefix {
  std::string_view before;
  std::string_view digits;
  std::string_view after;
};
std::optional<Prefix> split_prefix(std::string_view prefix) {
  for (std::size_t end = prefix.size(); end > 0;) {
    const std::size_t dot = prefix.rfind('.', end - 1);
    const std::size_t begin = dot == std::string_view::npos ? 0 : dot + 1;
    const std::string_view component = prefix.substr(begin, end - begin);
    if (!component.empty() && component.find_first_not_of("0123456789") == std::string_view::npos)
      return Prefix{prefix.substr(0, begin), component, prefix.substr(end)};
    if (dot == std::string_view::npos) break;
    end = dot;
  }
  return std::nullopt;
}

}  // namespace

bool has_naming(const SourceForm& form, const Naming& naming) {
  return std::ranges::find(form.namings, naming.title, &Naming::title) != form.namings.end();
}

std::vector<const Naming*> all_namings() {
  std::vector<const Naming*> namings;
  for (const SourceForm& form : source_forms()) {
    for (const Naming& naming : form.namings) {
      if (std::ranges::find(namings, naming.title, &Naming::title) == namings.end()) namings.push_back(&naming);
    }
  }
  return namings;
}

std::optional<Reading> read_name(const Naming& naming, std::string_view name, const LocatedTensor& at) {
  const std::size_t found = name.rfind(naming.experts);
  if (found == std::string_view::npos) return std::nullopt;
  const std::optional<Prefix> prefix = split_prefix(name.substr(0, found));
  if (!prefix || (!naming.before.empty() && (prefix->before != naming.before || prefix->after.empty()))) return std::nullopt;
  std::string_view rest = name.substr(found + naming.experts.size());
  const std::string_view digits = naming.experts.ends_with('.') ? take_digits(rest) : std::string_view();
  const bool is_numbered = !digits.empty() && rest.starts_with('.');
  if (is_numbered != naming.numbered) return std::nullopt;
  const std::string place = place_of(at, name);
  ExpertName read{&naming, prefix->before, number_of(prefix->digits, "layer", place), prefix->after, 0, 0, {}, name, &at};
  if (naming.numbered) {
    read.expert = number_of(digits, "expert", place);
    rest.remove_prefix(1);
  }
  for (std::size_t p = 0; p < naming.projections.size(); ++p) {
    const std::string_view projection = naming.projections[p].name;
    // A whole component, where experts have tensors of their own: `linear` is none of `linear_v`.
    if (!rest.starts_with(projection) || (naming.numbered && rest.substr(projection.size(), 1) != ".")) continue;
    read.projection = p;
    read.suffix = rest.substr(projection.size());
    return Reading{read, true};
  }
  if (std::ranges::find(kOfRouters, rest) != kOfRouters.end()) return std::nullopt;
  return Reading{read, false};
}

}  // namespace mx::checkpoint
