#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/error.hpp"
#include "support/json.hpp"
#include "support/quote.hpp"

namespace mx::support {
namespace {

using Parser = nlohmann::json;

/// The lexer keeps everything since the start of the last string or number, so this bounds its memory.
constexpr std::size_t kLongestToken = std::size_t{1} << 20;

[[noreturn]] void fail(const std::string& where, std::uint64_t offset, const std::string& message) {
  throw Error(ErrorCode::input, message, fmt::format("{}: byte {}", where, offset));
}

bool is_in(std::uint8_t byte, std::string_view set) { return set.find(static_cast<char>(byte)) != std::string_view::npos; }

/// Reads bytes for the lexer and publishes how many it has taken, since its callbacks carry no position.
class CountedBytes {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  CountedBytes(const std::uint8_t* at, const std::uint8_t** taken) : at_(at), taken_(taken) {}
  char operator*() const { return static_cast<char>(*at_); }
  CountedBytes& operator++() {
    *taken_ = ++at_;
    return *this;
  }
  CountedBytes operator++(int) {
    const CountedBytes before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountedBytes& a, const CountedBytes& b) { return a.at_ == b.at_; }

 private:
  const std::uint8_t* at_;
  const std::uint8_t** taken_;
};

/// Builds values from the parser's events and checks what the parser does not.
class Builder {
 public:
  Builder(std::span<const std::uint8_t> text, const JsonLimits& limits, const std::string& where, std::uint64_t base, const JsonMemberTaker* taker)
      : text_(text), limits_(limits), where_(where), base_(base), taker_(taker), taken_(text.data()) {}

  Json run() {
    const std::uint8_t* const begin = text_.data();
    Parser::sax_parse(CountedBytes(begin, &taken_), CountedBytes(begin + text_.size(), &taken_), this);
    return std::move(root_);
  }

  // The parser's interface; names and signatures are those of nlohmann::json_sax.
  bool null() { return take(Json(nullptr), position()); }
  bool boolean(bool value) { return take(Json(value), position()); }
  bool number_integer(std::int64_t value) { return take(Json(value), position()); }
  bool number_unsigned(std::uint64_t value) { return take(Json(value), position()); }
  bool number_float(double value, const std::string& digits) {
    if (digits.find_first_of(".eE") == std::string::npos) {
      // The lexer has read one byte beyond a number, unless that ends the text.
      const std::uint64_t beyond = is_in(text_[static_cast<std::size_t>(position() - 1)], "0123456789") ? 0 : 1;
      fail(where_, base_ + position() - beyond - digits.size(), fmt::format("the integer {} does not fit 64 bits", in_quotes(digits)));
    }
    return take(Json(value), position());
  }
  bool string(std::string& value) {
    spend(value.size());
    return take(Json(std::move(value)), position());
  }
  bool binary(Parser::binary_t&) { return false; }
  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    Frame& frame = frames_.back();
    frame.key_offset = start_of_string();
    // The caller of a member-wise run knows the members it has; a set of their names would only double the memory.
    const bool kept_by_caller = taker_ != nullptr && frames_.size() == 1;
    if (!kept_by_caller) {
      spend(kKeyCost + 2 * name.size());
      if (!frame.names.insert(name).second) fail_duplicate(name, frame.key_offset);
    }
    frame.key = std::move(name);
    return true;
  }

  bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception& error) {
    std::string_view text = error.what();
    // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error while ...": the offset says it better.
    if (const std::size_t column = text.find(", column "); column != std::string_view::npos) {
      if (const std::size_t colon = text.find(": ", column); colon != std::string_view::npos) text.remove_prefix(colon + 2);
    }
    fail(where_, base_ + (at > 0 ? at - 1 : 0), "not valid JSON: " + printable(text));
  }

 private:
  struct Frame {
    Json value;
    std::string key;
    std::uint64_t key_offset = 0;
    std::unordered_set<std::string> names;
  };
  static constexpr std::uint64_t kValueCost = 3 * sizeof(Json);  // vectors grow by doubling and copying
  static constexpr std::uint64_t kKeyCost = 3 * (sizeof(Json) + sizeof(std::string)) + 64;

  std::uint64_t position() const { return static_cast<std::uint64_t>(taken_ - text_.data()); }

  /// Of the string that ends here. A quote inside it always follows a backslash, the one before it never does.
  std::uint64_t start_of_string() const {
    std::uint64_t at = position() - 2;
    while (text_[at] != '"' || text_[at - 1] == '\\') --at;
    return base_ + at;
  }

  [[noreturn]] void fail_duplicate(std::string_view name, std::uint64_t offset) const {
    fail(where_, offset, fmt::format("the key {} appears twice in one object", in_quotes(name)));
  }

  void spend(std::uint64_t bytes) {
    spent_ += bytes;
    if (spent_ > limits_.memory) fail(where_, base_ + position(), fmt::format("holds more values than {} bytes of memory take", limits_.memory));
  }

  bool open(Json&& container) {
    spend(kValueCost);
    if (frames_.size() >= static_cast<std::size_t>(limits_.depth)) {
      fail(where_, base_ + position() - 1, fmt::format("nested deeper than {} levels", limits_.depth));
    }
    if (frames_.empty() && taker_ != nullptr && !container.is_object()) fail(where_, base_ + position() - 1, "the top level must be an object");
    frames_.push_back({std::move(container), {}, 0, {}});
    return true;
  }

  bool close() {
    Json value = std::move(frames_.back().value);
    frames_.pop_back();
    return place(std::move(value));
  }

  bool take(Json&& value, std::uint64_t at) {
    spend(kValueCost);
    if (frames_.empty() && taker_ != nullptr) fail(where_, base_ + (at > 0 ? at - 1 : 0), "the top level must be an object");
    return place(std::move(value));
  }

  bool place(Json&& value) {
    if (frames_.empty()) {
      root_ = std::move(value);
    } else if (Frame& frame = frames_.back(); frame.value.is_array()) {
      frame.value.push_back(std::move(value));
    } else if (taker_ != nullptr && frames_.size() == 1) {
      const std::string name = frame.key;
      if (!(*taker_)(std::move(frame.key), std::move(value), frame.key_offset)) fail_duplicate(name, frame.key_offset);
      spent_ = 0;
    } else {
      frame.value.items().push_back({std::move(frame.key), std::move(value)});
    }
    return true;
  }

  std::span<const std::uint8_t> text_;
  const JsonLimits& limits_;
  const std::string& where_;
  std::uint64_t base_;
  const JsonMemberTaker* taker_;
  const std::uint8_t* taken_;
  std::vector<Frame> frames_;
  Json root_;
  std::uint64_t spent_ = 0;
};

/// Throws when two starts of strings or numbers lie further apart than kLongestToken.
void check_token_lengths(std::span<const std::uint8_t> text, const std::string& where, std::uint64_t base) {
  std::size_t start = 0;
  const auto check = [&](std::size_t end) {
    if (end - start > kLongestToken) fail(where, base + start, fmt::format("more than {} bytes without a new value", kLongestToken));
  };
  for (std::size_t i = 0; i < text.size();) {
    const bool is_string = text[i] == '"';
    const bool is_number = is_in(text[i], "-0123456789");
    if (is_string || is_number) {
      check(i);
      start = i;
    }
    ++i;
    if (is_string) {
      while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2U : 1U;
      ++i;
    } else if (is_number) {
      while (i < text.size() && is_in(text[i], "+-.eE0123456789")) ++i;
    }
  }
  check(text.size());
}

/// What the lexer takes without a word: a byte order mark, and a zero byte, which ends the text for it.
void check_bytes(std::span<const std::uint8_t> text, const std::string& where, std::uint64_t base) {
  constexpr std::array<std::uint8_t, 3> kMark{0xEF, 0xBB, 0xBF};
  if (text.size() >= kMark.size() && std::equal(kMark.begin(), kMark.end(), text.begin()))
    fail(where, base, "begins with a byte order mark, not with JSON");
  const auto zero = std::find(text.begin(), text.end(), std::uint8_t{0});
  if (zero != text.end()) fail(where, base + static_cast<std::uint64_t>(zero - text.begin()), "not valid JSON: a zero byte");
}

Json parse(std::span<const std::uint8_t> text, const JsonLimits& limits, const std::string& where, std::uint64_t base, const JsonMemberTaker* taker) {
  if (text.size() > limits.bytes) {
    throw Error(ErrorCode::input, fmt::format("{} bytes of JSON, more than the {} allowed", text.size(), limits.bytes), where);
  }
  check_bytes(text, where, base);
  check_token_lengths(text, where, base);
  return Builder(text, limits, where, base, taker).run();
}

}  // namespace

Json parse_json(std::span<const std::uint8_t> text, const JsonLimits& limits, const std::string& where, std::uint64_t base) {
  return parse(text, limits, where, base, nullptr);
}

Json parse_json(std::string_view text, const JsonLimits& limits, const std::string& where) {
  return parse({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, limits, where, 0, nullptr);
}

void for_each_json_member(std::span<const std::uint8_t> text, const JsonLimits& limits, const std::string& where, std::uint64_t base,
                          const JsonMemberTaker& taker) {
  parse(text, limits, where, base, &taker);
}

}  // namespace mx::support
