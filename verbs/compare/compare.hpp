#pragma once
// Where two dialects part: every input of a domain through both, differences counted by class, each class with its first example.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/numerics/recipe.hpp"

namespace mx::verbs {

/// A kind of difference. Classes are rows of a table, tried in its order: a difference belongs to the first class that takes it, the last takes all.
struct DifferenceClass {
  std::string_view name;
  std::string_view meaning;
};

/// Told the share of the work that is done, 0 to 1, by one thread at a time; false: stop. Must not throw.
using Progress = std::function<bool(double fraction)>;

/// What a conversion makes of an input: a code, or none when the implementation refuses it with an error.
using Outcome = std::optional<std::uint32_t>;

/// One input that two conversions treat differently.
struct ConversionExample {
  std::uint32_t input;  ///< source code
  Outcome first;
  Outcome second;
};

struct ConversionClassCount {
  DifferenceClass difference;
  std::uint64_t count = 0;
  std::optional<ConversionExample> example;  ///< that of the lowest input pattern
};

struct ConversionComparison {
  std::uint64_t inputs = 0;
  std::uint64_t differing = 0;
  bool interrupted = false;                   ///< stopped on the way: nothing else here is a result
  bool twin = false;                          ///< computed by kernels::encode on both sides; else by the model
  std::vector<ConversionClassCount> classes;  ///< every class, in the table's order; counts sum to `differing`
};

/// Every code of `from` (all 2^32 patterns of f32, all 65536 of bf16 and fp16) through both conversions, by all threads; the result does not depend
/// on how many. A conversion with itself is not computed. Throws Error(usage) for stochastic conversions: their result is not a function of the
/// input.
ConversionComparison compare_conversions(const Conversion& first, const Conversion& second, const Format& from, const Format& to,
                                         const Progress& progress = {});

/// The blocks that recipes are compared on: one for each input pattern x of the domain. x is the first element, every other element holds `rest`.
struct BlockPattern {
  std::uint32_t rest = 0;  ///< source code
};

/// One side of a comparison.
struct RecipeSide {
  const Recipe* recipe;
  TensorScale tensor;  ///< what this recipe takes
};

/// One block that two recipes treat differently. All elements but the first are alike, and so are their codes.
struct BlockExample {
  std::uint32_t input;  ///< x, source code
  struct Side {
    std::uint32_t scale;
    std::uint32_t code;       ///< of x; 0 where codes are not compared
    std::uint32_t rest_code;  ///< of every other element; likewise
    friend bool operator==(const Side&, const Side&) = default;
  } first, second;
};

struct BlockClassCount {
  DifferenceClass difference;
  std::uint64_t blocks = 0;  ///< blocks of this class
  std::uint64_t scales = 0;  ///< of them, those whose scales differ
  std::uint64_t codes = 0;   ///< of them, those with differing element codes
  std::optional<BlockExample> example;
};

struct RecipeComparison {
  std::uint64_t blocks = 0;
  std::uint64_t differing = 0;
  std::uint64_t scales = 0;   ///< blocks whose scales differ
  std::uint64_t codes = 0;    ///< blocks with differing element codes
  bool interrupted = false;   ///< stopped on the way: nothing else here is a result
  bool scales_alone = false;  ///< one of the recipes gives no codes: scales were compared
  std::vector<BlockClassCount> classes;
};

/// Every code of `from` as the x of one block through both recipes of the same block format, by the model, by all threads: the ends of each run of
/// neighbours that make the same are computed, since scales and codes are monotonic within a binade.
/// Throws Error(usage) for recipes of different block formats and for what quantize_block refuses.
RecipeComparison compare_recipes(const RecipeSide& first, const RecipeSide& second, const Format& from, const BlockPattern& pattern,
                                 const Progress& progress = {});

}  // namespace mx::verbs
