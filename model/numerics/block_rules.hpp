#pragma once
// Block quantizers as text: "block=16,element=(e2m1,finite,round=rne,overflow=saturate,nan=0),scale=e4m3fn,rule=quotient,factor=quotient". What such
// a text says stands wherever a profile is named, its first three words wherever a block format is.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/numerics/profile.hpp"

namespace mx {

/// A word of such a text, for people.
struct BlockRuleWord {
  std::string family;  ///< the rules beside which it may stand; empty: all
  std::string_view key;
  std::string_view meaning;
  std::string values;
};
std::vector<BlockRuleWord> block_rule_words();

/// True for a text that begins with "block=", or with the name of rules that do and goes on: "te-nvfp4-mae,tensor-amax=41000000".
bool is_block_rules(std::string_view text);

/// The same of a text that says how a block is quantized too, and not only its shape.
bool is_whole_block_rules(std::string_view text);

/// "block=32,element=e2m1,scale=e8m0": every block format has such a text.
std::string text_of(const BlockFormat& format);
/// The block format with every choice of its quantizer. Read again, it is the same recipe.
std::string text_of(const Recipe& recipe);

/// BlockRuleWord::family of the words that the recipe's rules take.
std::string rule_family(const Recipe& recipe);
/// The recipe with this word of its rules in the place of its own; an empty key: as it is. Throws Error(usage) where rules as text cannot say it.
Recipe with_rule_word(const Recipe& recipe, std::string_view key, std::string_view value);

/// The block format that a text says: a named one where it is the same. The same text gives the same address. Throws Error(usage) as rules do, for
/// elements and scales that no byte holds, and for rules, which are a profile's.
const BlockFormat& block_format_of_text(std::string_view text);

/// The profile with the one recipe that a text says. Likewise.
const Profile& block_profile_of_text(std::string_view text);
/// The profile of all named rules of that name that begin with a block; null where there are none.
const Profile* find_named_block_rules(std::string_view name);

/// Number of a profile of this kind, from 0 on, and back; none or null for another. The same of block formats that stand in no table.
std::optional<std::int32_t> number_of_own(const BlockFormat& format);
const BlockFormat* own_block_format(std::int32_t number);
std::optional<std::int32_t> number_of_own_blocks(const Profile& profile);
const Profile* own_block_profile(std::int32_t number);

}  // namespace mx
