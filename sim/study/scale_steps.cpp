#include "sim/study/scale_steps.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/error.hpp"
#include "model/numerics/profile.hpp"

namespace mx::sim {
namespace {

constexpr std::uint32_t kOne = 0x3F800000;
constexpr std::uint32_t kOctave = 1U << 23U;  // fp32 numbers from 1 to 2

/// The step of one recipe, found by halving: a scale never falls while the magnitude grows. Only what the recipe's source can hold is asked.
ScaleStep step_of(const MxRecipe& how, const BlockFormat& format, const Format& source) {
  const std::uint32_t apart = 1U << static_cast<unsigned>(kF32.mantissa_bits - source.mantissa_bits);
  const auto code_at = [&](std::uint32_t place) { return scale_code(kOne + place * apart, *format.element, how.scale, source); };
  const std::uint32_t last = kOctave / apart - 1;
  ScaleStep step{std::string(name_of(how.scale.rule)), {}, code_at(0), code_at(last), std::nullopt};
  if (step.below == step.above) return step;
  std::uint32_t low = 0, high = last;
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    (code_at(middle) == step.below ? low : high) = middle;
  }
  step.first = kOne + high * apart;
  return step;
}

bool are_alike(const ScaleStep& a, const ScaleStep& b) { return a.rule == b.rule && a.below == b.below && a.above == b.above && a.first == b.first; }

/// Both are asked in fp32 where the recipe takes it: a narrower source only leaves values out.
const Format& source_of(const Recipe& recipe) { return takes_source(recipe, kF32) ? kF32 : takes_source(recipe, kBf16) ? kBf16 : kFp16; }

}  // namespace

std::vector<ScaleSteps> scale_steps(const std::vector<std::string>& formats) {
  std::vector<ScaleSteps> all;
  for (const std::string& name : formats) all.push_back({std::string(block_format_named(name).name), {}});
  for (const Profile& profile : all_profiles()) {
    for (const Recipe& recipe : profile.recipes) {
      const MxRecipe* const how = std::get_if<MxRecipe>(&recipe.how);
      if (how == nullptr) continue;
      auto steps = std::ranges::find(all, recipe.format->name, &ScaleSteps::format);
      if (steps == all.end()) {
        if (!formats.empty()) continue;
        steps = all.insert(steps, {std::string(recipe.format->name), {}});
      }
      ScaleStep step = step_of(*how, *recipe.format, source_of(recipe));
      auto row = std::ranges::find_if(steps->rows, [&](const ScaleStep& known) { return are_alike(known, step); });
      if (row == steps->rows.end()) row = steps->rows.insert(row, std::move(step));
      row->profiles.emplace_back(profile.name);
    }
  }
  for (const ScaleSteps& steps : all) {
    if (steps.rows.empty()) throw Error(ErrorCode::usage, "no profile chooses an E8M0 scale for it from the largest magnitude", steps.format);
  }
  return all;
}

}  // namespace mx::sim
