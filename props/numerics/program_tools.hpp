#pragma once
// What the two laws about programs share: ways of giving a tensor's numbers, and lists of words.

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/numerics/block.hpp"
#include "model/numerics/profile.hpp"
#include "props/law.hpp"
#include "props/numerics/programs.hpp"

namespace mx::props::numerics {

/// Ways of giving the tensor's numbers: none, each alone, pairs; ordinary numbers, and scales so small that products with them are subnormal.
std::span<const TensorScale> tensor_scales();
TensorNumbers numbers_of(const TensorScale& tensor);
/// " encode 0x43654321", "" for none.
std::string text_of_tensor(const TensorScale& tensor);

bool fits(Take take, const std::optional<std::uint32_t>& given);

/// The words between blanks.
std::vector<std::string> words_of(std::string_view text);
/// "f32", "bf16" or "fp16".
SourceType type_named(std::string_view name);

/// The law over the profiles of the implementation that its id ends in, those that have such rows: `mistake` of a profile's name is "", and no
/// program is of a profile that does not exist. `mistake` adds up what it tried.
template <typename Row, typename Programs>
Outcome profiles_are_programs(const Law& law, std::span<const Row> Profile::*rows, const Programs& programs,
                              std::string (*mistake)(std::string_view profile, std::uint64_t& cases)) {
  const auto implementation = law.id.substr(law.id.rfind('/') + 1);
  Exhaustive exhaustive(law);
  std::uint64_t cases = 0;
  for (const Profile& profile : all_profiles()) {
    if (profile.implementation != implementation || (profile.*rows).empty()) continue;
    std::string text = mistake(profile.name, cases);
    exhaustive.expect(text.empty(), [&] { return text; });
  }
  for (const auto& program : programs) {
    if (program.implementation != implementation) continue;
    exhaustive.expect(std::ranges::any_of(all_profiles(), [&](const Profile& profile) { return profile.name == program.profile; }),
                      [&] { return std::string(program.profile) + " is no profile"; });
  }
  Outcome outcome = exhaustive.outcome();
  outcome.cases += cases;
  return outcome;
}

}  // namespace mx::props::numerics
