#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "kernels/dot/row_set.hpp"
#include "model/fault.hpp"
#include "model/numerics/f32.hpp"
#include "sim/execute/stage_checks.hpp"
#include "sim/layer/contract_runs.hpp"
#include "support/rescue.hpp"

namespace mx::sim {
namespace {

namespace quick = kernels::dot;
using Words = std::vector<std::uint32_t>;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

int step_of(LayerStage stage) { return row_of(stage).step; }

/// Rows of slots that have no expert stay zeros.
class ByRows {
 public:
  ByRows(const ContractExperts& experts, const LayerTokens& tokens, std::span<const StageValues> forms)
      : experts_(experts), tokens_(tokens), forms_(forms), contract_(row_of(experts.choices.contract)) {
    for (std::size_t slot = 0; slot < tokens.ids.size(); ++slot) {
      if (tokens.ids[slot] >= 0) of_expert_[tokens.ids[slot]].push_back(slot);
    }
  }

  void start(std::span<const StageValues> from) {
    for (const StageValues& given : from) {
      words_[static_cast<std::size_t>(given.stage)] = given.stage == LayerStage::h13 ? halves_of(given, experts_.gated) : given.words;
    }
  }

  void advance(int step) {
    if (step == step_of(LayerStage::a1_codes)) return quantize(LayerStage::a1_codes, LayerStage::a1_scales, x_f32(), experts_.sizes.hidden);
    if (step == step_of(LayerStage::h13)) return multiply(Matrix::w13);
    if (step == step_of(LayerStage::act)) return activate();
    if (step == step_of(LayerStage::act_codes))
      return quantize(LayerStage::act_codes, LayerStage::act_scales, of(LayerStage::act), experts_.sizes.intermediate);
    step == step_of(LayerStage::y) ? multiply(Matrix::w2) : sum();
  }

  StageValues values(LayerStage stage) const {
    StageValues made = form_of(forms_, stage, {}, {});
    made.words = of(stage);
    return made;
  }

 private:
  const Words& of(LayerStage stage) const { return words_[static_cast<std::size_t>(stage)]; }
  Words& of(LayerStage stage) { return words_[static_cast<std::size_t>(stage)]; }
  const Recipe* recipe() const { return experts_.choices.recipe; }
  std::size_t length(Matrix matrix) const { return at(matrix == Matrix::w13 ? experts_.sizes.hidden : experts_.sizes.intermediate); }

  Words x_f32() const {
    Words all;
    for (const std::uint32_t code : tokens_.x) all.push_back(code << 16U);
    return all;
  }

  void quantize(LayerStage codes, LayerStage scales, const Words& all, std::int64_t columns) {
    if (recipe() == nullptr) return;
    const std::size_t width = at(columns);
    const auto rows = static_cast<std::int64_t>(all.size() / width);
    std::vector<moe::QuantizedRow> made(at(rows));
    support::Rescue rescue;
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < rows; ++row) {
      rescue.run([&] { made[at(row)] = moe::quantized_row(*recipe(), std::span(all).subspan(at(row) * width, width)); });
    }
    rescue.rethrow();
    for (std::size_t row = 0; row < made.size(); ++row) {
      // Nothing is quantized of a slot without an expert.
      const bool is_held = codes == LayerStage::a1_codes || tokens_.ids[row] >= 0;
      for (Words* const one : {&made[row].codes, &made[row].scales}) {
        Words& to = of(one == &made[row].codes ? codes : scales);
        is_held ? to.insert(to.end(), one->begin(), one->end()) : to.insert(to.end(), one->size(), 0);
      }
    }
  }

  /// Row `index` of what enters a product.
  moe::ScaledRow entering(Matrix matrix, std::size_t index) const {
    const bool is_first = matrix == Matrix::w13;
    const std::size_t width = length(matrix);
    if (recipe() == nullptr) {
      if (!is_first) return moe::entering(std::span(of(LayerStage::act)).subspan(index * width, width));
      Words row;
      for (std::size_t k = 0; k < width; ++k) row.push_back(tokens_.x[index * width + k] << 16U);
      return moe::entering(row);
    }
    const Words& codes = of(is_first ? LayerStage::a1_codes : LayerStage::act_codes);
    const Words& scales = of(is_first ? LayerStage::a1_scales : LayerStage::act_scales);
    const std::size_t blocks = scales.size() * width / codes.size();
    const auto part = [index](const Words& all, std::size_t count) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(index * count);
      return Words(first, first + static_cast<std::ptrdiff_t>(count));
    };
    return moe::entering(*recipe(), {part(codes, width), part(scales, blocks)});
  }

  struct Group {
    std::vector<PreparedOperand> operands;
    std::vector<quick::Row> quick_rows;
    std::optional<quick::RowSet> set;
  };

  /// The rows that meet an expert's matrix.
  void fill(Group& group, Matrix matrix, const std::vector<std::size_t>& slots) const {
    for (const std::size_t slot : slots) {
      const moe::ScaledRow row = entering(matrix, matrix == Matrix::w13 ? slot / at(tokens_.top_k) : slot);
      group.operands.push_back(prepare(contract_, Side::a, row.operand()));
    }
    if (!is_quick()) return;
    for (const PreparedOperand& operand : group.operands) group.quick_rows.push_back(quick::quick_row(contract_, operand));
    std::vector<const quick::Row*> rows;
    for (const quick::Row& row : group.quick_rows) rows.push_back(&row);
    group.set.emplace(contract_, std::move(rows));
  }

  bool is_quick() const { return experts_.sums == SumsBy::twins && quick::takes(contract_); }

  void multiply(Matrix matrix) {
    const std::int64_t halves = matrix == Matrix::w13 && experts_.gated ? 2 : 1;
    const std::int64_t rows = matrix == Matrix::w13 ? experts_.sizes.intermediate : experts_.sizes.hidden;
    const std::int64_t width = halves * rows;
    Words& to = of(matrix == Matrix::w13 ? LayerStage::h13 : LayerStage::y);
    to.assign(tokens_.ids.size() * at(width), 0);
    for (const auto& of_expert : of_expert_) {
      const auto expert = of_expert.first;
      const auto& slots = of_expert.second;
      Group group;
      fill(group, matrix, slots);
      support::Rescue rescue;
#pragma omp parallel for schedule(dynamic, 8)
      for (std::int64_t n = 0; n < width; ++n) {
        rescue.run([&] {
          const Words sums = row_of_matrix(group, matrix, expert, n / rows, n % rows);
          for (std::size_t i = 0; i < slots.size(); ++i) to[slots[i] * at(width) + at(n)] = sums[i];
        });
      }
      rescue.rethrow();
    }
  }

  Words row_of_matrix(const Group& group, Matrix matrix, std::int64_t expert, std::int64_t half, std::int64_t n) const {
    const moe::ExpertRows& rows = *experts_.rows;
    const bool is_first = matrix == Matrix::w13;
    const moe::ScaledRow row = is_first ? rows.w13(expert, half, n) : rows.w2(expert, n);
    std::optional<std::uint32_t> bias = is_first ? rows.w13_bias(expert, half, n) : std::nullopt;
    if (!is_first && experts_.choices.add_w2_bias) bias = rows.w2_bias(expert, n);
    const PreparedOperand weights = prepare(contract_, Side::b, row.operand());
    std::vector<std::optional<std::uint32_t>> quick_sums(group.operands.size());
    if (group.set) group.set->dots(quick::quick_row(contract_, weights), contract_.bias_in_sum ? bias : std::nullopt, quick_sums);
    Words sums;
    for (std::size_t i = 0; i < group.operands.size(); ++i)
      sums.push_back(quick_sums[i] ? with_bias(*quick_sums[i], bias) : dot(contract_, group.operands[i], weights, {.c = {}, .bias = bias}));
    return sums;
  }

  /// A quick sum has the bias of contracts alone that take it into the sum.
  std::uint32_t with_bias(std::uint32_t sum, std::optional<std::uint32_t> bias) const {
    const std::uint32_t total = bias && !contract_.bias_in_sum ? f32::add(sum, *bias) : sum;
    return f32::is_nan(total) ? contract_.nan : total;
  }

  void activate() {
    const std::size_t width = at(experts_.sizes.intermediate), halves = experts_.gated ? 2 : 1;
    const Words& h13 = of(LayerStage::h13);
    Words& act = of(LayerStage::act);
    act.assign(tokens_.ids.size() * width, 0);
    const auto slots = static_cast<std::int64_t>(tokens_.ids.size());
    support::Rescue rescue;
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      rescue.run([&] {
        const std::uint32_t* const gate = h13.data() + at(slot) * halves * width;
        for (std::size_t i = 0; i < (tokens_.ids[at(slot)] < 0 ? 0 : width); ++i)
          act[at(slot) * width + i] =
              moe::activate(*experts_.choices.activation, kF32, gate[i], experts_.gated ? gate[width + i] : 0, experts_.choices.constants);
      });
    }
    rescue.rethrow();
  }

  void sum() {
    const std::size_t width = at(experts_.sizes.hidden), top_k = at(tokens_.top_k);
    const Words& y = of(LayerStage::y);
    Words& out = of(LayerStage::out);
    out.assign(at(tokens_.tokens()) * width, 0);
    for (std::size_t slot = 0; slot < tokens_.ids.size(); ++slot) {
      for (std::size_t n = 0; n < (tokens_.ids[slot] < 0 ? 0 : width); ++n) {
        std::uint32_t& one = out[slot / top_k * width + n];
        one = f32::fma(tokens_.weights[slot], y[slot * width + n], one);
      }
    }
  }

  const ContractExperts& experts_;
  const LayerTokens& tokens_;
  std::span<const StageValues> forms_;
  const ContractRow& contract_;
  std::map<std::int64_t, std::vector<std::size_t>> of_expert_;  ///< slots
  std::array<Words, 8> words_;                                  ///< by stage
};

}  // namespace

/// h13 as it is given. Somebody else's halves are gate, then up.
std::vector<std::uint32_t> halves_of(const StageValues& h13, bool gated) {
  Words words = h13.words;
  if (!gated || !fault::planted(fault::Fault::sim_starts_with_up)) return words;
  const std::size_t width = at(h13.shape[1]);
  for (std::size_t row = 0; row < words.size(); row += width)
    std::rotate(words.begin() + static_cast<std::ptrdiff_t>(row), words.begin() + static_cast<std::ptrdiff_t>(row + width / 2),
                words.begin() + static_cast<std::ptrdiff_t>(row + width));
  return words;
}

std::vector<StageValues> run_rows(const ContractExperts& experts, const LayerTokens& tokens, std::span<const StageValues> forms,
                                  std::span<const StageValues> from, std::span<const LayerStage> wanted, int last, const support::StopPoint& stop,
                                  const std::function<void(std::string_view)>& begun) {
  ByRows rows(experts, tokens, forms);
  rows.start(from);
  std::vector<StageValues> made;
  for (int step = from.empty() ? 0 : step_of(from.front().stage) + 1; step <= last; ++step) {
    stop.check();
    if (begun) begun(std::ranges::find(stage_rows(), step, &StageRow::step)->name);
    rows.advance(step);
    for (const StageRow& row : stage_rows()) {
      if (row.step == step && std::ranges::find(wanted, row.stage) != wanted.end()) made.push_back(rows.values(row.stage));
    }
  }
  return made;
}

}  // namespace mx::sim
