#include "sim/execute/exchanges.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "model/layout/grains.hpp"
#include "model/moe/weight_facts.hpp"
#include "sim/execute/product.hpp"

namespace mx::sim {
namespace {

using layout::Role;
using layout::Units;
using moe::Coverage;

/// The words for an exchange.
struct ExchangeRow {
  Exchange exchange;
  std::string_view alike;   ///< what is all alike where no pair differs
  std::string_view would;   ///< what would then not show
  std::string_view change;  ///< what was done
  std::string_view lone;    ///< why there is no pair
};
constexpr std::array kRows{
    ExchangeRow{Exchange::experts, "all experts are alike", "an expert read in another's place would not show", "two experts", "there is one expert"},
    ExchangeRow{Exchange::halves, "gate and up are alike", "one read in the other's place would not show", "gate and up", "there is no gate"},
    ExchangeRow{Exchange::rows, "all rows are alike", "a row read in another's place would not show", "two rows", "there is one row"},
    ExchangeRow{Exchange::scales, "all scales are alike", "a scale read in another's place would not show", "two scales",
                "one scale covers the matrix"},
    ExchangeRow{Exchange::neighbours, "all codes of a row are alike", "codes that change places would not show", "two neighbouring codes",
                "a row has one code"},
    ExchangeRow{Exchange::slots, "all experts of a token give the same", "a token's experts in another order would not show",
                "two of a token's experts", "a token has one expert"},
};
const ExchangeRow& row_of(Exchange exchange) { return *std::ranges::find(kRows, exchange, &ExchangeRow::exchange); }

std::string alike_text(std::string_view of, Exchange exchange) {
  const ExchangeRow& row = row_of(exchange);
  return std::string(of) + ": " + std::string(row.alike) + ": " + std::string(row.would);
}
std::string lone_text(std::string_view of, Exchange exchange) {
  const ExchangeRow& row = row_of(exchange);
  return std::string(of) + ": " + std::string(row.change) + ": " + std::string(row.lone);
}
std::string unseen_text(std::string_view of, Exchange exchange) {
  const ExchangeRow& row = row_of(exchange);
  return std::string(of) + ": " + std::string(row.change) + " were exchanged, and every output stayed: " + std::string(row.would);
}

struct MatrixNames {
  Matrix matrix;
  std::string_view name;
  Role weight;
  Role scale;
};
constexpr std::array kMatrices{MatrixNames{Matrix::w13, "w13", Role::w13_weight, Role::w13_weight_scale},
                               MatrixNames{Matrix::w2, "w2", Role::w2_weight, Role::w2_weight_scale}};

/// Shapes of one expert's matrix: [halves, rows, length].
struct Shape {
  std::int64_t experts;
  std::int64_t halves;
  std::int64_t rows;
  std::int64_t length;

  std::int64_t half_size() const { return rows * length; }
};

Shape shape_of(Matrix matrix, const layout::Sizes& sizes, const layout::Form& form) {
  const bool first = matrix == Matrix::w13;
  return {sizes.experts, first && form.gated ? 2 : 1, first ? sizes.intermediate : sizes.hidden, first ? sizes.hidden : sizes.intermediate};
}

/// Runs of `count` units from a and from b hold the same.
bool same_run(const Units& units, std::int64_t a, std::int64_t b, std::int64_t count) {
  if (units.bits % 8 == 0 || (a * units.bits % 8 == 0 && b * units.bits % 8 == 0 && count * units.bits % 8 == 0)) {
    const auto at = [&](std::int64_t unit) { return units.bytes.begin() + unit * units.bits / 8; };
    return std::equal(at(a), at(a + count), at(b));
  }
  for (std::int64_t i = 0; i < count; ++i) {
    if (layout::get_grain(units.bytes, a + i, units.bits) != layout::get_grain(units.bytes, b + i, units.bits)) return false;
  }
  return true;
}

/// `runs` runs of `count` units, one behind the other from `first` on, hold the same.
bool all_same(const Units& units, std::int64_t first, std::int64_t runs, std::int64_t count) {
  return runs < 2 || same_run(units, first, first + count, (runs - 1) * count);
}

/// True of every half of every expert.
bool in_every_half(const Shape& shape, const std::function<bool(std::int64_t half)>& holds) {
  for (std::int64_t half = 0; half < shape.experts * shape.halves; ++half) {
    if (!holds(half)) return false;
  }
  return true;
}

/// Scales of a half that can change places: of groups, squares or rows. 1: one covers it.
std::int64_t scales_in_half(const moe::WeightFacts& facts, const Shape& shape, std::int64_t group) {
  if (facts.coverage == Coverage::expert) return 1;
  const moe::RowScales last =
      moe::scales_of_row(facts, {.expert = 0, .halves = 1, .half = 0, .rows = shape.rows, .row = shape.rows - 1, .length = shape.length}, group);
  return last.first + last.count;
}

/// Collects what the data answer.
class DataQuestions {
 public:
  DataQuestions(const layout::Sizes& sizes, const layout::Form& form, const layout::LayerUnits& units) : sizes_(sizes), form_(form), units_(units) {}

  Exchanges ask() {
    for (const MatrixNames& matrix : kMatrices) ask(matrix);
    return std::move(found_);
  }

 private:
  void ask(const MatrixNames& matrix) {
    const Shape shape = shape_of(matrix.matrix, sizes_, form_);
    const Units& weight = units_[static_cast<std::size_t>(matrix.weight)];
    const std::int64_t half = shape.half_size();
    const std::string_view name = layout::name_of(matrix.weight);
    note(name, Exchange::experts, shape.experts, [&] { return all_same(weight, 0, shape.experts, shape.halves * half); });
    if (matrix.matrix == Matrix::w13) {
      note(name, Exchange::halves, shape.halves, [&] {
        for (std::int64_t expert = 0; expert < shape.experts; ++expert) {
          if (!all_same(weight, expert * 2 * half, 2, half)) return false;
        }
        return true;
      });
    }
    note(name, Exchange::rows, shape.rows,
         [&] { return in_every_half(shape, [&](std::int64_t at) { return all_same(weight, at * half, shape.rows, shape.length); }); });
    note(name, Exchange::neighbours, shape.length, [&] {
      return in_every_half(shape, [&](std::int64_t at) {
        for (std::int64_t row = 0; row < shape.rows; ++row) {
          if (!all_same(weight, at * half + row * shape.length, shape.length, 1)) return false;
        }
        return true;
      });
    });
    const std::int64_t scales = scales_in_half(moe::weight_facts(form_.format), shape, sizes_.group);
    const Units& scale = units_[static_cast<std::size_t>(matrix.scale)];
    note(layout::name_of(matrix.scale), Exchange::scales, scales,
         [&] { return in_every_half(shape, [&](std::int64_t at) { return all_same(scale, at * scales, scales, 1); }); });
  }

  void note(std::string_view name, Exchange exchange, std::int64_t count, const std::function<bool()>& is_alike) {
    if (count < 2) {
      found_.not_asked.push_back(lone_text(name, exchange));
    } else if (is_alike()) {
      found_.blind.push_back(alike_text(name, exchange));
    }
  }

  const layout::Sizes& sizes_;
  const layout::Form& form_;
  const layout::LayerUnits& units_;
  Exchanges found_;
};

/// One slot's product over weights, a row at a time.
class SlotProduct {
 public:
  SlotProduct(const Execution& execution, const Weights& weights, Matrix matrix, const Activations& input, std::int64_t row,
              const std::vector<std::int64_t>& experts)
      : rounds_(matrix == Matrix::w13 && execution.row->rounds_h13),
        rows_of_(experts.size(), row),
        product_(execution, weights, matrix, input, read_as(execution, matrix, input), grouped(experts), rows_of_, std::nullopt) {}

  std::uint32_t at(std::int64_t expert, std::int64_t half, std::int64_t n) const {
    std::array<std::uint32_t, 1> out{};
    product_.row(expert, half, n, out);
    return rounds_ ? to_bf16(out[0]) : out[0];
  }

 private:
  static families::ScaleMemory read_as(const Execution& execution, Matrix matrix, const Activations& input) {
    if (matrix == Matrix::w2) return families::ScaleMemory::row_major;
    return execution.row->by == families::QuantizedBy::kernel ? input.memory : execution.row->scales;
  }
  static ByExpert grouped(const std::vector<std::int64_t>& experts) {
    ByExpert groups;
    for (std::size_t i = 0; i < experts.size(); ++i) groups[experts[i]] = {i};
    return groups;
  }

  bool rounds_;
  std::vector<std::int64_t> rows_of_;
  Product product_;
};

/// Few enough to cost little, and more than rounding hides.
constexpr std::size_t kRowsTried = 16, kSlotsTried = 4;
constexpr std::int64_t kExpertsTried = 4;

/// Asks one matrix under one slot.
class MatrixQuestions {
 public:
  MatrixQuestions(const Executed& executed, const MatrixNames& matrix, const Activations& input, std::int64_t row, std::int64_t expert)
      : executed_(executed), matrix_(matrix), input_(input), row_(row), expert_(expert) {
    const std::vector<std::int64_t>& computed = matrix.matrix == Matrix::w13 ? *executed.outputs.rows : *executed.outputs.columns;
    const std::size_t count = std::min(kRowsTried, computed.size());
    for (std::size_t i = 0; i < count; ++i) rows_.push_back(computed[i * computed.size() / count]);
    for (const std::int64_t n : rows_) gate_.push_back(product({expert_}).at(expert_, 0, n));
  }

  bool sees(Exchange exchange) const {
    switch (exchange) {
      case Exchange::experts: return sees_experts();
      case Exchange::halves: return sees_halves();
      case Exchange::rows: return sees_rows();
      case Exchange::scales: return sees_changes([&](std::int64_t n) { return differing_scales(n); }, matrix_.scale);
      case Exchange::neighbours: return sees_changes([&](std::int64_t n) { return differing_codes(n); }, matrix_.weight);
      case Exchange::slots: break;
    }
    return true;
  }

 private:
  using Pair = std::pair<std::int64_t, std::int64_t>;

  SlotProduct product(const std::vector<std::int64_t>& experts) const {
    return {executed_.execution, executed_.weights, matrix_.matrix, input_, row_, experts};
  }

  bool sees_experts() const {
    const std::int64_t all = executed_.weights.sizes().experts;
    for (std::int64_t step = 1; step < std::min(all, kExpertsTried + 1); ++step) {
      const std::int64_t other = (expert_ + step) % all;
      const SlotProduct products = product({other});
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        if (products.at(other, 0, rows_[i]) != gate_[i]) return true;
      }
    }
    return false;
  }

  /// Another row's product differs; of a sample of one row, that of a row beside it.
  bool sees_rows() const {
    if (std::ranges::any_of(gate_, [&](std::uint32_t value) { return value != gate_.front(); })) return true;
    const SlotProduct products = product({expert_});
    const std::int64_t all = rows_.empty() ? 0 : shape().rows;
    for (std::int64_t step = 1; step < std::min<std::int64_t>(all, kRowsTried); ++step) {
      if (products.at(expert_, 0, (rows_.front() + step) % all) != gate_.front()) return true;
    }
    return false;
  }

  bool sees_halves() const {
    const SlotProduct products = product({expert_});
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (products.at(expert_, 1, rows_[i]) != gate_[i]) return true;
    }
    return false;
  }

  /// Two units of the expert's tensor change places, row by row until one shows.
  bool sees_changes(const std::function<std::optional<Pair>(std::int64_t n)>& pair_of, Role role) const {
    const auto [weights, units] = executed_.weights.alone(expert_);
    const SlotProduct products(executed_.execution, weights, matrix_.matrix, input_, row_, {0});
    Units& tensor = (*units)[static_cast<std::size_t>(role)];
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::optional<Pair> pair = pair_of(rows_[i]);
      if (!pair) continue;
      exchange(tensor, *pair);
      const std::uint32_t after = products.at(0, 0, rows_[i]);
      exchange(tensor, *pair);
      if (after != gate_[i]) return true;
    }
    return false;
  }

  static void exchange(Units& units, const Pair& pair) {
    const std::uint64_t a = layout::get_grain(units.bytes, pair.first, units.bits), b = layout::get_grain(units.bytes, pair.second, units.bits);
    layout::set_grain(units.bytes, pair.first, units.bits, b);
    layout::set_grain(units.bytes, pair.second, units.bits, a);
  }

  Shape shape() const { return shape_of(matrix_.matrix, executed_.weights.sizes(), executed_.weights.form()); }

  /// Places in the tensor of the expert alone.
  std::optional<Pair> differing_codes(std::int64_t n) const {
    const Units& units = executed_.weights.codes_of(matrix_.matrix);
    const Shape of = shape();
    const std::int64_t own = n * of.length, all = expert_ * of.halves * of.half_size() + own;
    for (std::int64_t k = 0; k + 1 < of.length; ++k) {
      if (!same_run(units, all + k, all + k + 1, 1)) return Pair{own + k, own + k + 1};
    }
    return std::nullopt;
  }

  std::optional<Pair> differing_scales(std::int64_t n) const {
    const Units& units = executed_.weights.scales_of(matrix_.matrix);
    const moe::WeightFacts& facts = moe::weight_facts(executed_.weights.form().format);
    const Shape of = shape();
    const std::int64_t group = executed_.weights.sizes().group, count = scales_in_half(facts, of, group), first = expert_ * of.halves * count;
    const std::int64_t own =
        moe::scales_of_row(facts, {.expert = 0, .halves = of.halves, .half = 0, .rows = of.rows, .row = n, .length = of.length}, group).first;
    for (std::int64_t i = 1; i < count; ++i) {
      const std::int64_t other = (own + i) % count;
      if (!same_run(units, first + own, first + other, 1)) return Pair{own, other};
    }
    return std::nullopt;
  }

  const Executed& executed_;
  const MatrixNames& matrix_;
  const Activations& input_;
  std::int64_t row_;
  std::int64_t expert_;
  std::vector<std::int64_t> rows_;
  std::vector<std::uint32_t> gate_;  ///< of those rows, before any exchange
};

/// Slots whose second products differ from those of another slot of their token.
bool sees_slots(const Executed& executed) {
  for (std::size_t i = 0; i + 1 < executed.slots.size(); ++i) {
    if (executed.slots[i].row == executed.slots[i + 1].row &&
        (executed.stages[i].down != executed.stages[i + 1].down || executed.stages[i].factor != executed.stages[i + 1].factor))
      return true;
  }
  return false;
}

/// The questions that a matrix is asked.
std::vector<Exchange> questions_of(const MatrixNames& matrix, const Weights& weights) {
  const Shape shape = shape_of(matrix.matrix, weights.sizes(), weights.form());
  std::vector<Exchange> questions;
  if (shape.experts > 1) questions.push_back(Exchange::experts);
  if (shape.halves > 1) questions.push_back(Exchange::halves);
  if (shape.rows > 1) questions.push_back(Exchange::rows);
  if (scales_in_half(moe::weight_facts(weights.form().format), shape, weights.sizes().group) > 1) questions.push_back(Exchange::scales);
  if (shape.length > 1) questions.push_back(Exchange::neighbours);
  return questions;
}

}  // namespace

Exchanges exchanged_data(const layout::Sizes& sizes, const layout::Form& form, const layout::LayerUnits& units) {
  return DataQuestions(sizes, form, units).ask();
}

std::vector<std::string> unseen_exchanges(const Executed& asked) {
  // A slot alone has another launch than among others: what is asked does not depend on how k is shared.
  Execution whole = asked.execution;
  if (whole.launch) whole.launch->products = {};
  const Executed executed{whole, asked.weights, asked.input, asked.slots, asked.outputs, asked.stages};
  std::vector<std::string> unseen;
  for (const MatrixNames& matrix : kMatrices) {
    std::vector<Exchange> left = questions_of(matrix, executed.weights);
    for (std::size_t at = 0; at < std::min(kSlotsTried, executed.slots.size()) && !left.empty(); ++at) {
      const SlotWork& slot = executed.slots[at];
      const bool first = matrix.matrix == Matrix::w13;
      std::optional<Activations> second;
      if (!first) {
        second = second_input(executed.execution, executed.weights.sizes().intermediate, std::span(executed.stages).subspan(at, 1));
      }
      const MatrixQuestions questions(executed, matrix, first ? executed.input : *second, first ? slot.row : 0, slot.expert);
      std::erase_if(left, [&](Exchange exchange) { return questions.sees(exchange); });
    }
    for (const Exchange exchange : left) unseen.push_back(unseen_text(matrix.name, exchange));
  }
  const auto same_token = [](const SlotWork& a, const SlotWork& b) { return a.row == b.row; };
  const bool has_pair = std::ranges::adjacent_find(executed.slots, same_token) != executed.slots.end();
  if (has_pair && !sees_slots(executed)) unseen.push_back(alike_text("routing", Exchange::slots));
  return unseen;
}

}  // namespace mx::sim
