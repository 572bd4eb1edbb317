#pragma once
// A layer's expert matrices as a kernel reads them, row by row: elements, block scales, and the scale of the whole row.

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "model/families/arithmetic.hpp"
#include "model/families/convert.hpp"
#include "model/layout/packed.hpp"
#include "model/numerics/dot.hpp"

namespace mx::sim {

/// The two products of an expert.
enum class Matrix : std::uint8_t { w13, w2 };

/// One row (an output feature) of one expert's matrix.
struct WeightRow {
  std::vector<Value> elements;  ///< [K]
  const Format* format;         ///< of the elements
  std::vector<Value> scales;    ///< one for each `block` elements; empty: none
  int block;
  std::uint32_t total;  ///< fp32 bits of the scale of the whole row

  const Format* scale_format = nullptr;  ///< of the scales, where they are codes of one

  Operand operand() const { return {elements, format, scales, block, scale_format}; }
};

/// The same as codes of at most 8 bits.
struct CodedRow {
  std::vector<std::uint8_t> codes;           ///< [K]
  std::vector<std::uint8_t> scales;          ///< one for each group; empty: none
  std::vector<std::uint32_t> square_scales;  ///< fp32 bits, one for each `square` elements, of scales that neighbouring rows share; empty: none
  std::int64_t square = 0;
  std::uint32_t total;
};

/// A checkpoint's tensors in logical order, as several readers share them. Absent ones stay absent.
using SharedUnits = std::shared_ptr<const layout::LayerUnits>;
SharedUnits logical_units(const layout::CanonicalLayer& layer);

/// Weights in logical order, whichever memory they were read from.
class Weights {
 public:
  /// The checkpoint's own form; `fnuz`: of the e4m3fnuz codes that the engine's method makes of it. Throws Error(usage) when a weight or scale is
  /// missing or of another size.
  static Weights of_checkpoint(const layout::CanonicalLayer& layer, const families::ExecutionRow& row, bool fnuz = false);
  /// The same from logical_units() of a layer of these sizes and form.
  static Weights of_checkpoint(const layout::Sizes& sizes, const layout::Form& form, SharedUnits units, const families::ExecutionRow& row,
                               bool fnuz = false);
  /// A backend's packed tensors, read where the kernel looks for them: at its padded sizes, and in the row order that its activation expects. Throws
  /// Error(usage) when a tensor is missing, is of another size than the kernel's layout or holds what no conversion makes.
  static Weights of_packed(const families::PackedLayer& packed, const families::ExecutionRow& row, layout::SourceOrder order);

  const layout::Sizes& sizes() const { return sizes_; }
  std::int64_t halves(Matrix matrix) const { return matrix == Matrix::w13 && form_.gated ? 2 : 1; }
  std::int64_t rows(Matrix matrix) const { return matrix == Matrix::w13 ? sizes_.intermediate : sizes_.hidden; }
  std::int64_t length(Matrix matrix) const { return matrix == Matrix::w13 ? sizes_.hidden : sizes_.intermediate; }
  /// `half` 0 is gate, 1 is up; 0 for w2. `n` counts that half's rows.
  WeightRow row(Matrix matrix, std::int64_t expert, std::int64_t half, std::int64_t n) const;

  /// One expert's as expert 0, and the units that they are read from: what is changed there is read.
  std::pair<Weights, std::shared_ptr<layout::LayerUnits>> alone(std::int64_t expert) const;

  const layout::Form& form() const { return form_; }
  const Format& element_format() const;
  /// Of the scales in a coded row; null: they have none.
  const Format* scale_format() const;
  /// Whether rows are codes and scales as they are in the tensors: no scale is changed before it meets the elements, no element is chosen by one.
  bool is_coded() const;
  /// The same where groups of neighbouring rows share fp32 scales.
  bool is_coded_in_squares() const;
  /// Overwrites `into`. Throws Error(usage) unless is_coded() or is_coded_in_squares().
  void read_coded(Matrix matrix, std::int64_t expert, std::int64_t half, std::int64_t n, CodedRow& into) const;
  /// A matrix's tensors in logical order, [E, half, N, K] codes.
  const layout::Units& codes_of(Matrix matrix) const;
  const layout::Units& scales_of(Matrix matrix) const;
  /// fp32 bits of an expert's scale of a matrix, where such a format's meets the sum behind it; 1 elsewhere.
  std::uint32_t global_scale(Matrix matrix, std::int64_t expert) const;
  bool has_bias() const { return !units_of(layout::Role::w13_bias).absent() || !units_of(layout::Role::w2_bias).absent(); }
  /// fp32 bits; 0 without biases.
  std::uint32_t bias(Matrix matrix, std::int64_t expert, std::int64_t half, std::int64_t n) const;

 private:
  Weights(const layout::Sizes& sizes, const layout::Form& form, const families::ExecutionRow& row, bool fnuz)
      : sizes_(sizes), form_(form), row_(&row), fnuz_(fnuz) {}
  const layout::Units& units_of(layout::Role role) const { return (*units_)[static_cast<std::size_t>(role)]; }
  std::uint64_t unit(layout::Role role, std::int64_t index) const;
  void require_weights() const;
  /// Number of a row among all of its matrix.
  std::int64_t index_of(Matrix matrix, std::int64_t expert, std::int64_t half, std::int64_t n) const {
    return (expert * halves(matrix) + half) * rows(matrix) + n;
  }
  void fold_global_scales(Matrix matrix, std::int64_t expert, WeightRow& into) const;

  layout::Sizes sizes_;
  layout::Form form_;
  const families::ExecutionRow* row_;
  bool fnuz_;  ///< elements are e4m3fnuz
  SharedUnits units_;
};

}  // namespace mx::sim
