#pragma once
// Words of recorded matrix products: how they are accumulated, where scales lie and enter, how codes lie. Forms: FORMAT.md, FORMAT-3.md,
// FORMAT-STAGES.md.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "golden/witness/numbers.hpp"
#include "model/numerics/dot.hpp"

namespace mx::golden {

/// Where scales lie and enter.
struct ScalingWord {
  std::string_view word;
  bool from_params;  ///< two numbers among the parameters
  bool from_inputs;  ///< inputs `scale_a` and `scale_b`
  ScaleEntry entry;
  std::int64_t k;       ///< k that share a scale; 0: all
  std::int64_t a_rows;  ///< rows of a that share a scale
  std::int64_t b_rows;  ///< rows of b that share a scale
  bool in_elements;     ///< each code times its scale is rounded to `upcast` before the product
};

/// How numbers lie among those of a launch, of which rows and columns are recorded.
struct Launch {
  std::int64_t m = 0, n = 0;  ///< 0: not said
};

/// What the parameters of one product say.
struct Product {
  ContractRow row;
  std::string accum;
  const Format* a_format;
  const Format* b_format;
  const Format* out_format;
  std::int64_t m, n, k;
  bool b_is_nk;
  bool packed = false;  ///< e2m1 codes lie two to a byte, the low nibble first
  Launch launch = {};
};

/// `a_format`, `b_format`, `out_format`, `M`, `N`, `K`, `b_layout`, `accum`; of `gemm` `packing`, `launch_m`, `launch_n` too. Throws Unmodelled.
Product read_product(Fields& params, std::string_view op);

/// The row of `scaling`. Throws Unmodelled.
const ScalingWord& scaling_word(Fields& params);

/// Scales of one operand: `along` for each of its scaled rows, each for `block` elements.
struct Scales {
  std::vector<Value> values;
  std::size_t along = 0;
  std::int64_t block = 0;
  std::int64_t rows = 1;  ///< rows of the operand that share theirs; 0: all

  std::span<const Value> of_row(std::int64_t row) const {
    return std::span(values).subspan(rows == 0 ? 0 : static_cast<std::size_t>(row / rows) * along, along);
  }
};

/// The scales of side a or b as the word says; none where they are in the elements. Throws Error(input) for another shape.
Scales read_scales(const OpContext& context, Fields& params, const ScalingWord& scaling, const Product& product, Side side);

/// The scales that chains of that length meet.
Scales of_chains(Scales scales, int chain);
/// Chains meet the scales of their first block: they are parts of one, or several whole ones.
bool ends_at_scales(int chain, std::int64_t block);

/// A matrix inside a tensor, to be read along k.
struct Matrix {
  const Tensor& tensor;
  const Format& format;
  std::int64_t first;
  std::int64_t rows, k;
  std::int64_t row_step, k_step;
  bool packed = false;

  std::uint32_t code(std::int64_t row, std::int64_t k_index) const;
};

/// Shape and dtype of side a or b of one tile.
std::vector<std::int64_t> operand_shape(const Product& product, Side side);
std::string_view code_dtype_of(const Format& format);
/// That side of tile number `tile`.
Matrix operand_matrix(const Product& product, const Tensor& tensor, Side side, std::int64_t tile);

/// Output `d` of that shape from fp32 results, each rounded once to `out_format`.
ModelOutputs outputs_of(const Product& product, std::vector<std::int64_t> shape, const std::vector<std::uint32_t>& results);

}  // namespace mx::golden
