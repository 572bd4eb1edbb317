#pragma once
// A packed tensor as its kernel is handed it: dtype, shape and strides of the tensor that the engine's converter returns. The memory is that of the
// backend's layout, address by address.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/families/memory.hpp"

namespace mx::families {

struct KernelForm {
  std::string_view dtype;             ///< as torch names it: "int32", "uint8", "float8_e4m3fn", "bfloat16"
  std::vector<std::int64_t> shape;    ///< slowest first, where nothing is transposed
  std::vector<std::int64_t> strides;  ///< in elements, one for each axis
  std::string_view source;            ///< repository, file and symbol that says it

  friend bool operator==(const KernelForm&, const KernelForm&) = default;
};

/// Rows and columns of an expert's matrix in memory, padding included; a column is an element or a scale. Padding behind a stack of experts makes it
/// one.
struct MatrixExtents {
  std::int64_t experts;
  std::int64_t rows;
  std::int64_t columns;
  bool rows_fastest;  ///< neighbouring addresses hold neighbouring rows: memory is transposed
};

/// The extents of a tensor's memory; none where a step pads or cuts an axis that mixes rows and columns.
std::optional<MatrixExtents> extents_in_memory(const layout::Layout& layout);

/// What a shape is made of.
struct FormParts {
  MatrixExtents memory;
  std::int64_t rows;     ///< without padding
  std::int64_t columns;  ///< likewise
  std::int64_t unit;     ///< columns of one element of the dtype, where several lie in it
  int bits;              ///< of a column
};

struct FormShape {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides = {};  ///< empty: one axis behind the other
};

/// [E, rows, columns / unit].
FormShape form_by_rows(const FormParts& parts);
/// The same as a view of memory whose rows are the fastest: without their padding, which the strides keep.
FormShape form_of_lines(const FormParts& parts);
/// [E, columns / unit, rows], the view of a matrix whose columns are the fastest, or memory where rows are.
FormShape form_by_columns(const FormParts& parts);
/// Tiles of 16 columns in words of 32 bits, as Marlin's kernels read them: [E, columns / 16, 16 * rows * bits / 32].
FormShape form_of_tiles(const FormParts& parts);
/// [E, columns, rows], one behind the other whatever lies where.
FormShape form_of_scales(const FormParts& parts);
/// [E].
FormShape form_of_numbers(const FormParts& parts);
/// [E, a, b] whose axis a is the fastest.
FormShape form_transposed(std::int64_t experts, std::int64_t a, std::int64_t b);

/// What a tensor is.
enum class FormPart : std::uint8_t { weight, scale, global, bias };

/// Dtypes that a row leaves to the setting: the parameters' (bfloat16 or float16); a word that holds one fp32 scale or four bytes of scales.
inline constexpr std::string_view kParamsDtype = "params", kScaleWord = "scale word";

/// Tensors of a family that are not as they were loaded; the first that fits. Fields that are empty fit any.
struct KernelFormRow {
  std::string_view backend;
  std::optional<layout::WeightFormat> format;
  FormPart part;
  bool (*when)(const Setting& setting);        ///< null: always
  std::string_view dtype;                      ///< empty: that of the checkpoint's tensor
  FormShape (*shape)(const FormParts& parts);  ///< null: no source says it
  std::string_view source;
};

/// The form of one tensor of a backend for a setting that breaks no need; none where no source says it.
std::optional<KernelForm> kernel_form(const BackendLayout& row, layout::Role role, const Setting& setting);

}  // namespace mx::families
