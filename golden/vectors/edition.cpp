#include "golden/vectors/edition.hpp"

#include <array>

#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::golden {
namespace {

constexpr std::array<std::string_view, 2> kNames{"v1", "v1.1"};
constexpr std::array<std::string_view, 2> kVersions{"1.0", "1.1"};

}  // namespace

std::string_view name_of(Edition edition) { return kNames[static_cast<std::size_t>(edition)]; }
std::string_view header_version(Edition edition) { return kVersions[static_cast<std::size_t>(edition)]; }

Edition edition_named(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Edition>(i);
  }
  throw Error(ErrorCode::usage, unknown_name("edition", name, kNames));
}

}  // namespace mx::golden
