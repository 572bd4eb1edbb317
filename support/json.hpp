#pragma once
// JSON: a value, its text, and foreign text read within bounds: depth, size, memory, UTF-8, no duplicate keys, integers kept exactly.
// The only door to the JSON library, which costs seconds in every file that sees it: this header includes none of it.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mx::support {

struct JsonMember;
/// Whatever stands in braces.
struct JsonAny {
  template <typename T>
  JsonAny(const T&);
};

/// null, a flag, a number (an integer is exact: int64 or uint64), text, an array, or an object whose members keep their order. Reading a value as
/// what it is not throws Error(input) that says what it is.
class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<JsonMember>;

  Json(std::nullptr_t = nullptr) {}
  template <std::same_as<bool> T>
  Json(T flag) : kind_(Kind::flag), payload_{.flag = flag} {}
  template <std::signed_integral T>
  Json(T number) : kind_(Kind::integer), payload_{.integer = number} {}
  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  Json(T number) : kind_(Kind::natural), payload_{.natural = number} {}
  template <std::floating_point T>
  Json(T number) : kind_(Kind::number), payload_{.number = static_cast<double>(number)} {}
  Json(std::string text);
  Json(std::string_view text) : Json(std::string(text)) {}
  Json(const char* text) : Json(std::string(text)) {}
  Json(Array elements);
  Json(Object members);
  /// An array of what a range holds.
  template <typename Range>
    requires(!std::convertible_to<const Range&, std::string_view> && !std::same_as<Range, Json> &&
             requires(const Range& range) { Json(*std::begin(range)); })
  Json(const Range& elements) : Json(Array(std::begin(elements), std::end(elements))) {}
  template <typename T>
  Json(const std::map<std::string, T>& members);
  /// An object: {{"name", "e2m1"}, {"bits", 4}}. An array says so: Json::array({1, 2}).
  Json(std::initializer_list<JsonMember> members);
  /// {x} would be x, where an array of one was meant.
  Json(std::initializer_list<JsonAny>) = delete;
  static Json array(std::initializer_list<Json> elements = {});
  static Json object();

  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(Json other) noexcept;
  ~Json();
  void swap(Json& other) noexcept;

  bool is_null() const { return kind_ == Kind::null; }
  bool is_boolean() const { return kind_ == Kind::flag; }
  bool is_number_integer() const { return kind_ == Kind::integer || kind_ == Kind::natural; }
  /// An integer that is not below 0: every such one that was read.
  bool is_number_unsigned() const { return kind_ == Kind::natural; }
  /// An integer that int64 holds.
  bool is_int64() const { return kind_ == Kind::integer || (kind_ == Kind::natural && std::in_range<std::int64_t>(payload_.natural)); }
  bool is_number_float() const { return kind_ == Kind::number; }
  bool is_number() const { return is_number_integer() || is_number_float(); }
  bool is_string() const { return kind_ == Kind::text; }
  bool is_array() const { return kind_ == Kind::array; }
  bool is_object() const { return kind_ == Kind::object; }
  bool is_structured() const { return is_array() || is_object(); }
  /// "null", "boolean", "number", "string", "array", "object".
  const char* type_name() const;

  bool flag() const;
  /// An integer in the range of the type. Throws as the others do, also where it does not fit.
  std::int64_t integer() const;
  std::uint64_t natural() const;
  double number() const;
  const std::string& text() const;
  /// The value as a bool, an integer in its range, a floating-point number, text, or a vector of these.
  template <typename T>
  T get() const;

  /// Of an array or an object; 0 for null.
  std::size_t size() const;
  bool empty() const { return size() == 0; }
  /// Elements of an array; null has none.
  Array::const_iterator begin() const { return elements().begin(); }
  Array::const_iterator end() const { return elements().end(); }
  Array::iterator begin() { return const_cast<Array&>(elements()).begin(); }
  Array::iterator end() { return const_cast<Array&>(elements()).end(); }
  template <std::integral T>
  const Json& operator[](T index) const {
    return element(static_cast<std::size_t>(index));
  }
  template <std::integral T>
  Json& operator[](T index) {
    return const_cast<Json&>(element(static_cast<std::size_t>(index)));
  }
  const Json& front() const { return element(0); }
  const Json& back() const { return element(size() - 1); }
  Json& back() { return const_cast<Json&>(element(size() - 1)); }
  /// Makes an array of null.
  void push_back(Json element);

  /// Members of an object, in order.
  const Object& items() const;
  Object& items() { return const_cast<Object&>(std::as_const(*this).items()); }
  /// Null where there is no such member. Only objects have any.
  const Json* find(std::string_view key) const;
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  /// The member; throws Error(input) where there is none.
  const Json& at(std::string_view key) const;
  Json& at(std::string_view key) { return const_cast<Json&>(std::as_const(*this).at(key)); }
  template <std::convertible_to<std::string_view> T>
  const Json& operator[](const T& key) const {
    return at(key);
  }
  /// The member, added behind the others where there is none; makes an object of null.
  template <std::convertible_to<std::string_view> T>
  Json& operator[](const T& key) {
    return member(key);
  }
  /// Takes the members of another object over what is there under their names.
  void update(const Json& members);
  /// Removes a member, if there is one.
  void erase(std::string_view key);
  /// Removes an element of an array.
  void erase(std::size_t index);

  /// Numbers are equal by value, an integer and another number as doubles; objects with the same members in the same order.
  friend bool operator==(const Json& a, const Json& b);
  friend std::ostream& operator<<(std::ostream& out, const Json& json);

  /// What becomes of text that is no UTF-8: an Error(input), or U+FFFD in the place of what is bad.
  enum class BadText { refused, replaced };
  /// As text: in one line, or with `indent` blanks a level. A number that is not finite is null.
  std::string dump(int indent = -1, BadText bad_text = BadText::refused) const;

 private:
  enum class Kind : std::uint8_t { null, flag, integer, natural, number, text, array, object };

  const Array& elements() const;
  const Json& element(std::size_t index) const;
  Json& member(std::string_view key);
  [[noreturn]] void fail(std::string_view wanted) const;

  union Payload {
    std::uint64_t natural = 0;
    std::int64_t integer;
    bool flag;
    double number;
    std::string* text;
    Array* array;
    Object* object;
  };

  Kind kind_ = Kind::null;
  Payload payload_;
};

/// A member of an object.
struct JsonMember {
  std::string key;
  Json value;

  friend bool operator==(const JsonMember&, const JsonMember&) = default;
};

template <typename T>
Json::Json(const std::map<std::string, T>& members) : Json(object()) {
  for (const auto& [key, value] : members) items().push_back({key, Json(value)});
}

template <typename T>
T Json::get() const {
  if constexpr (std::same_as<T, bool>) {
    return flag();
  } else if constexpr (std::signed_integral<T>) {
    const std::int64_t value = integer();
    if (!std::in_range<T>(value)) fail("integer that fits");
    return static_cast<T>(value);
  } else if constexpr (std::unsigned_integral<T>) {
    const std::uint64_t value = natural();
    if (!std::in_range<T>(value)) fail("integer that fits");
    return static_cast<T>(value);
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(number());
  } else if constexpr (std::same_as<T, std::string>) {
    return text();
  } else {
    T values;
    for (const Json& element : *this) values.push_back(element.get<typename T::value_type>());
    return values;
  }
}

struct JsonLimits {
  std::uint64_t bytes;                             ///< of the text
  int depth = 8;                                   ///< of nested objects and arrays
  std::uint64_t memory = std::uint64_t{64} << 20;  ///< estimate, in bytes, of the values held at one time
};

/// Parses UTF-8 text. Throws Error(input) that names `where` and the byte offset within the text (plus `base`): bad syntax or UTF-8, a duplicate key,
/// nesting deeper than the limit, trailing bytes, a number that does not fit its type, a token longer than 1 MiB, too many values.
/// Integers are int64 or uint64, never rounded to floating point.
Json parse_json(std::span<const std::uint8_t> text, const JsonLimits& limits, const std::string& where, std::uint64_t base = 0);
/// The same of text that is at hand: of a program's own output, say.
Json parse_json(std::string_view text, const JsonLimits& limits, const std::string& where);

/// Takes one member of the top-level object; `offset` is where its key begins. Returns false when it already has a member of that name.
using JsonMemberTaker = std::function<bool(std::string&& key, Json&& value, std::uint64_t offset)>;

/// As parse_json for a text that must be an object, one member at a time: only one member is in memory, and limits.memory is per member.
void for_each_json_member(std::span<const std::uint8_t> text, const JsonLimits& limits, const std::string& where, std::uint64_t base,
                          const JsonMemberTaker& taker);

}  // namespace mx::support
