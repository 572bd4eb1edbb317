#include "kernels/moe/sort.hpp"

#include <limits>
#include <string>

#include "model/error.hpp"

namespace mx::kernels::moe {
namespace {

constexpr std::size_t kMost = std::numeric_limits<std::int32_t>::max();

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorCode::usage, text, "layer"); }

/// The rank's number of a slot's expert, or -1.
std::int32_t local_expert(std::int32_t expert, std::span<const std::int32_t> map, std::size_t experts) {
  const std::size_t known = map.empty() ? experts : map.size();
  if (expert < 0 || static_cast<std::size_t>(expert) >= known) {
    refuse("expert " + std::to_string(expert) + " is not in 0.." + std::to_string(known - 1));
  }
  return map.empty() ? expert : map[static_cast<std::size_t>(expert)];
}

void check_map(std::span<const std::int32_t> map, std::size_t experts) {
  for (std::size_t expert = 0; expert < map.size(); ++expert) {
    const std::int32_t local = map[expert];
    if (local >= -1 && (local < 0 || static_cast<std::size_t>(local) < experts)) continue;
    refuse("the map sends expert " + std::to_string(expert) + " to " + std::to_string(local) + ", the layer holds " + std::to_string(experts));
  }
}

}  // namespace

SortedPairs sort_pairs(std::span<const std::int32_t> experts_of_slots, std::span<const std::int32_t> map, std::size_t experts) {
  if (experts_of_slots.size() > kMost) {
    refuse(std::to_string(experts_of_slots.size()) + " slots: at most 2^31 - 1 are sorted at once");
  }
  if (experts < 1 || experts > kMost) refuse("a layer of " + std::to_string(experts) + " experts: there are 1 to 2^31 - 1");
  check_map(map, experts);
  SortedPairs pairs{std::vector<std::size_t>(experts, 0), {}, std::vector<std::int32_t>(experts_of_slots.size(), -1)};
  std::size_t total = 0;
  for (const std::int32_t expert : experts_of_slots) {
    const std::int32_t local = local_expert(expert, map, experts);
    if (local < 0) continue;
    ++pairs.group_sizes[static_cast<std::size_t>(local)];
    ++total;
  }
  std::vector<std::size_t> next(experts, 0);
  for (std::size_t expert = 1; expert < experts; ++expert) next[expert] = next[expert - 1] + pairs.group_sizes[expert - 1];
  pairs.slot_of.resize(total);
  for (std::size_t slot = 0; slot < experts_of_slots.size(); ++slot) {
    const std::int32_t local = local_expert(experts_of_slots[slot], map, experts);
    if (local < 0) continue;
    const std::size_t place = next[static_cast<std::size_t>(local)]++;
    pairs.slot_of[place] = static_cast<std::uint32_t>(slot);
    pairs.place_of[slot] = static_cast<std::int32_t>(place);
  }
  return pairs;
}

}  // namespace mx::kernels::moe
