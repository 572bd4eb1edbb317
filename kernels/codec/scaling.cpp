#include "kernels/codec/scaling.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/codec/scaled_family.hpp"
#include "model/fault.hpp"
#include "model/numerics/f32.hpp"

namespace mx::kernels {
namespace {

constexpr std::uint32_t kF32Bias = 127;
constexpr std::uint32_t kMantissaBits = 23;
constexpr std::uint32_t kInfinity = 0x7F800000U;

bool is_positive_finite(std::uint32_t f32) { return f32 != 0 && f32 < kInfinity; }

/// Of numbers that are not negative, no 0 / 0 and no NaN: f32::div without a call.
std::uint32_t quotient(std::uint32_t a, std::uint32_t b) { return std::bit_cast<std::uint32_t>(std::bit_cast<float>(a) / std::bit_cast<float>(b)); }

// What makes a group's scaling of its amax, which is finite; a factor of 0 for an irregular group.

class QuotientScaling {
 public:
  QuotientScaling(const QuotientScale& scale, const ScaledRecipe& recipe)
      : how_(scale), divides_(recipe.plan.divides != 0), reciprocal_(quotient(f32::kOne, scale.largest)) {}

  BlockScaling operator()(std::uint32_t given_amax) const {
    std::uint32_t amax = std::max(given_amax, how_.least_amax);
    if (how_.amax_bound) amax = std::min(amax, *how_.amax_bound);
    BlockScaling out{};
    if (how_.inverts) {
      out.factor = quotient(how_.largest, amax);
      if (how_.width != nullptr) out.factor = held_in(*how_.width, out.factor);
      out.scale = quotient(f32::kOne, out.factor);
    } else {
      out.scale = how_.multiplies_amax ? f32::mul(amax, reciprocal_) : quotient(amax, how_.largest);
      out.scale = how_.given.value_or(std::max(out.scale, how_.least_scale));
      out.factor = divides_ ? out.scale : quotient(f32::kOne, out.scale);
    }
    return is_positive_finite(out.scale) && is_positive_finite(out.factor) ? out : BlockScaling{0, 0};
  }

 private:
  const QuotientScale& how_;
  bool divides_;
  std::uint32_t reciprocal_;  ///< of the largest number
};

class SteppedScaling {
 public:
  explicit SteppedScaling(const SteppedScale& scale) : steps_(*scale.steps) {}
  BlockScaling operator()(std::uint32_t amax) const { return steps_.at(amax); }

 private:
  const AmaxSteps& steps_;
};

class RuledScaling {
 public:
  explicit RuledScaling(const RuledScale& scale) : scale_(scale) {}
  BlockScaling operator()(std::uint32_t amax) const {
    const BlockScaling scaling = scale_.rule(amax);
    return scale_.takes(amax, scaling) ? scaling : BlockScaling{0, 0};
  }

 private:
  const RuledScale& scale_;
};

/// A table has an answer for what is no finite number, too.
template <class Scaling>
constexpr bool kKnowsInfinity = std::is_same_v<std::remove_cv_t<Scaling>, SteppedScaling>;

/// Tables are kept: each costs some hundredths of a millisecond, or tenths. More than any program works with at a time make room by leaving.
class KeptSteps {
 public:
  std::shared_ptr<const AmaxSteps> of(const Recipe& recipe, const Format& source, const TensorScale& tensor, const ScaledFamily& family) {
    const std::lock_guard lock(mutex_);
    const auto is_it = [&](const Row& row) { return row.source == &source && row.tensor == tensor && row.recipe == recipe; };
    const auto row = std::ranges::find_if(rows_, is_it);
    if (row != rows_.end()) return row->steps;
    if (rows_.size() == kMost) rows_.clear();
    return rows_.emplace_back(Row{recipe, &source, tensor, steps_of(family)}).steps;
  }

  /// Null where there is no table.
  static std::shared_ptr<const AmaxSteps> steps_of(const ScaledFamily& family) {
    const auto steps = AmaxSteps::of(family.rule, family.takes);
    return steps ? std::make_shared<const AmaxSteps>(*steps) : nullptr;
  }

 private:
  static constexpr std::size_t kMost = 256;
  struct Row {
    Recipe recipe;
    const Format* source;
    TensorScale tensor;
    std::shared_ptr<const AmaxSteps> steps;
  };
  std::mutex mutex_;
  std::vector<Row> rows_;
};

std::shared_ptr<const AmaxSteps> steps_for(const Recipe& recipe, const Format& source, const TensorScale& tensor, const ScaledFamily& family) {
  static KeptSteps kept;
  // What a planted fault made of the model is not kept.
  return fault::any_planted() ? KeptSteps::steps_of(family) : kept.of(recipe, source, tensor, family);
}

QuotientScaling scaling_by(const QuotientScale& scale, const ScaledRecipe& recipe) { return {scale, recipe}; }
SteppedScaling scaling_by(const SteppedScale& scale, const ScaledRecipe& /*says nothing of it*/) { return SteppedScaling(scale); }
RuledScaling scaling_by(const RuledScale& scale, const ScaledRecipe& /*says nothing of it*/) { return RuledScaling(scale); }

}  // namespace

std::optional<ScaledRecipe> scaled_recipe(const Recipe& recipe, const Format& source, const TensorScale& tensor) {
  const Format& element = *recipe.format->element;
  const ElementSource* const from = find_source(source);
  if (from == nullptr || !takes_source(recipe, source)) return std::nullopt;
  const auto family = scaled_family(recipe, source, tensor);
  if (!family) return std::nullopt;
  ScaledRecipe out{};
  out.plan.source = *from;
  out.plan.before = std::bit_cast<float>(family->before);
  out.plan.divides = family->divides ? 1 : 0;
  out.plan.narrows = family->narrows ? 1 : 0;
  out.plan.behind = std::bit_cast<float>(family->behind);
  out.plan.doubts = family->doubts ? 1 : 0;
  out.plan.rounding = family->rounding;
  if (counts_units(element)) {
    out.plan.units = std::bit_cast<float>((kF32Bias + static_cast<std::uint32_t>(element.mantissa_bits)) << kMantissaBits);
  } else {
    out.plan.half_unit = narrow((kF32Bias - half_unit_offset(element)) << kUpperMantissaBits);
  }
  if (family->quotient) {
    out.scale = *family->quotient;
    return out;
  }
  if (family->is_stepped) {
    auto steps = steps_for(recipe, source, tensor, *family);
    if (!steps) return std::nullopt;
    out.scale = SteppedScale{std::move(steps)};
    return out;
  }
  out.scale = RuledScale{family->rule, family->takes};
  return out;
}

std::optional<BlockScaling> scaling_of(const ScaledRecipe& how, std::uint32_t amax) {
  if (amax >= kInfinity) return std::nullopt;
  const BlockScaling scaling = std::visit([&](const auto& scale) { return scaling_by(scale, how)(amax); }, how.scale);
  return scaling.factor == 0 ? std::nullopt : std::optional(scaling);
}

void scalings_of(const ScaledRecipe& how, std::span<const std::uint32_t> amax, std::uint32_t* scales, std::uint32_t* factors,
                 std::uint64_t* irregular) {
  std::visit(
      [&](const auto& scale) {
        const auto scaling = scaling_by(scale, how);
        bool all = true;
        for (std::size_t g = 0; g < amax.size(); ++g) {
          const BlockScaling found = amax[g] < kInfinity || kKnowsInfinity<decltype(scaling)> ? scaling(amax[g]) : BlockScaling{0, 0};
          scales[g] = found.scale;
          factors[g] = found.factor;
          all &= found.factor != 0;
        }
        for (std::size_t g = 0; !all && g < amax.size(); ++g) {
          if (factors[g] != 0) continue;
          irregular[g / 64] |= std::uint64_t{1} << (g % 64);
          factors[g] = f32::kOne;
        }
      },
      how.scale);
}

}  // namespace mx::kernels
