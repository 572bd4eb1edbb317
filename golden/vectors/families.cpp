#include "golden/vectors/families.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "golden/vectors/affine_op.hpp"
#include "golden/vectors/arithmetic_ops.hpp"
#include "golden/vectors/block_subject.hpp"
#include "golden/vectors/conversion_op.hpp"
#include "golden/vectors/p3109_op.hpp"
#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::golden {
namespace {

constexpr std::array kFamilies{
    OpFamily{"cast", "SOURCE_to_TARGET", "a code of one format into another", conversion_names, make_conversion},
    OpFamily{"scale", "scale_BLOCKFORMAT", "the scale of a block, given its largest value", scale_names, make_scale},
    OpFamily{"block", "quantize_BLOCKFORMAT", "a block into its scale and codes", quantize_names, make_quantize},
    OpFamily{"decode", "dequantize_BLOCKFORMAT_to_TARGET", "a block's scale and codes into numbers", dequantize_names, make_dequantize},
    OpFamily{"product", "product_A_B", "the exact product of two codes, in fp32", product_names, make_product},
    OpFamily{"arithmetic", "add_A, fma_A_to_B, ...", "add, sub, mul, fma, div, sqrt, minimum, maximum, rounded once", scalar_names, make_scalar},
    OpFamily{"comparison", "quiet-less_A, quiet-equal_A_B", "the predicates of IEEE 754, quiet and signalling", comparison_names, make_comparison},
    OpFamily{"integer", "SOURCE_to_i32, q4.12_to_TARGET", "a code into an integer or fixed point, and back", integer_names, make_integer},
    OpFamily{"dot", "dot_A_B", "a dot product of formats or block formats under a contract", dot_names, make_dot},
    OpFamily{"layout", "address_LAYOUT, element_LAYOUT", "where an element lies, and what lies at an address", layout_names, make_layout},
    OpFamily{"activation", "activation_NAME", "gate and up of an expert, combined", activation_names, make_activation},
    OpFamily{"moe", "moe_layer", "a token through a layer of four experts, weights and all", layer_names, make_layer},
    OpFamily{"group", "quantize_RULES, dequantize_RULES", "integers with a scale and a zero point, and back", affine_names, make_affine},
    OpFamily{"P3109", "Add<F,F,F,(ROUNDING,SATURATION)>", "the operations of IEEE P3109 on numbers", p3109_names, make_p3109},
};

}  // namespace

std::span<const OpFamily> all_op_families() { return kFamilies; }

namespace {

/// Sums with a format of the answer behind them, as "dot_bf16_bf16_to_bf16". Throws Error(usage) where the operation before it is one.
void refuse_other_answers(std::string_view name, std::span<const std::string> known) {
  const std::size_t to = name.find("_to_");
  if (to == std::string_view::npos || !(name.starts_with("dot_") || name.starts_with("product_"))) return;
  const std::string operation(name.substr(0, to));
  if (std::ranges::find(known, operation) == known.end()) return;
  throw Error(ErrorCode::usage,
              operation + " answers in f32, and no dot product or product in another format: leave " + std::string(name.substr(to)) + " out");
}

}  // namespace

std::unique_ptr<VectorOp> op_named(std::string_view name, const OpOptions& options) {
  for (const OpFamily& family : kFamilies) {
    if (std::unique_ptr<VectorOp> op = family.make(name, options)) return op;
  }
  std::vector<std::string> names;
  for (const OpFamily& family : kFamilies) {
    for (std::string& known : family.names()) names.push_back(std::move(known));
  }
  refuse_other_answers(name, names);
  const std::vector<std::string_view> known(names.begin(), names.end());
  std::vector<std::string_view> patterns;
  for (const OpFamily& family : kFamilies) patterns.push_back(family.pattern);
  throw Error(ErrorCode::usage, unknown_name("operation", name, nearest_name(name, known).empty() ? patterns : known));
}

}  // namespace mx::golden
