#include "support/info.hpp"

#include <algorithm>
#include <boost/property_tree/info_parser.hpp>
#include <boost/property_tree/ptree.hpp>
#include <charconv>
#include <sstream>
#include <utility>

#include "model/error.hpp"
#include "model/names.hpp"
#include "support/file.hpp"
#include "support/json.hpp"
#include "support/quote.hpp"

namespace mx::support {
namespace {

[[noreturn]] void fail(const std::string& message, const std::string& where) { throw Error(ErrorCode::input, message, where); }

/// Some editors write it before UTF-8 text.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// What was no file has no lines.
constexpr std::size_t kNoLine = 0;

std::string at_line(const std::string& file, std::size_t line) { return line == kNoLine ? file : file + ":" + std::to_string(line); }

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_key(std::string_view word) {
  const auto part = [](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; };
  return !word.empty() && is_letter(word.front()) && std::all_of(word.begin(), word.end(), part);
}

/// A key as the scan meets it. property_tree keeps order but no line numbers, so both are walked side by side.
struct ScannedKey {
  std::string key;
  std::size_t line;
  bool has_value = false;
};

/// Finds keys and their lines, and refuses what property_tree would take silently: zero bytes, includes, deep nesting, braces within words.
class Scan {
 public:
  Scan(std::string_view text, const std::string& file) : file_(file) {
    if (text.size() > kLargestInfoFile) fail("is larger than " + std::to_string(kLargestInfoFile) + " bytes", file);
    while (!text.empty()) {
      ++line_;
      const std::size_t end = std::min(text.find('\n'), text.size());
      scan_line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (depth_ != 0) fail("'{' is never closed", at_line(file_, open_.back()));
  }

  const std::vector<ScannedKey>& keys() const { return keys_; }

 private:
  void scan_line(std::string_view rest) {
    if (rest.find('\0') != std::string_view::npos) refuse("a zero byte");
    expects_value_ = false;
    skip_blanks(rest);
    if (rest.starts_with('#')) refuse("directives such as #include are not supported: one file says everything");
    while (!rest.empty() && rest.front() != ';') {
      token(rest);
      skip_blanks(rest);
    }
  }

  void token(std::string_view& rest) {
    switch (rest.front()) {
      case '{':
        open();
        rest.remove_prefix(1);
        return;
      case '}':
        close();
        rest.remove_prefix(1);
        return;
      case '"': quoted(rest); return;
      default: word(rest);
    }
  }

  void open() {
    if (!may_open_) refuse("'{' must follow a key");
    if (++depth_ > kDeepestInfoBlock) refuse("blocks nest deeper than " + std::to_string(kDeepestInfoBlock));
    if (keys_.back().has_value) refuse("'" + keys_.back().key + "' has a value and a block");
    open_.push_back(line_);
    expects_value_ = may_open_ = false;
  }

  void close() {
    if (depth_ == 0) refuse("'}' closes nothing");
    --depth_;
    open_.pop_back();
    expects_value_ = may_open_ = false;
  }

  void quoted(std::string_view& rest) {
    if (!expects_value_) refuse("a quoted text is no key");
    std::size_t end = 1;
    while (end < rest.size() && rest[end] != '"') end += rest[end] == '\\' ? 2U : 1U;
    if (end >= rest.size()) refuse("a quoted text is not closed on its line");
    value();
    rest.remove_prefix(end + 1);
    if (!rest.empty() && !is_blank(rest.front()) && std::string_view(";{}").find(rest.front()) == std::string_view::npos) {
      refuse("a quoted text must be followed by a blank; continued lines are not supported");
    }
  }

  void word(std::string_view& rest) {
    const auto ends = [](char c) { return is_blank(c) || c == ';'; };
    const auto end = static_cast<std::size_t>(std::find_if(rest.begin(), rest.end(), ends) - rest.begin());
    const std::string_view found = rest.substr(0, end);
    if (found.find('\\') != std::string_view::npos) refuse("a backslash stands within quotes only; continued lines are not supported");
    if (found.find_first_of("{}\"") != std::string_view::npos)
      refuse(in_quotes(found) + ": braces need blanks around them, quotes go around a whole value");
    if (expects_value_) {
      value();
    } else {
      if (!is_key(found)) refuse(in_quotes(found) + " is no key: a value is one word, or quoted");
      keys_.push_back({std::string(found), line_});
      expects_value_ = may_open_ = true;
    }
    rest.remove_prefix(end);
  }

  void value() {
    keys_.back().has_value = true;
    expects_value_ = false;
  }

  static void skip_blanks(std::string_view& rest) {
    while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
  }

  [[noreturn]] void refuse(const std::string& message) const { fail(message, at_line(file_, line_)); }

  const std::string& file_;
  std::vector<ScannedKey> keys_;
  std::vector<std::size_t> open_;
  std::size_t line_ = 0;
  int depth_ = 0;
  bool expects_value_ = false;
  bool may_open_ = false;
};

struct Node {
  std::string name;  ///< as the file has it
  std::string key;   ///< with the names of the blocks around it, dotted
  std::string value;
  std::size_t line = 1;
  bool has_value = false;
  std::vector<std::shared_ptr<const Node>> children;
  mutable bool read = false;
  mutable std::vector<std::string> asked;  ///< every key that was asked for here: what a misspelt one may have meant
};

/// Walks property_tree's result and the scan in the same order. The two were written apart; where they disagree, neither is believed.
std::shared_ptr<const Node> build(const boost::property_tree::ptree& tree, const Node& self, const std::vector<ScannedKey>& keys, std::size_t& next,
                                  const std::string& file) {
  auto node = std::make_shared<Node>(self);
  for (const auto& [key, subtree] : tree) {
    if (next == keys.size() || keys[next].key != key) fail("cannot be read without doubt near '" + key + "'", at_line(file, node->line));
    const ScannedKey& scanned = keys[next++];
    for (const auto& sibling : node->children) {
      if (same_name(sibling->name, key)) fail("'" + key + "' is already given in line " + std::to_string(sibling->line), at_line(file, scanned.line));
    }
    Node child;
    child.name = key;
    child.key = self.key.empty() ? key : self.key + "." + key;
    child.value = subtree.data();
    child.line = scanned.line;
    child.has_value = scanned.has_value;
    node->children.push_back(build(subtree, child, keys, next, file));
  }
  return node;
}

/// Text, a number or a flag as a file has it.
std::string value_text(const Json& value, const std::string& key, const std::string& where) {
  if (value.is_string()) {
    if (value.text().find('\0') != std::string::npos) fail(key + " has a zero byte", where);
    return value.text();
  }
  if (value.is_boolean() || value.is_number()) return value.dump();
  fail(key + " is " + (value.is_array() ? "an array" : value.type_name()) + ", must be text, a number, a flag or a block", where);
}

std::shared_ptr<const Node> build(const Json& object, const Node& self, int depth, const std::string& where) {
  if (depth > kDeepestInfoBlock) fail("blocks nest deeper than " + std::to_string(kDeepestInfoBlock), where);
  auto node = std::make_shared<Node>(self);
  for (const auto& [key, value] : object.items()) {
    if (!is_key(key)) fail(in_quotes(key) + " is no key", where);
    for (const auto& sibling : node->children) {
      if (same_name(sibling->name, key)) fail("'" + key + "' is already given as '" + sibling->name + "'", where);
    }
    Node child;
    child.name = key;
    child.key = self.key.empty() ? key : self.key + "." + key;
    child.line = kNoLine;
    if (value.is_object()) {
      node->children.push_back(build(value, child, depth + 1, where));
      continue;
    }
    child.value = value_text(value, child.key, where);
    child.has_value = true;
    node->children.push_back(std::make_shared<Node>(child));
  }
  return node;
}

}  // namespace

struct InfoNode::Impl {
  std::string file;
  std::shared_ptr<const Node> node;

  /// Marks the key as known and, when it is there, as read.
  std::shared_ptr<const Node> find(std::string_view key) const {
    if (std::find(node->asked.begin(), node->asked.end(), key) == node->asked.end()) node->asked.emplace_back(key);
    for (const auto& child : node->children) {
      if (!same_name(child->name, key)) continue;
      child->read = true;
      return child;
    }
    return nullptr;
  }

  InfoNode block_of(const std::shared_ptr<const Node>& child) const {
    if (child->has_value) fail(child->key + " takes a block in braces, not a value", at_line(file, child->line));
    return InfoNode(std::make_shared<Impl>(Impl{file, child}));
  }

  const std::string& value_of(const Node& child) const {
    if (!child.children.empty()) fail(child.key + " takes a value, not a block", at_line(file, child.line));
    if (!child.has_value) fail(child.key + " has no value", at_line(file, child.line));
    return child.value;
  }

  std::string dotted(std::string_view key) const { return node->key.empty() ? std::string(key) : node->key + "." + std::string(key); }

  /// A required key that is missing is most often one that is misspelt.
  [[noreturn]] void missing(std::string_view key) const {
    const std::string_view known[] = {key};
    for (const auto& child : node->children) {
      if (!child->read && !nearest_name(child->name, known).empty()) {
        fail("unknown key '" + child->key + "' (did you mean " + std::string(key) + "?)", at_line(file, child->line));
      }
    }
    fail(dotted(key) + " is missing", at_line(file, node->line));
  }

  void finish(const Node& block) const {
    for (const auto& child : block.children) {
      if (!child->read) {
        std::vector<std::string_view> known(block.asked.begin(), block.asked.end());
        fail(unknown_name(block.key.empty() ? "key" : "key of " + block.key, child->name, known), at_line(file, child->line));
      }
      finish(*child);
    }
  }
};

InfoNode::InfoNode(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

InfoNode InfoNode::load(const std::filesystem::path& path) {
  const std::vector<std::uint8_t> bytes = read_file(path, kLargestInfoFile);
  return parse(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), path.string());
}

InfoNode InfoNode::parse(std::string_view text, const std::string& where) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const Scan scan(text, where);
  boost::property_tree::ptree tree;
  try {
    std::istringstream stream{std::string(text)};
    boost::property_tree::read_info(stream, tree);
  } catch (const boost::property_tree::info_parser_error& error) {
    fail(error.message(), at_line(where, error.line()));
  }
  std::size_t next = 0;
  auto root = build(tree, Node{}, scan.keys(), next, where);
  if (next != scan.keys().size()) fail("cannot be read without doubt near '" + scan.keys()[next].key + "'", at_line(where, scan.keys()[next].line));
  return InfoNode(std::make_shared<Impl>(Impl{where, std::move(root)}));
}

InfoNode InfoNode::of(const Json& object, const std::string& where) {
  if (!object.is_object()) fail(std::string("is ") + object.type_name() + ", must be an object", where);
  Node self;
  self.line = kNoLine;
  return InfoNode(std::make_shared<Impl>(Impl{where, build(object, self, 0, where)}));
}

std::optional<InfoNode> InfoNode::child(std::string_view key) const {
  const auto found = impl_->find(key);
  if (found == nullptr) return std::nullopt;
  return impl_->block_of(found);
}

std::vector<std::pair<std::string, InfoNode>> InfoNode::blocks() const {
  std::vector<std::pair<std::string, InfoNode>> all;
  for (const auto& child : impl_->node->children) {
    child->read = true;
    all.emplace_back(child->name, impl_->block_of(child));
  }
  return all;
}

bool InfoNode::has(std::string_view key) const {
  const auto named = [&](const std::shared_ptr<const Node>& node) { return same_name(node->name, key); };
  return std::any_of(impl_->node->children.begin(), impl_->node->children.end(), named);
}

std::string InfoNode::text(std::string_view key) const {
  const auto found = impl_->find(key);
  if (found == nullptr) impl_->missing(key);
  return impl_->value_of(*found);
}

std::string InfoNode::text_or(std::string_view key, std::string_view fallback) const {
  const auto found = impl_->find(key);
  return found == nullptr ? std::string(fallback) : impl_->value_of(*found);
}

std::int64_t InfoNode::integer(std::string_view key, std::int64_t low, std::int64_t high) const {
  const std::string value = text(key);
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (code == std::errc() && end == value.data() + value.size() && number >= low && number <= high) return number;
  fail(impl_->dotted(key) + " is " + in_quotes(value) + ", must be a whole number in [" + std::to_string(low) + ", " + std::to_string(high) + "]",
       where(key));
}

std::int64_t InfoNode::integer_or(std::string_view key, std::int64_t fallback, std::int64_t low, std::int64_t high) const {
  return impl_->find(key) == nullptr ? fallback : integer(key, low, high);
}

bool InfoNode::boolean_or(std::string_view key, bool fallback) const {
  if (impl_->find(key) == nullptr) return fallback;
  const std::string value = text(key);
  if (same_name(value, "true")) return true;
  if (same_name(value, "false")) return false;
  fail(impl_->dotted(key) + " is " + in_quotes(value) + ", must be true or false", where(key));
}

std::string InfoNode::choice_or(std::string_view key, std::string_view fallback, std::span<const std::string_view> known) const {
  if (impl_->find(key) == nullptr) return std::string(fallback);
  const std::string value = text(key);
  for (std::string_view name : known) {
    if (same_name(name, value)) return std::string(name);
  }
  fail(impl_->dotted(key) + ": " + unknown_name("name", value, known), where(key));
}

std::vector<std::pair<std::string, std::string>> InfoNode::entries() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& child : impl_->node->children) {
    child->read = true;
    all.emplace_back(child->name, impl_->value_of(*child));
  }
  return all;
}

std::string InfoNode::where() const { return at_line(impl_->file, impl_->node->line); }

std::string InfoNode::where(std::string_view key) const {
  const auto found = impl_->find(key);
  return found == nullptr ? where() : at_line(impl_->file, found->line);
}

void InfoNode::finish() const { impl_->finish(*impl_->node); }

}  // namespace mx::support
