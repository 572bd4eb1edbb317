#include "tests/corrupt/rules.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>

namespace mx::tests {
namespace {

enum class TokenKind { key, text, number, mark };
struct Token {
  TokenKind kind;
  std::size_t begin;
  std::size_t end;
};

/// Of a good document.
std::vector<Token> tokens_of(std::string_view json) {
  constexpr std::string_view kNumber = "+-.eE0123456789";
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < json.size();) {
    std::size_t end = at + 1;
    TokenKind kind = TokenKind::mark;
    if (json[at] == '"') {
      while (json[end] != '"') end += json[end] == '\\' ? 2U : 1U;
      ++end;
      const std::size_t next = json.find_first_not_of(" \n\t\r", end);
      kind = next != std::string_view::npos && json[next] == ':' ? TokenKind::key : TokenKind::text;
    } else if (json[at] == '-' || std::isdigit(static_cast<unsigned char>(json[at])) != 0) {
      end = std::min(json.find_first_not_of(kNumber, at), json.size());
      kind = TokenKind::number;
    } else if (std::isspace(static_cast<unsigned char>(json[at])) != 0) {
      ++at;
      continue;
    } else if (std::isalpha(static_cast<unsigned char>(json[at])) != 0) {
      while (end < json.size() && std::isalpha(static_cast<unsigned char>(json[end])) != 0) ++end;
    }
    tokens.push_back({kind, at, end});
    at = end;
  }
  return tokens;
}

/// At most `most` of them, spread over all.
template <typename T>
std::vector<T> spread(const std::vector<T>& all, std::size_t most) {
  if (all.size() <= most) return all;
  std::vector<T> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * (all.size() - 1) / (most - 1)]);
  return some;
}

std::vector<Token> of_kind(const std::vector<Token>& tokens, TokenKind kind, std::size_t most) {
  std::vector<Token> some;
  std::ranges::copy_if(tokens, std::back_inserter(some), [&](const Token& token) { return token.kind == kind; });
  return spread(some, most);
}

std::string replaced(std::string_view good, const Token& token, std::string_view by) {
  return std::string(good.substr(0, token.begin)) + std::string(by) + std::string(good.substr(token.end));
}

/// Files of one source, gathered.
class Files {
 public:
  void add(std::string rule, std::string bytes, Fate fate) { files_.push_back({std::move(rule), std::move(bytes), fate}); }
  void add(std::vector<BadFile> more) { std::ranges::move(more, std::back_inserter(files_)); }
  std::vector<BadFile> take() { return std::move(files_); }

 private:
  std::vector<BadFile> files_;
};

struct Replacement {
  std::string_view text;
  Fate fate;
};

constexpr std::array<Replacement, 21> kNumbers{{
    {"NaN", Fate::refused},
    {"Infinity", Fate::refused},
    {"-", Fate::refused},
    {"+1", Fate::refused},
    {"01", Fate::refused},
    {"1e", Fate::refused},
    {"0x10", Fate::refused},
    {".5", Fate::refused},
    {"1e999", Fate::refused},
    {"18446744073709551616", Fate::refused},
    {"0", Fate::either},
    {"-1", Fate::either},
    {"0.5", Fate::either},
    {"1e3", Fate::either},
    {"9223372036854775807", Fate::either},
    {"18446744073709551615", Fate::either},
    {"\"4\"", Fate::either},
    {"null", Fate::either},
    {"true", Fate::either},
    {"[]", Fate::either},
    {"{}", Fate::either},
}};

constexpr std::array<Replacement, 14> kTexts{{
    {"\"\xFF\"", Fate::refused},
    {"\"\xC0\xAF\"", Fate::refused},      // longer than it need be
    {"\"\xED\xA0\x80\"", Fate::refused},  // half a pair
    {"\"\\ud800\"", Fate::refused},
    {"\"\\x41\"", Fate::refused},
    {"\"a\x01\"", Fate::refused},
    {"\"a\tb\"", Fate::refused},
    {"'a'", Fate::refused},
    {"\"a", Fate::refused},
    {"\"\"", Fate::either},
    {"\"../../../etc/passwd\"", Fate::either},
    {"\"a\\u0000b\\n\"", Fate::either},
    {"7", Fate::either},
    {"[null]", Fate::either},
}};

void add_whole(Files& files, const std::string& good) {
  constexpr std::size_t kDeep = 100'000;
  files.add("empty", "", Fate::refused);
  files.add("a blank", " ", Fate::refused);
  files.add("byte order mark", "\xEF\xBB\xBF" + good, Fate::refused);
  std::string wide = "\xFF\xFE";
  for (const char byte : good) wide += {byte, '\0'};
  files.add("UTF-16", wide, Fate::refused);
  files.add("zeros", std::string(good.size(), '\0'), Fate::refused);
  files.add("a zero behind it", good + std::string(1, '\0'), Fate::refused);
  files.add("a letter behind it", good + "x", Fate::refused);
  files.add("twice", good + good, Fate::refused);
  files.add("a comment before it", "/* */" + good, Fate::refused);
  files.add("open lists without end", std::string(kDeep, '['), Fate::refused);
  files.add("lists within lists", std::string(kDeep, '[') + std::string(kDeep, ']'), Fate::refused);
  std::string objects;
  for (std::size_t i = 0; i < kDeep / 10; ++i) objects += "{\"a\":";
  files.add("objects within objects", objects + "1" + std::string(kDeep / 10, '}'), Fate::refused);
  for (const char* other : {"null", "7", "\"text\"", "[]"}) files.add(std::string("another document: ") + other, other, Fate::refused);
  files.add("an empty object", "{}", Fate::either);
}

void add_cuts(Files& files, const std::string& good, const std::vector<Token>& tokens) {
  for (const Token& token : spread(tokens, 40)) {
    if (token.begin > 0) files.add("cut before byte " + std::to_string(token.begin), good.substr(0, token.begin), Fate::refused);
    const std::size_t middle = (token.begin + token.end) / 2;
    if (middle > token.begin) files.add("cut within a token, before byte " + std::to_string(middle), good.substr(0, middle), Fate::refused);
  }
}

void add_replacements(Files& files, const std::string& good, const std::vector<Token>& some, std::span<const Replacement> by,
                      const std::string& what) {
  for (const Token& token : some) {
    for (const Replacement& one : by) {
      if (good.substr(token.begin, token.end - token.begin) == one.text) continue;
      files.add(what + " at byte " + std::to_string(token.begin) + " is " + std::string(one.text), replaced(good, token, one.text), one.fate);
    }
  }
}

void add_keys(Files& files, const std::string& good, const std::vector<Token>& tokens) {
  for (const Token& key : of_kind(tokens, TokenKind::key, 12)) {
    const std::string name = good.substr(key.begin, key.end - key.begin);
    const std::string at = " at byte " + std::to_string(key.begin);
    files.add("key twice" + at, good.substr(0, key.begin) + name + ":0," + good.substr(key.begin), Fate::refused);
    files.add("key without quotes" + at, replaced(good, key, "key"), Fate::refused);
    files.add("key of invalid UTF-8" + at, replaced(good, key, "\"\xFE\""), Fate::refused);
    files.add("key left out" + at, replaced(good, key, ""), Fate::refused);
    files.add("another key" + at, replaced(good, key, "\"x" + name.substr(1)), Fate::either);
    files.add("a long key" + at, replaced(good, key, '"' + std::string(100'000, 'k') + '"'), Fate::either);
  }
}

void add_marks(Files& files, const std::string& good, const std::vector<Token>& tokens) {
  for (const Token& mark : of_kind(tokens, TokenKind::mark, 12)) {
    const std::string at = " at byte " + std::to_string(mark.begin);
    const char sign = good[mark.begin];
    files.add("nothing" + at, replaced(good, mark, ""), Fate::refused);
    if (sign == '}' || sign == ']') files.add("a comma too many" + at, good.substr(0, mark.begin) + "," + good.substr(mark.begin), Fate::refused);
    files.add("a semicolon" + at, replaced(good, mark, ";"), Fate::refused);
  }
}

}  // namespace

std::vector<BadFile> bad_json(const std::string& good) {
  const std::vector<Token> tokens = tokens_of(good);
  Files files;
  add_whole(files, good);
  add_cuts(files, good, tokens);
  add_replacements(files, good, of_kind(tokens, TokenKind::number, 12), kNumbers, "number");
  add_replacements(files, good, of_kind(tokens, TokenKind::text, 12), kTexts, "text");
  add_keys(files, good, tokens);
  add_marks(files, good, tokens);
  return files.take();
}

std::vector<BadFile> bad_python_json(const std::string& good) {
  std::vector<BadFile> files = bad_json(good);
  for (BadFile& file : files) {
    if (file.rule.ends_with(" is Infinity")) file.fate = Fate::either;
  }
  return files;
}

std::vector<BadFile> bad_json_lines(const std::string& good) {
  const std::size_t end = good.find('\n');
  const std::string first = good.substr(0, end), rest = good.substr(end);
  Files files;
  for (BadFile& bad : bad_json(first)) files.add(std::move(bad.rule), bad.bytes + rest, bad.fate);
  files.add("an empty line", first + "\n" + rest, Fate::refused);
  files.add("a million empty lines", first + std::string(1'000'000, '\n'), Fate::refused);
  files.add("a line twice", first + "\n" + good, Fate::refused);
  files.add("two documents on a line", first + " " + first + rest, Fate::refused);
  files.add("ends of lines as on Windows", first + "\r" + rest, Fate::either);
  return files.take();
}

std::vector<BadFile> bad_lines(const std::string& good, const LineRules& rules) {
  const std::size_t first = good.find('\n') + 1;
  const std::size_t last = good.rfind('\n', good.size() - 2) + 1;
  const std::string head = good.substr(0, first), body = good.substr(first), line = good.substr(last);
  Files files;
  files.add("another head", "x" + good, Fate::refused);
  files.add("a head of another kind", "text\n" + body, Fate::refused);
  files.add("no head", body, rules.headless);
  files.add("byte order mark", "\xEF\xBB\xBF" + good, Fate::refused);
  files.add("zeros", std::string(good.size(), '\0') + "\n", Fate::refused);
  files.add("an empty line at the end", good + "\n", rules.blanks);
  files.add("a line of a megabyte", good + std::string(1'000'000, 'x') + "\n", Fate::refused);
  files.add("a long head", std::string(1'000'000, 'x') + "\n" + body, Fate::refused);
  files.add("cut within the last line", good.substr(0, good.size() - 3), rules.torn);
  for (const auto& [what, text] : std::initializer_list<std::pair<const char*, const char*>>{{"a letter", "x"},
                                                                                             {"a minus", "-"},
                                                                                             {"a zero byte", ""},
                                                                                             {"a byte of no UTF-8", "\xFF"},
                                                                                             {"a tab", "\t"},
                                                                                             {"a return", "\r"},
                                                                                             {"an umlaut", "\xC3\xA4"}}) {
    const std::string inserted = *text == '\0' ? std::string(1, '\0') : std::string(text);
    const bool is_blank = inserted == "\t" || inserted == "\r";
    for (const std::size_t at : {last + 1, last + line.size() / 2, good.size() - 1})
      files.add(std::string(what) + " at byte " + std::to_string(at), good.substr(0, at) + inserted + good.substr(at),
                is_blank ? rules.blanks : Fate::refused);
  }
  for (std::size_t at = last; at < good.size(); ++at) {
    if (good[at] == ' ') files.add("no blank at byte " + std::to_string(at), good.substr(0, at) + good.substr(at + 1), Fate::refused);
    if (good[at] == ' ') files.add("a word more at byte " + std::to_string(at), good.substr(0, at) + " 7" + good.substr(at), Fate::refused);
  }
  std::string returns;
  for (const char byte : good) returns += byte == '\n' ? std::string("\r\n") : std::string(1, byte);
  files.add("ends of lines as on Windows", returns, rules.blanks);
  return files.take();
}

std::vector<BadFile> bad_info(const std::string& good) {
  Files files;
  files.add("empty", "", Fate::either);
  files.add("two byte order marks", "\xEF\xBB\xBF\xEF\xBB\xBF" + good, Fate::refused);
  files.add("zeros", std::string(good.size(), '\0'), Fate::refused);
  files.add("a file within it", "#include \"other.info\"\n" + good, Fate::refused);
  files.add("a brace that nobody closes", good + "more {\n", Fate::refused);
  files.add("a brace that nobody opened", good + "}\n", Fate::refused);
  std::string deep;
  for (int level = 0; level < 50'000; ++level) deep += "a {\n";
  files.add("blocks within blocks", deep, Fate::refused);
  files.add("a quote that nobody closes", good + "text \"\n", Fate::refused);
  files.add("larger than such files are", good + std::string(std::size_t{2} << 20, ' '), Fate::refused);
  std::string returns;
  for (const char byte : good) returns += byte == '\n' ? std::string("\r\n") : std::string(1, byte);
  files.add("ends of lines as on Windows", returns, Fate::either);
  constexpr std::array<std::string_view, 10> kValues{"", "-1", "0", "99999999999999999999", "1e9", "nan", "0x10", "4 5", "\xFF\xFE", "\"\\x41\""};
  for (std::size_t begin = 0; begin < good.size();) {
    const std::size_t end = good.find('\n', begin);
    const std::string line = good.substr(begin, end - begin);
    const std::size_t key = line.find_first_not_of(' ');
    const std::size_t blank = key == std::string::npos ? key : line.find(' ', key);
    const std::string at = " at byte " + std::to_string(begin);
    const bool is_value =
        blank != std::string::npos && line[key] != ';' && line.find('{') == std::string::npos && line.find('#') == std::string::npos;
    if (is_value) {
      files.add("a line twice" + at, good.substr(0, end + 1) + line + "\n" + good.substr(end + 1), Fate::refused);
      files.add("a key in two words" + at, good.substr(0, begin + blank) + " x" + good.substr(begin + blank), Fate::refused);
      files.add("another key" + at, good.substr(0, begin + key) + "x" + good.substr(begin + key), Fate::either);
      for (const std::string_view value : kValues)
        files.add("the value" + at + " is '" + std::string(value) + "'", good.substr(0, begin + blank + 1) + std::string(value) + good.substr(end),
                  Fate::either);
    }
    begin = end + 1;
  }
  return files.take();
}

std::string_view header_of(const std::string& container) {
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<std::uint8_t>(container[i]);
  return std::string_view(container).substr(8, static_cast<std::size_t>(length));
}

namespace {

std::string with_length(std::uint64_t length, std::string_view rest) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> 8 * i);
  return bytes + std::string(rest);
}

}  // namespace

std::string with_header(const std::string& good, std::string header) {
  return with_length(header.size(), header + good.substr(8 + header_of(good).size()));
}

std::vector<BadFile> bad_container(const std::string& good) {
  const std::string header(header_of(good));
  const std::string rest = good.substr(8);
  Files files;
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, header.size() - 1, header.size() + 1, header.size() * 2,
                                     rest.size(), rest.size() + 1, std::uint64_t{90'000'000}, std::uint64_t{100'000'001}, std::uint64_t{1} << 31,
                                     std::uint64_t{1} << 32, std::uint64_t{1} << 63, ~std::uint64_t{7}, ~std::uint64_t{0}})
    files.add("a length of " + std::to_string(length), with_length(length, rest), Fate::refused);
  files.add("big-endian length", std::string(good.rbegin() + static_cast<std::ptrdiff_t>(rest.size()), good.rend()) + rest, Fate::refused);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{8}, 8 + header.size() / 2, 8 + header.size(), good.size() - 1})
    files.add("cut to " + std::to_string(size) + " bytes", good.substr(0, size), Fate::refused);
  files.add("a byte behind the data", good + "x", Fate::refused);
  files.add("the whole file twice", good + good, Fate::refused);
  for (BadFile& bad : bad_json(header)) files.add("header: " + bad.rule, with_header(good, bad.bytes), bad.fate);
  return files.take();
}

std::vector<BadFile> bad_size(const std::string& good) {
  Files files;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, good.size() / 2, good.size() - 1})
    files.add("cut to " + std::to_string(size) + " bytes", good.substr(0, size), Fate::refused);
  files.add("a byte more", good + "x", Fate::refused);
  files.add("twice", good + good, Fate::refused);
  return files.take();
}

}  // namespace mx::tests
