#pragma once
// Which releases and commits stand for a version of an engine.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/deployment/version.hpp"

namespace mx::deployment {

/// A release as PEP 440 reads it: numbers and what stands behind them ("rc1", "post2"). "v0.29", "0.29.0" and "0.29.0+cu130" are one.
struct Release {
  std::vector<int> numbers;  ///< without zeros at the end
  std::string suffix;

  friend bool operator==(const Release&, const Release&) = default;
};
/// None where the text is no release; a number alone is none.
std::optional<Release> release_of(std::string_view text);
/// Whether both are one release; of texts that are none, whether they are equal.
bool is_same_release(std::string_view a, std::string_view b);

std::vector<std::string_view> releases_of(Engine engine);  ///< "0.22.0", oldest first
std::vector<std::string_view> commits_of(Engine engine);   ///< as far as they are known

}  // namespace mx::deployment
