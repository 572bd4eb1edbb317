#pragma once
// One of the two products of a layer, over all slots of a rank.

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "sim/execute/activations.hpp"
#include "sim/execute/kernel.hpp"
#include "sim/execute/shared_product.hpp"
#include "sim/execute/sums.hpp"

namespace mx::sim {

/// Slots of one expert: positions in the list of all.
using ByExpert = std::map<std::int64_t, std::vector<std::size_t>>;

/// Whether panels multiply the format's weights under the contract, on every machine.
bool has_panels(Contract contract, layout::WeightFormat format);

class Product {
 public:
  /// `row_of` has the row of `input` of each slot; `wanted` are the rows of a half that row() may be asked for, none
  /// where it may be any, then each is read when it is asked for: tiles and panels are computed here. All must outlive this.
  Product(const Execution& execution, const Weights& weights, Matrix matrix, const Activations& input, families::ScaleMemory read_as,
          const ByExpert& groups, std::span<const std::int64_t> row_of, std::optional<std::span<const std::int64_t>> wanted);

  /// Results of one row of an expert's matrix for each slot of the expert, scales and bias applied. Threads may call it at the same time.
  /// `possible`, where it is not null, as many: values that may come in the place of each, where they are several.
  void row(std::int64_t expert, std::int64_t half, std::int64_t n, std::span<std::uint32_t> out, Possible* possible = nullptr) const;
  /// Whether some sum may have no fixed order.
  bool may_vary() const { return shared_ && shared_->sums().possible != nullptr; }

  /// fp32 bits of what multiplies the routing weight of the expert's slots, because row() leaves it out.
  std::uint32_t weight_factor(std::int64_t expert) const;

 private:
  bool leaves_out_global() const { return matrix_ == Matrix::w2 && execution_.launched().global_meets_weight; }
  /// Of one expert.
  struct Group {
    std::optional<Inputs> inputs;       ///< where panels did not
    std::vector<std::size_t> rows;      ///< of the activations
    std::vector<float> sums;            ///< of tiles and panels: [slot][half][place in `wanted`], or [row of the matrix] where all are
    std::vector<std::uint32_t> totals;  ///< of tiles: [half][place in `wanted`] fp32 bits of the scales of whole rows
  };
  void run_panels();
  void run_tiles(families::ScaleMemory read_as);
  void prepare_rows(families::ScaleMemory read_as, std::int64_t length);
  void share_rows(families::ScaleMemory read_as);
  /// Number of a row among those of both halves, as the kernel has them.
  std::int64_t column_of(std::int64_t half, std::int64_t n) const;
  /// Zeros behind a row that is shorter than the kernel's size.
  PreparedOperand widened(PreparedOperand operand, std::int64_t length) const;

  const Execution& execution_;
  const families::ExecutionRow& row_;
  const ContractRow& contract_;
  const Weights& weights_;
  Matrix matrix_;
  const Activations& input_;
  RowSums sums_;
  std::vector<Factors> factors_;
  std::map<std::int64_t, Group> groups_;
  std::span<const std::int64_t> wanted_;
  std::optional<SharedProduct> shared_;           ///< where warps and blocks share k
  std::map<std::int64_t, std::size_t> place_of_;  ///< of a row in `wanted`, where these alone were computed
};

}  // namespace mx::sim
