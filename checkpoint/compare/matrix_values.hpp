#pragma once
// The numbers of one matrix of an expert, whatever form it lies in: exact, row by row.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/code_kind.hpp"
#include "checkpoint/compare/scaled_codes.hpp"
#include "checkpoint/expert_tensors.hpp"

namespace mx::checkpoint {

/// Which matrix of an expert.
enum class MatrixKind : std::uint8_t { gate, up, down };
std::string_view name_of(MatrixKind kind);

/// Whether a dtype holds numbers as they are.
bool is_plain(std::string_view dtype);

/// Significant bits of a dtype that holds numbers as they are, of BF16 8 and of F16 11; 0 for codes and F32.
int plain_bits(std::string_view dtype);

/// Number `index` of a tensor of a plain dtype, of e4m3 or of exponent bytes.
double plain_number(std::span<const std::uint8_t> bytes, std::size_t index, std::string_view dtype);
/// The first out.size() of them.
void plain_numbers(std::span<const std::uint8_t> bytes, std::string_view dtype, std::span<double> out);

/// A matrix of N output features and K inputs. Its numbers are products of a code, its scale and the factor that a global scale stands for: at most
/// 30 significant bits, so that a double holds each exactly. The layer group outlives the matrix.
class MatrixValues {
 public:
  /// Throws Error(input) when the files changed.
  MatrixValues(const FoundGroup& layer_group, const FoundLayer& layer, int expert, MatrixKind kind);

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  /// "model.layers.0.mlp.experts.3.gate_proj.weight"; of a tensor of all experts with the expert and the half.
  std::string name() const;
  /// The factor of a global scale or of one scale for the whole matrix; 1 where there is none.
  double global() const { return global_; }
  const CodeKindRow& codes() const;
  /// Of its codes.
  std::string_view dtype() const { return weight_.tensor->at->view->dtype->name; }
  /// Rows from `first` on: out.size() / columns() of them.
  void read(std::int64_t first, std::span<double> out);

  /// The same rows as their codes are, row by row: two codes of 4 bits a byte, the even column's low; one of 6 bits a byte; else
  /// the bytes of the dtype.
  std::vector<std::uint8_t> code_rows(std::int64_t first, std::int64_t count);
  /// Bytes of the scales that count for these rows, a row of them for each row or for each 128; none where a number counts for all.
  std::vector<std::uint8_t> scale_rows(std::int64_t first, std::int64_t count);
  /// Its codes and scales apart, which this outlives; none where it lies input-major, or holds its numbers as they are.
  std::optional<ScaledCodes> scaled_codes();
  /// Rows and columns that a scale counts for; 0 and 0: all, or there is none.
  struct Cover {
    std::int64_t rows;
    std::int64_t columns;
  };
  Cover cover() const;
  /// Empty where a number counts for all.
  std::string_view scale_dtype() const { return scale_.tensor == nullptr ? std::string_view() : scale_.tensor->at->view->dtype->name; }
  /// The one number of the matrix as it is stored: a global scale, or the scale of a tensor.
  struct Number {
    double stored;
    Meaning meaning;
  };
  const std::optional<Number>& number() const { return number_; }

 private:
  /// A tensor and where the matrix begins in it.
  struct Part {
    const FoundTensor* tensor = nullptr;
    std::vector<std::uint8_t> held = {};  ///< of input-major forms: of every input, or group of them, some units of the axis of outputs
    std::int64_t held_first = 0;          ///< these
    std::int64_t held_count = 0;
  };
  std::int64_t row_before() const;
  std::uint64_t row_in_file(std::int64_t row) const;
  std::vector<std::uint8_t> rows_of(const Part& part, std::int64_t first, std::int64_t count, std::uint64_t row_bytes) const;
  /// Of an input-major tensor whose axis of outputs has `across` units: sees to it that these are held.
  void hold(Part& part, std::int64_t first, std::int64_t count, std::int64_t across) const;
  /// Bytes of a row of codes.
  std::uint64_t row_bytes() const;
  /// Of an input-major tensor: its units from `first` on the axis of outputs, output by output.
  std::vector<std::uint8_t> turned(Part& part, std::int64_t first, std::int64_t count, std::int64_t across) const;
  void read_codes(std::int64_t first, std::span<double> out);
  void scale(std::int64_t first, std::span<double> out);

  const FoundGroup& layer_group_;
  int expert_;
  MatrixKind kind_;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  std::int64_t rows_in_file_ = 0;  ///< of one expert: 2I where gate and up share a tensor
  std::int64_t group_ = 1;
  Part weight_;
  Part scale_;
  double global_ = 1;
  std::optional<Number> number_;
};

}  // namespace mx::checkpoint
