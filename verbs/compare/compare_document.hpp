#pragma once
// What `mxact compare` says of two profiles.

#include <string_view>

#include "model/numerics/profile.hpp"
#include "verbs/compare/compare.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

/// Whom, into what, out of what. The exit code of either document: 0 identical; 1 they differ; 5 where nothing differs because both are the same.
struct Compared {
  const Profile* first;
  const Profile* second;
  const Format* from;
};

Document conversions_document(const Compared& compared, const Format& to, const ConversionComparison& result);

/// `first` and `second` are what was compared, of the same block format.
Document recipes_document(const Compared& compared, const RecipeSide& first, const RecipeSide& second, const BlockPattern& pattern,
                          const RecipeComparison& result);

}  // namespace mx::verbs
