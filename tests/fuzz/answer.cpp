#include <algorithm>
#include <array>

#include "tests/fuzz/target.hpp"

namespace mx::tests {

const char* defect_of(const Error& error, std::string_view input) {
  constexpr std::array kCodes{ErrorCode::usage, ErrorCode::input, ErrorCode::unsupported, ErrorCode::resource};
  // How messages of the standard library, Boost and nlohmann-json begin: they escaped from a reader that did not know what it got.
  constexpr std::array<std::string_view, 9> kForeign{"std::", "basic_string", "vector::", "map::", "array::", "sto", "bad_", "[json", "<unspecified"};
  const std::string_view text = error.what();
  const std::size_t place = error.where().empty() ? 0 : error.where().size() + 2;
  if (text.size() <= place) return "an error says what is wrong";
  if (text.find('\n') != std::string_view::npos) return "an error is one line";
  const std::string_view message = text.substr(place);
  const auto is_foreign = [&](std::string_view words) { return message.starts_with(words) && input.find(words) == std::string_view::npos; };
  if (std::ranges::any_of(kForeign, is_foreign)) return "an error speaks for the program";
  if (std::ranges::find(kCodes, error.code()) == kCodes.end()) return "an error has a documented code";
  return nullptr;
}

}  // namespace mx::tests
