#pragma once
// The words of a text of block rules, one row each: how each is read and printed. For .cpp files of this folder.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "model/numerics/block_rules.hpp"
#include "model/numerics/rule_words.hpp"

namespace mx::rules {

/// What a text says of a quantizer beside its block format.
struct BlockDraft {
  std::string_view text;  ///< the whole, for errors
  const BlockFormat* format = nullptr;
  std::optional<Conversion> element;  ///< none: scales alone
  std::optional<Conversion> scale;    ///< of rules with a scale that is no power of two
};

/// A word with a value.
struct BlockWord {
  std::string_view key;
  std::string_view value;
};

/// Words of the recipe that are no usual ones, each with a comma before it: "quotient=division".
std::string text_of_fields(const decltype(Recipe::how)& how);

/// The recipe of a rule with these words. Throws as refuse.
decltype(Recipe::how) read_fields(const BlockDraft& draft, std::string_view rule, const std::vector<BlockWord>& words);

/// What the words of the recipe's family go by: "powers of two".
std::string family_word(const decltype(Recipe::how)& how);

/// The word of the recipe's rule: "floor", "nvfp4-per-tensor".
std::string rule_word(const decltype(Recipe::how)& how);

/// Every word that some rule takes.
std::vector<BlockRuleWord> field_words();

}  // namespace mx::rules
