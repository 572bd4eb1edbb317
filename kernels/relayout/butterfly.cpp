#include "kernels/relayout/butterfly.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>
#include <span>

namespace mx::kernels::relayout {
namespace {

constexpr int kMostLevels = 4;

struct Register {
  int number;
  Slots slots;
};

/// Registers and the wishes that they serve, as many of each.
struct Component {
  std::vector<Register> registers;
  std::vector<std::size_t> wishes;  ///< positions in the list of wishes, which are numbers of registers too
};

/// Sets of registers that meet the same wishes; empty when they do not meet evenly.
std::vector<Component> components(int width, const std::vector<Slots>& wanted) {
  std::map<std::set<std::int32_t>, std::vector<std::size_t>> by_sources;
  for (std::size_t w = 0; w < wanted.size(); ++w) {
    std::map<std::int32_t, int> counts;
    for (std::int32_t byte : wanted[w]) {
      if (byte < 0) return {};
      ++counts[byte / width];
    }
    std::set<std::int32_t> sources;
    for (const auto& [source, count] : counts) {
      if (count * static_cast<int>(counts.size()) != width) return {};
      sources.insert(source);
    }
    by_sources[sources].push_back(w);
  }
  std::vector<Component> out;
  std::set<std::int32_t> seen;
  for (const auto& [sources, wishes] : by_sources) {
    if (sources.size() != wishes.size() || !std::has_single_bit(sources.size())) return {};
    if (!out.empty() && out.front().wishes.size() != wishes.size()) return {};
    Component component{{}, wishes};
    for (std::int32_t source : sources) {
      if (!seen.insert(source).second) return {};
      Register reg{source, Slots(static_cast<std::size_t>(width))};
      std::iota(reg.slots.begin(), reg.slots.end(), source * width);
      component.registers.push_back(std::move(reg));
    }
    out.push_back(std::move(component));
  }
  return out;
}

/// Places in `from` of the bytes of `slots`.
std::vector<std::int16_t> places(const Slots& from, const Slots& slots) {
  std::vector<std::int16_t> index;
  for (std::int32_t byte : slots) index.push_back(static_cast<std::int16_t>(std::ranges::find(from, byte) - from.begin()));
  return index;
}

class Planner {
 public:
  Planner(int width, const std::vector<Slots>& wanted, Wishes wishes)
      : width_(static_cast<std::size_t>(width)), wanted_(wanted), is_ordered_(wishes == Wishes::ordered), wish_of_(wanted.size() * width_) {
    for (std::size_t w = 0; w < wanted.size(); ++w) {
      for (std::int32_t byte : wanted[w]) wish_of_[static_cast<std::size_t>(byte)] = w;
    }
  }

  Butterfly plan(std::vector<Component> components) {
    Butterfly out{{}, std::vector<Slots>(wanted_.size())};
    const auto all = static_cast<int>(std::bit_width(components.front().registers.size())) - 1;
    const int pass_count = std::max(1, (all + kMostLevels - 1) / kMostLevels);
    int left = all;
    for (int pass = pass_count; pass > 0; --pass) {
      const int levels = (left + pass - 1) / pass;
      out.passes.push_back(do_pass(components, levels));
      left -= levels;
    }
    for (const Component& component : components) out.made[component.wishes.front()] = component.registers.front().slots;
    return out;
  }

 private:
  /// Registers that are exchanged with each other, and what becomes of them.
  struct Part {
    std::vector<Register> in;
    std::vector<Register> out;
    std::vector<std::vector<std::int16_t>> sorts;
    std::vector<std::vector<std::int16_t>> orders;
  };

  /// Levels over each 2^levels registers of a component; the components are then those of the outputs that serve the same wishes.
  std::vector<Block> do_pass(std::vector<Component>& components, int levels) {
    const std::size_t radix = std::size_t{1} << levels;
    std::vector<Part> parts;
    std::vector<Component> next;
    int number = 0;
    for (const Component& component : components) {
      const std::size_t share = component.wishes.size() / radix;
      const std::size_t first = next.size();
      next.resize(first + radix);
      for (std::size_t g = 0; g < radix; ++g) {
        const auto begin = component.wishes.begin() + static_cast<std::ptrdiff_t>(g * share);
        next[first + g].wishes.assign(begin, begin + static_cast<std::ptrdiff_t>(share));
      }
      for (std::size_t b = 0; b < component.registers.size(); b += radix) {
        const auto begin = component.registers.begin() + static_cast<std::ptrdiff_t>(b);
        Part part{{begin, begin + static_cast<std::ptrdiff_t>(radix)}, {}, {}, {}};
        for (std::size_t g = 0; g < radix; ++g) {
          part.out.push_back({share == 1 ? static_cast<int>(next[first + g].wishes.front()) : number++, {}});
        }
        exchange(part, std::span(next).subspan(first, radix));
        for (std::size_t g = 0; g < radix; ++g) next[first + g].registers.push_back(part.out[g]);
        parts.push_back(std::move(part));
      }
    }
    components = std::move(next);
    // Neighbours among the wishes one soon after the other: of the target's lines in memory, two that stand side by side.
    if (components.front().wishes.size() == 1) std::ranges::stable_sort(parts, {}, [](const Part& part) { return part.out.front().number; });
    return blocks_of(parts, levels);
  }

  /// Outputs of a part, of which each serves the wishes of one component.
  void exchange(Part& part, std::span<const Component> serves) const {
    const std::size_t radix = part.in.size();
    const std::size_t chunk = width_ / radix;
    std::vector<std::size_t> output(wanted_.size());
    for (std::size_t g = 0; g < radix; ++g) {
      for (std::size_t wish : serves[g].wishes) output[wish] = g;
    }
    for (Register& reg : part.out) reg.slots.resize(width_);
    for (std::size_t i = 0; i < radix; ++i) {
      Slots sorted(width_);
      std::vector<std::size_t> used(radix, 0);
      for (std::int32_t byte : part.in[i].slots) {
        const std::size_t g = output[wish_of_[static_cast<std::size_t>(byte)]];
        const std::size_t place = (g ^ i) * chunk + used[g]++;
        sorted[place] = part.out[g].slots[place] = byte;
      }
      part.sorts.push_back(places(part.in[i].slots, sorted));
    }
    for (std::size_t g = 0; g < radix && is_ordered_ && serves[g].wishes.size() == 1; ++g) {
      const Slots& wanted = wanted_[serves[g].wishes.front()];
      part.orders.push_back(places(part.out[g].slots, wanted));
      part.out[g].slots = wanted;
    }
    if (radix > 1 || part.orders.empty()) return;
    // One register alone is sorted into its order at once.
    part.sorts = std::move(part.orders);
    part.orders.clear();
  }

  static std::vector<Block> blocks_of(const std::vector<Part>& parts, int levels) {
    const std::size_t per_block = block_size(levels) >> levels;
    std::vector<Block> blocks;
    for (std::size_t first = 0; first < parts.size(); first += per_block) {
      Block block{{}, {}, levels, {}, {}};
      for (std::size_t p = first; p < first + per_block; ++p) {
        const Part& part = parts[std::min(p, parts.size() - 1)];
        for (std::size_t r = 0; r < part.in.size(); ++r) {
          block.in.push_back(part.in[r].number);
          block.out.push_back(part.out[r].number);
        }
        block.sorts.insert(block.sorts.end(), part.sorts.begin(), part.sorts.end());
        block.orders.insert(block.orders.end(), part.orders.begin(), part.orders.end());
      }
      blocks.push_back(std::move(block));
    }
    return blocks;
  }

  std::size_t width_;
  const std::vector<Slots>& wanted_;
  bool is_ordered_;
  std::vector<std::size_t> wish_of_;  // of each byte
};

}  // namespace

std::optional<Butterfly> butterfly(int width, const std::vector<Slots>& wanted, Wishes wishes) {
  std::vector<Component> parts = components(width, wanted);
  if (parts.empty()) return std::nullopt;
  return Planner(width, wanted, wishes).plan(std::move(parts));
}

}  // namespace mx::kernels::relayout
