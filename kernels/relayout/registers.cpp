#include "kernels/relayout/registers.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "kernels/relayout/tile_code.hpp"

namespace mx::kernels::relayout {
namespace {

constexpr BitMatrix kIdentity{1, 2, 4, 8, 16, 32, 64, 128};

/// Bytes made by the same matrices, in the order of their parts.
using Class = std::vector<BitMatrix>;

std::vector<BytePart> ordered(std::vector<BytePart> parts) {
  std::ranges::sort(parts, {}, &BytePart::rows);
  return parts;
}

Class class_of(const std::vector<BytePart>& parts) {
  Class out;
  for (const BytePart& part : parts) out.push_back(part.rows);
  return out;
}

/// Lanes of target bytes that are made alike; -1 where a lane is not full.
struct ClassLane {
  const Class* made;
  Slots targets;
};

std::size_t bytes_of(const Tiles& tiles, int width) { return static_cast<std::size_t>(std::max(tiles.bytes, width)); }

/// The smallest number of registers such that every class fills whole lanes of each such group; at most all of them.
std::size_t group_size(const std::vector<const Class*>& classes, std::size_t width) {
  for (std::size_t group = width; group < classes.size(); group *= 2) {
    bool even = true;
    for (std::size_t first = 0; first < classes.size() && even; first += group) {
      std::map<const Class*, int> counts;
      for (std::size_t i = first; i < first + group; ++i) ++counts[classes[i]];
      even = std::ranges::all_of(counts, [](const auto& count) { return count.second % kLane == 0; });
    }
    if (even) return group;
  }
  return classes.size();
}

std::vector<ClassLane> lanes_of(const std::vector<const Class*>& classes, std::size_t group) {
  std::vector<ClassLane> lanes;
  for (std::size_t first = 0; first < classes.size(); first += group) {
    std::map<const Class*, std::vector<std::int32_t>> members;
    for (std::size_t i = first; i < std::min(first + group, classes.size()); ++i) members[classes[i]].push_back(static_cast<std::int32_t>(i));
    std::vector<std::pair<const Class*, std::vector<std::int32_t>>> in_order(members.begin(), members.end());
    std::ranges::sort(in_order, {}, [](const auto& entry) { return entry.second.front(); });
    for (auto& [made, targets] : in_order) {
      targets.resize((targets.size() + kLane - 1) / kLane * kLane, -1);
      for (auto lane = targets.begin(); lane != targets.end(); lane += kLane) lanes.push_back({made, Slots(lane, lane + kLane)});
    }
  }
  return lanes;
}

bool are_whole(const Tiles& tiles) {
  return std::ranges::all_of(tiles.parts, [](const std::vector<BytePart>& parts) { return parts.size() == 1 && parts.front().rows == kIdentity; });
}

/// Per target register its bytes, where only whole bytes move.
std::vector<Slots> moved_bytes(const Tiles& tiles, int width) {
  const auto step = static_cast<std::size_t>(width);
  std::vector<Slots> wanted;
  for (std::size_t first = 0; first < bytes_of(tiles, width); first += step) {
    Slots slots(step, -1);
    for (std::size_t i = 0; i < step && first + i < tiles.parts.size(); ++i) slots[i] = tiles.parts[first + i].front().source;
    wanted.push_back(std::move(slots));
  }
  return wanted;
}

RegisterPlan whole_bytes(const Tiles& tiles, int width) {
  RegisterPlan plan{{}, {}, {}, {}, static_cast<int>(bytes_of(tiles, width)) / width};
  Routes routes = route(width, 0, moved_bytes(tiles, width), kMxGroup, plan.registers);
  plan.gather = std::move(routes.steps);
  plan.targets = std::move(routes.results);
  return plan;
}

/// Registers of the lanes' bytes before their bits change: per register of lanes one wish per term.
std::vector<Slots> wishes(const Tiles& tiles, std::span<const ClassLane> lanes, std::size_t terms) {
  std::vector<Slots> out(terms);
  for (const ClassLane& lane : lanes) {
    for (std::size_t t = 0; t < terms; ++t) {
      for (std::int32_t target : lane.targets) {
        const bool has = target >= 0 && t < lane.made->size();
        out[t].push_back(has ? ordered(tiles.parts[static_cast<std::size_t>(target)])[t].source : -1);
      }
    }
  }
  return out;
}

/// The same number of terms for all mixes, and whole groups of them.
void fill_up(std::vector<LaneMix>& mixes) {
  std::size_t terms = 0;
  for (const LaneMix& mix : mixes) terms = std::max(terms, mix.terms.size());
  for (LaneMix& mix : mixes) {
    const LaneTerm nothing{mix.terms.front().from, std::vector<BitMatrix>(mix.terms.front().matrices.size())};
    mix.terms.resize(terms, nothing);
  }
  while (mixes.size() % kMxGroup != 0) mixes.push_back(mixes.back());
}

RegisterPlan parts_of_bytes(const Tiles& tiles, int width) {
  const auto step = static_cast<std::size_t>(width);
  std::map<Class, int> distinct;
  std::vector<const Class*> classes;
  for (const std::vector<BytePart>& parts : tiles.parts) classes.push_back(&distinct.emplace(class_of(ordered(parts)), 0).first->first);
  std::vector<ClassLane> lanes = lanes_of(classes, group_size(classes, step));
  const std::size_t per_register = step / kLane;
  const Class nothing;
  while (lanes.size() % per_register != 0) lanes.push_back({&nothing, Slots(kLane, -1)});

  RegisterPlan plan{{}, {}, {}, {}, static_cast<int>(bytes_of(tiles, width) / step)};
  std::vector<Slots> wanted;
  for (std::size_t first = 0; first < lanes.size(); first += per_register) {
    const std::span<const ClassLane> group(lanes.data() + first, per_register);
    std::size_t terms = 0;
    for (const ClassLane& lane : group) terms = std::max(terms, lane.made->size());
    LaneMix mix{0, std::vector<LaneTerm>(terms)};
    for (std::size_t t = 0; t < terms; ++t) {
      for (const ClassLane& lane : group) mix.terms[t].matrices.push_back(t < lane.made->size() ? (*lane.made)[t] : BitMatrix{});
    }
    plan.mixes.push_back(std::move(mix));
    for (Slots& slots : wishes(tiles, group, terms)) wanted.push_back(std::move(slots));
  }
  Routes gathered = route(width, 0, wanted, kMxGroup, plan.registers);
  plan.gather = std::move(gathered.steps);
  std::size_t wish = 0;
  const int first_mixed = plan.registers;
  for (LaneMix& mix : plan.mixes) {
    for (LaneTerm& term : mix.terms) term.from = gathered.results[wish++];
    mix.out = plan.registers++;
  }
  fill_up(plan.mixes);
  std::vector<Slots> back(bytes_of(tiles, width) / step, Slots(step, -1));
  for (std::size_t l = 0; l < lanes.size(); ++l) {
    for (std::size_t i = 0; i < kLane; ++i) {
      const std::int32_t target = lanes[l].targets[i];
      if (target >= 0)
        back[static_cast<std::size_t>(target) / step][static_cast<std::size_t>(target) % step] = static_cast<std::int32_t>(l * kLane + i);
    }
  }
  Routes scattered = route(width, first_mixed, back, kMxGroup, plan.registers);
  plan.scatter = std::move(scattered.steps);
  plan.targets = std::move(scattered.results);
  return plan;
}

/// The source bytes of a target register, ascending.
Slots met_bytes(std::span<const std::vector<BytePart>> target) {
  std::set<std::int32_t> bytes;
  for (const std::vector<BytePart>& parts : target) {
    for (const BytePart& part : parts) bytes.insert(part.source);
  }
  return {bytes.begin(), bytes.end()};
}

/// `met`: what the registers hold. None when those bytes that are made alike do not fill lanes.
std::optional<Finish> finish_of(std::span<const std::vector<BytePart>> target, const Slots& met) {
  std::map<Class, std::vector<std::size_t>> members;
  std::size_t terms = 0;
  for (std::size_t i = 0; i < target.size(); ++i) {
    members[class_of(ordered(target[i]))].push_back(i);
    terms = std::max(terms, target[i].size());
  }
  Finish finish{0, 0, std::vector<Finish::Term>(terms), std::vector<std::int16_t>(target.size())};
  std::int16_t place = 0;
  for (const auto& [made, targets] : members) {
    if (targets.size() % kLane != 0) return std::nullopt;
    for (std::size_t i : targets) {
      const std::vector<BytePart> parts = ordered(target[i]);
      for (std::size_t t = 0; t < terms; ++t) {
        const auto from = t < parts.size() ? std::ranges::find(met, parts[t].source) - met.begin() : 0;
        finish.terms[t].index.push_back(static_cast<std::int16_t>(from));
        if (place % kLane == 0) finish.terms[t].matrices.push_back(t < parts.size() ? parts[t].rows : BitMatrix{});
      }
      finish.order[i] = place++;
    }
  }
  return finish;
}

/// What a target register is made of: its first wish, how many there are, and the bytes in them.
struct Met {
  std::size_t wish;
  std::size_t registers;
  Slots bytes;
};

std::span<const std::vector<BytePart>> target_register(const Tiles& tiles, std::size_t i, std::size_t width) {
  return std::span(tiles.parts).subspan(i * width, width);
}

/// Whether halves cross within each register that the passes make: then they are in the plan.
bool swap_nibbles(const Tiles& tiles, std::size_t width, const std::vector<Met>& met, EvenPlan& plan) {
  std::vector<NibbleSwap> swaps;
  for (std::size_t i = 0; i < met.size(); ++i) {
    std::optional<NibbleSwap> swap = nibble_swap(target_register(tiles, i, width), met[i].bytes, static_cast<int>(met[i].wish));
    if (!swap) return false;
    swaps.push_back(std::move(*swap));
  }
  plan.swaps = std::move(swaps);
  return true;
}

/// Whether two target registers each share what they are made of, the low halves for one and the high ones for the other: then they are in the plan.
bool join_nibbles(const Tiles& tiles, std::size_t width, const std::vector<Met>& met, EvenPlan& plan) {
  std::vector<NibbleTwins> twins;
  std::map<std::size_t, std::vector<std::size_t>> by_wish;
  for (std::size_t i = 0; i < met.size(); ++i) by_wish[met[i].wish].push_back(i);
  for (const auto& group : by_wish) {
    const auto wish = static_cast<int>(group.first);
    const std::vector<std::size_t>& targets = group.second;
    if (targets.size() != 2 || met[targets.front()].registers != 2) return false;
    const auto pair = [&](std::size_t first, std::size_t second) {
      std::optional<NibbleTwins> made = nibble_twins(target_register(tiles, first, width), target_register(tiles, second, width), met[first].bytes);
      if (!made) return false;
      made->a = wish;
      made->b = wish + 1;
      made->targets = {static_cast<int>(first), static_cast<int>(second)};
      twins.push_back(std::move(*made));
      return true;
    };
    if (!pair(targets[0], targets[1]) && !pair(targets[1], targets[0])) return false;
  }
  plan.twins = std::move(twins);
  return true;
}

}  // namespace

RegisterPlan register_plan(const Tiles& tiles, int width) { return are_whole(tiles) ? whole_bytes(tiles, width) : parts_of_bytes(tiles, width); }

std::optional<EvenPlan> even_plan(const Tiles& tiles, int width) {
  if (tiles.bytes < width) return std::nullopt;
  if (are_whole(tiles)) {
    std::optional<Butterfly> passes = butterfly(width, moved_bytes(tiles, width), Wishes::ordered);
    if (!passes) return std::nullopt;
    return EvenPlan{std::move(*passes), {}, {}, {}};
  }
  // Target registers that are made of the same bytes share the registers that bring these together.
  const auto step = static_cast<std::size_t>(width);
  std::vector<Slots> wanted;
  std::map<Slots, std::size_t> firsts;
  std::vector<Met> met_at;
  for (std::size_t first = 0; first < tiles.parts.size(); first += step) {
    const Slots met = met_bytes(std::span(tiles.parts).subspan(first, step));
    const std::size_t registers = met.size() / step;
    if (met.size() % step != 0 || registers > 2) return std::nullopt;
    const auto [known, is_new] = firsts.emplace(met, wanted.size());
    for (std::size_t r = 0; r < registers && is_new; ++r) {
      wanted.emplace_back(met.begin() + static_cast<std::ptrdiff_t>(r * step), met.begin() + static_cast<std::ptrdiff_t>((r + 1) * step));
    }
    met_at.push_back({known->second, registers, {}});
  }
  if (wanted.size() * step != tiles.parts.size()) return std::nullopt;
  std::optional<Butterfly> passes = butterfly(width, wanted, Wishes::met);
  if (!passes) return std::nullopt;
  EvenPlan plan{std::move(*passes), {}, {}, {}};
  for (Met& met : met_at) {
    for (std::size_t r = 0; r < met.registers; ++r) {
      const Slots& made = plan.passes.made[met.wish + r];
      met.bytes.insert(met.bytes.end(), made.begin(), made.end());
    }
  }
  if (swap_nibbles(tiles, step, met_at, plan) || join_nibbles(tiles, step, met_at, plan)) return plan;
  for (std::size_t i = 0; i < met_at.size(); ++i) {
    std::optional<Finish> finish = finish_of(target_register(tiles, i, step), met_at[i].bytes);
    if (!finish) return std::nullopt;
    finish->a = static_cast<int>(met_at[i].wish);
    finish->b = static_cast<int>(met_at[i].wish + met_at[i].registers) - 1;
    plan.finishes.push_back(std::move(*finish));
  }
  return plan;
}

}  // namespace mx::kernels::relayout
