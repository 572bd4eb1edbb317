#include "checkpoint/module_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "model/error.hpp"
#include "support/quote.hpp"

namespace mx::checkpoint {
namespace {

constexpr std::size_t kLongest = 1024;
constexpr int kDeepest = 32;
constexpr std::int64_t kMostSteps = 1'000'000;
constexpr int kMostOpen = 2048;  ///< steps that wait for the rest of the expression: each holds its frames on the stack
constexpr int kUnlimited = INT32_MAX;

/// One piece of an expression, and how often it comes.
struct Atom {
  enum class Kind { set, begin, end, group, ahead, not_ahead } kind = Kind::set;
  std::vector<std::pair<char, char>> ranges = {};  ///< of a set
  bool negated = false;
  std::vector<std::vector<Atom>> alternatives = {};  ///< of a group
  int least = 1;
  int most = 1;
  bool lazy = false;
};
using Sequence = std::vector<Atom>;

/// Reads an expression.
class Parser {
 public:
  Parser(std::string_view text, const std::string& place) : text_(text), place_(place) {
    if (text.size() > kLongest) fail(fmt::format("has {} characters, more than {}", text.size(), kLongest));
  }

  std::vector<Sequence> run() {
    std::vector<Sequence> all = alternatives(0);
    if (at_ != text_.size()) fail("has a parenthesis too much");
    return all;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::input, fmt::format("the expression {} {}", support::in_quotes(text_.substr(0, 80)), what), place_);
  }
  bool done() const { return at_ == text_.size(); }
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  char next() {
    if (done()) fail("ends in the middle");
    return text_[at_++];
  }

  std::vector<Sequence> alternatives(int depth) {
    if (depth > kDeepest) fail(fmt::format("is deeper than {}", kDeepest));
    std::vector<Sequence> all(1);
    while (!done() && text_[at_] != ')') {
      if (take("|")) {
        all.emplace_back();
      } else {
        all.back().push_back(repeated(atom(depth)));
      }
    }
    return all;
  }

  Atom atom(int depth) {
    if (take("^")) return {.kind = Atom::Kind::begin};
    if (take("$")) return {.kind = Atom::Kind::end};
    if (take("[")) return set();
    if (take("(")) {
      Atom group{.kind = Atom::Kind::group};
      if (take("?!")) {
        group.kind = Atom::Kind::not_ahead;
      } else if (take("?=")) {
        group.kind = Atom::Kind::ahead;
      } else if (!take("?:") && take("?")) {
        fail("has a group that is not known here");
      }
      group.alternatives = alternatives(depth + 1);
      if (!take(")")) fail("has a parenthesis that is not closed");
      return group;
    }
    if (take(".")) return {.negated = true};
    if (take("\\")) return escaped();
    const char c = next();
    if (c == '*' || c == '+' || c == '?') fail(fmt::format("repeats nothing at character {}", at_ - 1));
    return {.ranges = {{c, c}}};
  }

  Atom escaped() {
    const char c = next();
    switch (c) {
      case 'd': return {.ranges = {{'0', '9'}}};
      case 'D': return {.ranges = {{'0', '9'}}, .negated = true};
      case 'w': return {.ranges = {{'0', '9'}, {'a', 'z'}, {'A', 'Z'}, {'_', '_'}}};
      default: break;
    }
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) fail(fmt::format("has \\{}, which is not known here", c));
    return {.ranges = {{c, c}}};
  }

  Atom set() {
    Atom set;
    set.negated = take("^");
    while (set.ranges.empty() || !take("]")) {
      const char first = next();
      if (first == '\\') {
        const Atom one = escaped();
        set.ranges.insert(set.ranges.end(), one.ranges.begin(), one.ranges.end());
        continue;
      }
      char last = first;
      if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
        ++at_;
        last = next();
      }
      set.ranges.emplace_back(first, last);
    }
    return set;
  }

  int number() {
    int value = 0;
    while (!done() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) value = std::min(value * 10 + (text_[at_++] - '0'), 1000);
    return value;
  }

  Atom repeated(Atom atom) {
    if (take("*")) {
      atom.least = 0;
      atom.most = kUnlimited;
    } else if (take("+")) {
      atom.most = kUnlimited;
    } else if (take("?")) {
      atom.least = 0;
    } else if (take("{")) {
      atom.least = number();
      atom.most = take(",") ? (done() || text_[at_] == '}' ? kUnlimited : number()) : atom.least;
      if (!take("}")) fail("has a brace that is not closed");
    } else {
      return atom;
    }
    atom.lazy = take("?");
    return atom;
  }

  std::string_view text_;
  const std::string& place_;
  std::size_t at_ = 0;
};

/// Tries ways through an expression, one after the other, as many as it has steps.
class Matcher {
 public:
  using Then = std::function<bool(std::size_t)>;

  explicit Matcher(std::string_view text) : text_(text) {}

  bool any(const std::vector<Sequence>& all, std::size_t at, const Then& then) {
    return std::ranges::any_of(all, [&](const Sequence& sequence) { return from(sequence, 0, at, then); });
  }
  bool too_long() const { return gave_up_; }

 private:
  bool from(const Sequence& sequence, std::size_t index, std::size_t at, const Then& then) {
    if (index == sequence.size()) return then(at);
    return repeat(sequence[index], 0, at, [&](std::size_t next) { return from(sequence, index + 1, next, then); });
  }

  bool repeat(const Atom& atom, int done, std::size_t at, const Then& then) {
    gave_up_ = gave_up_ || ++steps_ > kMostSteps || open_ >= kMostOpen;
    if (gave_up_) return false;
    ++open_;
    const bool fits = try_repeat(atom, done, at, then);
    --open_;
    return fits;
  }

  bool try_repeat(const Atom& atom, int done, std::size_t at, const Then& then) {
    const auto again = [&] {
      return done < atom.most &&
             once(atom, at, [&](std::size_t next) { return (next != at || done < atom.least) && repeat(atom, done + 1, next, then); });
    };
    if (done < atom.least) return again();
    return atom.lazy ? then(at) || again() : again() || then(at);
  }

  bool once(const Atom& atom, std::size_t at, const Then& then) {
    const Then here = [](std::size_t) { return true; };
    switch (atom.kind) {
      case Atom::Kind::begin: return at == 0 && then(at);
      case Atom::Kind::end: return at == text_.size() && then(at);
      case Atom::Kind::group: return any(atom.alternatives, at, then);
      case Atom::Kind::ahead: return any(atom.alternatives, at, here) && then(at);
      case Atom::Kind::not_ahead: return !any(atom.alternatives, at, here) && then(at);
      case Atom::Kind::set: break;
    }
    if (at == text_.size()) return false;
    const bool in = std::ranges::any_of(atom.ranges, [&](const auto& range) { return range.first <= text_[at] && text_[at] <= range.second; });
    return in != atom.negated && then(at + 1);
  }

  std::string_view text_;
  std::int64_t steps_ = 0;
  int open_ = 0;
  bool gave_up_ = false;
};

/// Whether a set "[a-z]", "[!0]" that begins at `at` has a character; moves behind it. A bracket that nothing closes is itself.
bool takes(std::string_view pattern, std::size_t& at, char c) {
  if (pattern[at] == '?') return ++at, true;
  const std::size_t first = at + 1 + (pattern.substr(at + 1, 1) == "!" ? 1 : 0);
  const std::size_t end = pattern[at] == '[' ? pattern.find(']', first + 1) : std::string_view::npos;
  if (end == std::string_view::npos) return pattern[at++] == c;
  bool in = false;
  for (std::size_t i = first; i < end; ++i) {
    const bool is_range = i + 2 < end && pattern[i + 1] == '-';
    in = in || (is_range ? pattern[i] <= c && c <= pattern[i + 2] : pattern[i] == c);
    if (is_range) i += 2;
  }
  const bool negated = first == at + 2;
  at = end + 1;
  return in != negated;
}

}  // namespace

bool fits_expression(std::string_view expression, std::string_view name, const std::string& place) {
  const std::vector<Sequence> parsed = Parser(expression, place).run();
  Matcher matcher(name);
  const bool fits = matcher.any(parsed, 0, [](std::size_t) { return true; });
  if (matcher.too_long())
    throw Error(ErrorCode::input,
                fmt::format("the expression {} takes more than {} steps, or more than {} at once, for a name of {} characters",
                            support::in_quotes(expression.substr(0, 80)), kMostSteps, kMostOpen, name.size()),
                place);
  return fits;
}

bool fits_wildcards(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0;
  std::optional<std::pair<std::size_t, std::size_t>> star;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = {++p, n};
    } else if (p < pattern.size() && takes(pattern, p, name[n])) {
      ++n;
    } else if (star) {
      p = star->first;
      n = ++star->second;
    } else {
      return false;
    }
  }
  return pattern.substr(p).find_first_not_of('*') == std::string_view::npos;
}

}  // namespace mx::checkpoint
