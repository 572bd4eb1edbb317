#pragma once
// Places where a choice was known to break a need before there was an audit: from reading the engine and from its issues. Each is a finding, or the
// audit says why its model cannot see it.

#include <span>
#include <string_view>

namespace mx::oracle {

/// A finding that shows a place. Its need may be seen in more backends.
struct Shown {
  std::string_view oracle;
  std::string_view backend;
  std::string_view kernel_class;
  std::string_view need;
};

struct KnownPlace {
  int number;
  std::string_view what;
  std::span<const Shown> shown;  ///< empty: unseen
  std::string_view why_unseen;   ///< empty: shown
};

/// Numbered from 1.
std::span<const KnownPlace> known_places();

}  // namespace mx::oracle
