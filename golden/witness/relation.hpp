#pragma once
// When a model's value agrees with a recorded one: the relation and the skip rule that the entry states, nothing looser.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "golden/witness/tensor.hpp"
#include "model/numerics/value.hpp"

namespace mx::golden {

struct EntryResult;
struct Excuse;

enum class RelationKind { bits, bits_nan_equal, ulp, steps, rel, ids_as_set };

struct Relation {
  RelationKind kind = RelationKind::bits;
  std::int64_t max = 0;        ///< ulp, steps: largest distance of codes in order
  std::int64_t max_count = 0;  ///< steps: how many elements may differ at all
  int max_pow2 = 0;            ///< rel: |model - recorded| <= 2^max_pow2 * largest |recorded| of the row
  std::string text;            ///< as the entry states it
};

/// Which elements an entry leaves out; any member that applies skips.
struct SkipRule {
  std::optional<TensorSpec> mask;
  std::optional<std::int64_t> abs_below_pow2;
  bool input_nan = false;
};

/// Throws Error(input) for a missing key, Unmodelled for unknown words and keys.
Relation read_relation(const Json& json, const std::string& output, const std::string& where);
SkipRule read_skip_rule(const Json& json, const std::string& output, const std::filesystem::path& directory, const std::string& where);

/// What the model says of one output.
struct ModelOutput {
  Tensor values;
  const Format* format = nullptr;                   ///< how to decode an element for people; null: the dtype's own format, or an integer
  bool pairs = false;                               ///< each byte holds two codes of `format`, low nibble first
  std::function<std::string(std::int64_t)> origin;  ///< the inputs of element i, for people; may be empty
  /// Words that a rule beside the model's would give; empty: none was asked. Recorded words that are not these tell the two apart, also where all of
  /// them are one number.
  std::vector<std::uint64_t> rival = {};
  /// Words of elements that have no one value, by element: each is right.
  std::map<std::int64_t, std::vector<std::uint64_t>> possible = {};
};

/// What one recorded output is held to.
struct Recorded {
  std::string name;
  Tensor values;
  Relation relation;
  std::vector<bool> skipped;           ///< empty: nothing
  std::vector<std::string> row_names;  ///< of the first axis; may be empty
  std::span<const Excuse> excuses;     ///< of the ledger; the first that covers a value excuses it
};

/// Whether |value| < 2^exponent; true for zero, false for Inf and NaN.
bool below_pow2(const Value& value, std::int64_t exponent);

/// Elements to leave out; `x` is the entry's input of that name, or null. Throws Error(input) when mask or x does not match the output.
std::vector<bool> skipped_elements(const SkipRule& rule, const TensorSpec& output, const Tensor* x, const std::filesystem::path& directory,
                                   const std::string& where);

/// Compares every element that is not skipped; adds to the counts of `result` and describes the first differences (at most `max_differences`). What
/// the ledger excuses is counted apart, row by row.
/// Throws Error(input) when shapes or widths differ.
void compare(const Recorded& recorded, const ModelOutput& model, int max_differences, const std::string& where, EntryResult& result);

/// "0x7E = 448", "0xFF = NaN", "0x21 = 1, 0.5" for pairs.
std::string value_text(std::uint64_t word, const Dtype& dtype, const Format* format, bool pairs);

}  // namespace mx::golden
