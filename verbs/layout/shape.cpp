#include "verbs/layout/shape.hpp"

#include <fmt/core.h>

#include <vector>

#include "model/error.hpp"
#include "model/families/setting_keys.hpp"
#include "model/names.hpp"

namespace mx::verbs {
namespace {

// Far above any model, and small enough that no address overflows.
constexpr std::int64_t kLargestSize = std::int64_t{1} << 20;
constexpr std::int64_t kMostExperts = std::int64_t{1} << 16;

[[noreturn]] void refuse(std::string_view text, const ShapeParts& parts) {
  throw Error(ErrorCode::usage,
              fmt::format("'{}' is neither {}x{}, {}x{}x{} nor {}=..,{}=..,{}=..", text, parts[1].name, parts[2].name, parts[0].name, parts[1].name,
                          parts[2].name, parts[0].name, parts[1].name, parts[2].name),
              "shape");
}

std::vector<std::string_view> cut(std::string_view text, char at) {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t end = text.find(at);
    words.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return words;
    text.remove_prefix(end + 1);
  }
}

std::int64_t number(const ShapePart& part, std::string_view text) {
  return families::whole_number(fmt::format("shape {}", part.name), text, 1, part.most);
}

std::array<std::int64_t, 3> by_names(std::string_view text, const ShapeParts& parts) {
  std::array<std::int64_t, 3> shape{1, 0, 0};
  std::array<bool, 3> given{};
  for (std::string_view word : cut(text, ',')) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) refuse(text, parts);
    const std::string_view name = word.substr(0, equals);
    std::size_t i = 0;
    while (i < parts.size() && !same_name(name, parts[i].name) && !same_name(name, parts[i].long_name)) ++i;
    if (i == parts.size()) {
      const std::array<std::string_view, 6> known{parts[0].name,      parts[1].name,      parts[2].name,
                                                  parts[0].long_name, parts[1].long_name, parts[2].long_name};
      throw Error(ErrorCode::usage, unknown_name("size", name, known), "shape");
    }
    if (given[i]) throw Error(ErrorCode::usage, fmt::format("{} is given twice", parts[i].name), "shape");
    given[i] = true;
    shape[i] = number(parts[i], word.substr(equals + 1));
  }
  if (!given[1] || !given[2]) refuse(text, parts);
  return shape;
}

}  // namespace

const ShapeParts kLayerShape{{{"E", "experts", kMostExperts}, {"I", "intermediate", kLargestSize}, {"H", "hidden", kLargestSize}}};
const ShapeParts kMatrixShape{{{"batch", "B", kMostExperts}, {"rows", "R", kLargestSize}, {"cols", "C", kLargestSize}}};

std::array<std::int64_t, 3> shape_from(std::string_view text, const ShapeParts& parts) {
  if (text.find('=') != std::string_view::npos) return by_names(text, parts);
  const std::vector<std::string_view> words = cut(text, 'x');
  if (words.size() != 2 && words.size() != 3) refuse(text, parts);
  std::array<std::int64_t, 3> shape{1, 1, 1};
  const std::size_t first = 3 - words.size();
  for (std::size_t i = 0; i < words.size(); ++i) shape[first + i] = number(parts[first + i], words[i]);
  return shape;
}

}  // namespace mx::verbs
