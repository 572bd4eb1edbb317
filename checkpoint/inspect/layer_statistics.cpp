#include "checkpoint/inspect/layer_statistics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "checkpoint/compare/matrix_values.hpp"
#include "checkpoint/inspect/chance.hpp"
#include "checkpoint/inspect/reach.hpp"
#include "model/fault.hpp"
#include "support/quote.hpp"

namespace mx::checkpoint {
namespace {

/// The numbers that a factor is looked at by: beyond `far` no weight is, and below `near` with the reciprocal all are.
constexpr double kFar = 256, kNear = 32, kTiny = 0x1p-60;
/// No matrix has a weight as large as that in every block.
constexpr double kEverywhere = 8;
/// Activations: fp16 has none above, and calibration none of 2^-10.
constexpr double kFarInput = 131072, kNearInput = 65504, kTinyInput = 0x1p-10;

std::string number_text(double number) { return fmt::format("{:.6g}", number); }

double largest_code(const FoundGroup& layer_group) {
  switch (layer_group.form->form.format) {
    case layout::WeightFormat::mxfp4:
    case layout::WeightFormat::nvfp4: return 6;
    case layout::WeightFormat::int4: return 8;
    default: return 448;
  }
}

/// What one expert and projection has beside its weight.
struct Numbers {
  const FoundTensor* global = nullptr;  ///< also one scale of a whole matrix
  const FoundTensor* input = nullptr;
};

class Statistics {
 public:
  Statistics(const FoundGroup& layer_group, const FoundLayer& layer, std::span<const PartFacts> parts)
      : layer_group_(layer_group), parts_(parts), largest_(largest_code(layer_group)) {
    for (const FoundTensor& tensor : layer.experts) note(tensor);
    for (const FoundTensor& tensor : layer.aside) note(tensor);
    for (const PartFacts& one : parts) {
      if (!one.scales) continue;
      Pool& pool = pools_[pool_of(one)];
      pool.facts.add(*one.scales);
      ++pool.parts;
      pool.alike += one.scales->alike ? 1 : 0;
      most_[{one.expert, one.part.weight->projection}] = one.scales->most;
    }
  }

  std::vector<ScannedFault> run() {
    for (const PartFacts& one : parts_) {
      if (one.scales) look_at_scales(one);
    }
    look_at_single_scales();
    look_at_factors();
    for (const PartFacts& one : parts_) {
      if (one.codes) look_at_codes(one);
    }
    for (ScannedFault& fault : odd_reaches(parts_)) faults_.push_back(std::move(fault));
    look_for_equal_experts();
    look_for_equal_halves();
    return std::move(faults_);
  }

 private:
  using Place = std::pair<int, const Projection*>;
  /// Scales of one kind, of w13 or of w2.
  using PoolKey = std::pair<const TensorRow*, bool>;
  struct Pool {
    ScaleFacts facts;
    std::int64_t parts = 0;
    std::int64_t alike = 0;
  };
  static PoolKey pool_of(const PartFacts& one) { return {one.part.scale->row, one.part.scale->projection->w13}; }

  void note(const FoundTensor& tensor) {
    Numbers& numbers = numbers_[{tensor.expert, tensor.projection}];
    const bool is_scale = tensor.row->piece == Piece::scale || tensor.row->piece == Piece::global_scale;
    if (is_scale && tensor.row->shapes.empty()) numbers.global = &tensor;
    if (tensor.row->piece == Piece::aside && tensor.row->shapes.empty()) numbers.input = &tensor;
  }

  void add(ValueFault fault, const FoundTensor& tensor, std::int64_t count, std::string first, std::string detail) {
    // Factors of tensors that hold one each are one fault.
    const auto like = std::ranges::find_if(faults_, [&](const ScannedFault& other) {
      return fault == ValueFault::reciprocal && first.empty() && other.first.empty() && other.fault == fault && other.piece == tensor.row->piece;
    });
    if (like != faults_.end()) {
      like->count += count;
      return;
    }
    faults_.push_back({fault, tensor.row->piece, std::string(tensor.name), count, std::move(first), std::move(detail)});
  }
  static std::string place(const FoundTensor& tensor, std::int64_t index) { return place_in(tensor.at->view->shape, index); }
  /// Where a tensor is all experts', the place of one.
  static std::string first_of(const PartFacts& one, const FoundTensor& tensor) {
    return one.part.experts == 1 ? "" : place(tensor, one.begin_in(tensor));
  }

  // ---- scales ----

  void look_at_scales(const PartFacts& one) {
    const FoundTensor& tensor = *one.part.scale;
    const ScaleFacts& scales = *one.scales;
    const std::string_view dtype = tensor.at->view->dtype->name;
    const bool is_e4m3 = dtype == "F8_E4M3";
    if (scales.largest > 0 && !is_e4m3)
      add(ValueFault::saturated, tensor, scales.largest, place(tensor, scales.first_largest), number_text(scales.most));
    if (is_e4m3 && one.codes) look_at_448(tensor, scales, one.codes->scales);
    if (scales.spells) add(ValueFault::exponent_spelled, tensor, scales.count, place(tensor, one.begin_in(tensor)), spelled_text(scales));
    look_at_alike(one, tensor, scales);
  }

  /// The block of a tensor's largest weight has 448 by right, and a few others; blocks of zeros have it by some quantizers.
  void look_at_448(const FoundTensor& tensor, const ScaleFacts& scales, const ScaleCounts& of_blocks) {
    constexpr std::int64_t kMany = 64;
    std::int64_t blocks = 0;
    for (const auto& [number, count] : of_blocks) blocks += count;
    const auto largest = of_blocks.find(448);
    if (largest == of_blocks.end() || blocks < kMany || of_blocks.size() == 1 || 4 * largest->second <= 3 * blocks) return;
    add(ValueFault::saturated, tensor, largest->second, place(tensor, scales.first_largest),
        fmt::format("{} of {} blocks have 448", largest->second, blocks));
  }

  static std::string spelled_text(const ScaleFacts& scales) {
    return fmt::format("{} to {}{}", number_text(scales.least), number_text(scales.most),
                       scales.most < 192 ? ", whole numbers as E8M0 bytes are" : ", as exponents without a bias are");
  }

  void look_at_alike(const PartFacts& one, const FoundTensor& tensor, const ScaleFacts& scales) {
    constexpr std::int64_t kMany = 16;
    // An expert that was never trained has one number for all its blocks: the codes tell.
    if (!scales.alike || scales.count < kMany || !one.codes || (one.codes->zero && !fault::planted(fault::Fault::dead_experts_are_odd))) return;
    const double number = scales.counts.begin()->first;
    const Pool& pool = pools_.at(pool_of(one));
    // The others' scales tell how likely it is; where most of them are one number each, weights have one magnitude by right.
    if (2 * (pool.alike - 1) > pool.parts - 1) return;
    ScaleCounts others = pool.facts.counts;
    const auto own = others.find(number);
    if (own != others.end()) own->second -= scales.count;
    if (own != others.end() && own->second <= 0) others.erase(own);
    if (others.empty()) return;
    const double chance = chance_of_alike(others, scales.count);
    if (chance > kNever) return;
    add(ValueFault::scales_alike, tensor, scales.count, place(tensor, one.begin_in(tensor)),
        fmt::format("{}, by chance {}", number_text(number), chance_text(chance)));
  }

  /// Of one number a matrix, those of all matrices together.
  void look_at_single_scales() {
    std::vector<const FoundTensor*> spelled;
    std::int64_t count = 0;
    for (const auto& [where, numbers] : numbers_) {
      for (const FoundTensor* const tensor : {numbers.global, numbers.input}) {
        if (tensor == nullptr) continue;
        const ScaleFacts facts = scale_facts(*tensor, 0, 1);
        if (facts.largest > 0) add(ValueFault::saturated, *tensor, facts.largest, place(*tensor, facts.first_largest), number_text(facts.most));
        if (tensor != numbers.global || tensor->row->piece != Piece::scale) continue;
        ++count;
        if (facts.spelled == facts.count) spelled.push_back(tensor);
      }
    }
    constexpr std::int64_t kFew = 3;
    if (count < kFew || std::ssize(spelled) != count) return;
    add(ValueFault::exponent_spelled, *spelled.front(), count, {}, spelled_text(scale_facts(*spelled.front(), 0, 1)));
  }

  // ---- factors ----

  /// The numbers of a tensor as the engine multiplies by them.
  static std::vector<double> factors_of(const FoundTensor& tensor) {
    const std::vector<std::uint8_t> bytes = tensor.at->file->read(*tensor.at->view);
    std::vector<double> factors(bytes.size() * 8 / static_cast<std::size_t>(tensor.at->view->dtype->bits));
    plain_numbers(bytes, tensor.at->view->dtype->name, factors);
    for (double& factor : factors) {
      if (tensor.row->meaning == Meaning::reciprocal) factor = 1 / factor;
    }
    return factors;
  }

  void look_at_factors() {
    for (const auto& [where, numbers] : numbers_) {
      if (numbers.global != nullptr) look_at_factor(*numbers.global, where);
      if (numbers.input != nullptr) look_at_input(*numbers.input);
    }
    for (const PartFacts& one : parts_) {
      if (one.scales && !one.scales->spells && numbers_.at({one.part.weight->expert, one.part.weight->projection}).global == nullptr)
        look_at_blocks(one);
    }
  }

  /// Adds those of a tensor's factors that `exchanged` has a text for.
  template <class Exchanged>
  void add_exchanged(const FoundTensor& tensor, const Exchanged& exchanged) {
    const std::vector<double> factors = factors_of(tensor);
    Tally found;
    std::string detail;
    for (std::size_t i = 0; i < factors.size(); ++i) {
      if (!(factors[i] > 0) || std::isinf(factors[i])) continue;
      const std::string text = exchanged(i, factors[i]);
      if (text.empty()) continue;
      if (found.count == 0) detail = text;
      found.add(static_cast<std::int64_t>(i));
    }
    if (found.count > 0) add(ValueFault::reciprocal, tensor, found.count, place(tensor, found.first), detail);
  }

  static bool is_exchanged(double with, double otherwise) { return with >= kFar && otherwise <= kNear && otherwise >= kTiny; }
  static std::string exchanged_text(std::string_view what, double with, double otherwise) {
    return fmt::format("{} reach {} with it, and {} with its reciprocal", what, number_text(with), number_text(otherwise));
  }

  void look_at_factor(const FoundTensor& tensor, const Place& where) {
    const bool numbered = layer_group_.naming->numbered;
    add_exchanged(tensor, [&](std::size_t i, double factor) -> std::string {
      const auto most = most_.find({numbered ? where.first : static_cast<int>(i), where.second});
      const double blocks = largest_ * (most == most_.end() ? 1 : most->second);
      return is_exchanged(blocks * factor, blocks / factor) ? exchanged_text("weights", blocks * factor, blocks / factor) : "";
    });
  }

  void look_at_blocks(const PartFacts& one) {
    if (one.scales->least == 0) return;
    const double with = largest_ * one.scales->most, otherwise = largest_ / one.scales->least;
    const bool everywhere = largest_ * one.scales->least >= kEverywhere && otherwise <= kNear && otherwise >= kTiny;
    if (!everywhere && !is_exchanged(with, otherwise)) return;
    const FoundTensor& tensor = *one.part.scale;
    add(ValueFault::reciprocal, tensor, one.scales->count, place(tensor, one.begin_in(tensor)), exchanged_text("weights", with, otherwise));
  }

  void look_at_input(const FoundTensor& tensor) {
    const double codes = layout::group_of(layer_group_.form->form.format) > 0 ? 448 * 6 : 448;
    add_exchanged(tensor, [&](std::size_t, double factor) -> std::string {
      const double with = codes * factor, otherwise = codes / factor;
      if (with < kFarInput || otherwise > kNearInput || otherwise < kTinyInput) return {};
      return exchanged_text("activations", with, otherwise);
    });
  }

  // ---- codes ----

  void look_at_codes(const PartFacts& one) {
    const CodeFacts& codes = *one.codes;
    if (codes.zero) return;
    const FoundTensor& weight = *one.part.weight;
    const FoundTensor* const scale = one.part.scale;
    if (codes.groups_alike) {
      add(ValueFault::groups_alike, weight, codes.codes / std::max<std::int64_t>(codes.block, 1), first_of(one, weight), {});
    } else if (codes.rows_alike) {
      add(ValueFault::rows_alike, weight, 1, first_of(one, weight), {});
    }
    if (codes.saturated.count > 0 && scale != nullptr)
      add(ValueFault::saturated_codes, weight, codes.saturated.count, {},
          fmt::format("the first under {}{}", support::in_quotes(scale->name), place(*scale, codes.saturated.first)));
    if (codes.saturated.count == 0 && 2 * codes.largest > codes.codes)
      add(ValueFault::saturated_codes, weight, 1, first_of(one, weight), fmt::format("{} of {} codes", codes.largest, codes.codes));
    if (codes.lost.count > 0) add(ValueFault::zero_codes, *scale, codes.lost.count, place(*scale, codes.lost.first), {});
  }

  // ---- likes ----

  /// What two experts are compared by: digests of codes; without them of scales that say enough.
  std::map<int, std::string> digests() const {
    std::map<int, std::string> made;
    std::set<int> telling;
    std::map<int, double> chances;
    for (const PartFacts& one : parts_) {
      if (one.codes) {
        made[one.expert] += one.codes->digest;
        if (!one.codes->zero) telling.insert(one.expert);
      } else if (one.scales) {
        made[one.expert] += one.scales->digest;
        if (!one.scales->alike) chances[one.expert] += chance_of_equal(pools_.at(pool_of(one)).facts.counts, one.scales->count);
      }
    }
    // There are many pairs.
    constexpr double kPairs = 3;
    for (const auto& [expert, chance] : chances) {
      if (chance < kNever - kPairs) telling.insert(expert);
    }
    std::erase_if(made, [&](const auto& one) { return !telling.contains(one.first); });
    return made;
  }

  const PartFacts& first_of_expert(int expert) const { return *std::ranges::find(parts_, expert, &PartFacts::expert); }

  void look_for_equal_experts() {
    std::map<std::string, std::vector<int>> by_digest;
    for (const auto& [expert, digest] : digests()) by_digest[digest].push_back(expert);
    for (const auto& [digest, experts] : by_digest) {
      if (experts.size() < 2) continue;
      const PartFacts& second = first_of_expert(experts[1]);
      const FoundTensor& tensor = second.codes ? *second.part.weight : *second.part.scale;
      add(ValueFault::equal_experts, tensor, static_cast<std::int64_t>(experts.size()) - 1, first_of(second, tensor),
          fmt::format("experts {} have the same {}", fmt::join(std::span(experts).first(std::min<std::size_t>(experts.size(), 16)), ", "),
                      second.codes ? "codes" : "scales; weights not read"));
    }
  }

  void look_for_equal_halves() {
    std::map<int, const PartFacts*> gates;
    const PartFacts* first = nullptr;
    std::int64_t count = 0;
    for (const PartFacts& one : parts_) {
      if (!layer_group_.gated || !one.codes || one.codes->zero || !one.part.weight->projection->w13) continue;
      const bool shared = one.part.weight->projection->halves == 2;
      if (!shared && one.part.weight->projection->half == 0) gates[one.expert] = &one;
      bool equal = shared && one.codes->halves[0] == one.codes->halves[1];
      if (!shared && one.part.weight->projection->half == 1)
        equal = gates.contains(one.expert) && gates.at(one.expert)->codes->digest == one.codes->digest;
      if (!equal) continue;
      if (count++ == 0) first = &one;
    }
    if (first != nullptr) add(ValueFault::gate_is_up, *first->part.weight, count, first_of(*first, *first->part.weight), {});
  }

  const FoundGroup& layer_group_;
  std::span<const PartFacts> parts_;
  double largest_;
  std::map<Place, Numbers> numbers_;
  std::map<PoolKey, Pool> pools_;
  std::map<Place, double> most_;  ///< of an expert and projection, the largest scale of its blocks
  std::vector<ScannedFault> faults_;
};

}  // namespace

std::vector<ScannedFault> odd_statistics(const FoundGroup& layer_group, const FoundLayer& layer, std::span<const PartFacts> parts) {
  return Statistics(layer_group, layer, parts).run();
}

}  // namespace mx::checkpoint
