#pragma once
// What the operations on blocks have in common: a block format under a profile, with the numbers of the tensor that it takes.

#include <optional>

#include "golden/vectors/op.hpp"
#include "golden/vectors/options.hpp"
#include "model/numerics/profile.hpp"

namespace mx::golden {

/// A block format as one profile quantizes it.
struct BlockSubject {
  const BlockFormat* format;
  const Format* source;
  std::string profile;
  Recipe recipe;
  int block;          ///< elements of a vector: the format's, or kOpenBlock where it leaves that open
  TensorNeeds needs;  ///< operands "g" and "d", fp32 bits

  bool says_rules;   ///< the profile is what it was asked by
  bool nan_is_free;  ///< codes of a block whose scale is NaN are not compared
  Edition edition;
};
inline constexpr int kOpenBlock = 32;
/// Longer blocks (tiles of 128x128) are tested through their scale alone.
inline constexpr int kLongestBlock = 128;

int block_size(const BlockFormat& format);
/// Of a block format, or of rules that say one, with --profile, --from and --nan; rules take no profile. Throws Error(usage) as `recipe` does.
BlockSubject block_subject(std::string_view text, const OpOptions& options);
/// What the operation is called by: the block format, or the rules.
std::string_view name_of(const BlockSubject& subject);
std::vector<OpSetting> block_settings(const BlockSubject& subject);

/// Operand columns of the tensor's numbers, and those numbers out of a vector whose other operands take `first` lanes.
std::vector<Column> tensor_columns(const TensorNeeds& needs);
TensorScale tensor_of(const TensorNeeds& needs, Lanes operands, std::size_t first);
/// Values of them worth trying, lane by lane; one empty row where nothing is needed.
std::vector<std::vector<std::uint32_t>> tensor_choices(const TensorNeeds& needs);

/// Recipes that a device may follow instead: other scale rules, other roundings of elements, other profiles.
struct OtherRecipe {
  FaultClass cls;
  std::string name;
  Recipe recipe;
};
std::vector<OtherRecipe> other_recipes(const BlockSubject& subject);

/// The conversion of a recipe's elements, to be changed; null where it has scales alone.
Conversion* element_of(Recipe& recipe);

/// Recipes with one choice other than under test, then with two, which rules as text say; each once.
struct OtherBlock {
  int choices;
  std::string text;
  Recipe recipe;
};
std::vector<OtherBlock> other_blocks(const BlockSubject& subject);

/// "scale_FORMAT", "quantize_FORMAT", "dequantize_FORMAT_to_TARGET".
std::vector<std::string> scale_names();
std::vector<std::string> quantize_names();
std::vector<std::string> dequantize_names();
std::unique_ptr<VectorOp> make_scale(std::string_view name, const OpOptions& options);
std::unique_ptr<VectorOp> make_quantize(std::string_view name, const OpOptions& options);
std::unique_ptr<VectorOp> make_dequantize(std::string_view name, const OpOptions& options);

}  // namespace mx::golden
