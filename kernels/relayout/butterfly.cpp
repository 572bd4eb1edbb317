#include "kernels/relayout/butterfly.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>

namespace mx::kernels::relayout {
namespace {

constexpr int kMostLevels = 3;

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

class Planner {
 public:
  Planner(int width, const std::vector<Slots>& wanted) : width_(static_cast<std::size_t>(width)), wanted_(wanted), wish_of_(wanted.size() * width_) {
    for (std::size_t w = 0; w < wanted.size(); ++w) {
      for (std::int32_t byte : wanted[w]) wish_of_[static_cast<std::size_t>(byte)] = w;
    }
  }

  Butterfly plan(std::vector<Component> parts) {
    Butterfly passes;
    const auto all = static_cast<int>(std::bit_width(parts.front().registers.size())) - 1;
    const int pass_count = std::max(1, (all + kMostLevels - 1) / kMostLevels);
    int left = all;
    for (int pass = pass_count; pass > 0; --pass) {
      const int levels = (left + pass - 1) / pass;
      passes.push_back(do_pass(parts, levels));
      left -= levels;
    }
    return passes;
  }

 private:
  /// Eight registers that move together, of one or of several components.
  struct Part {
    std::vector<Register> registers;
    std::vector<std::vector<std::size_t>> groups;  ///< per output: the wishes that its bytes are for
    std::vector<int> outputs;                      ///< numbers
  };

  /// Levels over each 2^levels registers of a component; the components are then those of the outputs that serve the same wishes.
  std::vector<Block> do_pass(std::vector<Component>& parts, int levels) {
    const std::size_t radix = std::size_t{1} << levels;
    std::vector<Part> work;
    std::vector<Component> next;
    int number = 0;
    for (const Component& component : parts) {
      const std::size_t share = component.wishes.size() / radix;
      const std::size_t first = next.size();
      next.resize(first + radix);
      for (std::size_t g = 0; g < radix; ++g) {
        const auto begin = component.wishes.begin() + static_cast<std::ptrdiff_t>(g * share);
        next[first + g].wishes.assign(begin, begin + static_cast<std::ptrdiff_t>(share));
      }
      for (std::size_t b = 0; b < component.registers.size(); b += radix) {
        Part part{
            {component.registers.begin() + static_cast<std::ptrdiff_t>(b), component.registers.begin() + static_cast<std::ptrdiff_t>(b + radix)},
            {},
            {}};
        for (std::size_t g = 0; g < radix; ++g) {
          part.groups.push_back(next[first + g].wishes);
          part.outputs.push_back(share == 1 ? static_cast<int>(next[first + g].wishes.front()) : number++);
          next[first + g].registers.push_back({part.outputs.back(), {}});
        }
        work.push_back(std::move(part));
      }
    }
    std::vector<Block> blocks;
    // One register alone takes part in a level that leaves pairs apart.
    const int done = std::max(levels, 1);
    const std::size_t per_block = static_cast<std::size_t>(kBlock) / radix;
    std::map<int, Slots> made;
    for (std::size_t first = 0; first < work.size(); first += per_block) {
      Block block{{}, {}, done, {}};
      std::vector<Register> registers;
      std::vector<std::vector<std::size_t>> groups;
      for (std::size_t p = 0; p < per_block; ++p) {
        const Part& part = work[std::min(first + p, work.size() - 1)];
        for (std::size_t r = 0; r < radix; ++r) {
          block.in[registers.size()] = part.registers[r].number;
          block.out[registers.size()] = part.outputs[r];
          registers.push_back(part.registers[r]);
          groups.push_back(part.groups[r]);
        }
      }
      for (int level = 0; level < done; ++level) registers = one_level(block, registers, groups, std::size_t{1} << (done - level), radix == 1);
      for (std::size_t r = 0; r < registers.size(); ++r) made[block.out[r]] = registers[r].slots;
      blocks.push_back(std::move(block));
    }
    for (Component& component : next) {
      for (Register& reg : component.registers) reg.slots = made[reg.number];
    }
    parts = std::move(next);
    return blocks;
  }

  /// New registers of a level: the bytes of a pair that go to the lower or the upper half of the part's outputs, in their final order once they are
  /// all of one wish.
  std::vector<Register> one_level(Block& block, const std::vector<Register>& old, const std::vector<std::vector<std::size_t>>& groups,
                                  std::size_t size, bool alone) {
    std::vector<Register> made(old.size());
    const std::size_t half = size / 2;
    for (std::size_t base = 0; base < old.size(); base += size) {
      for (std::size_t i = 0; i < size; ++i) {
        const std::size_t pair = base + 2 * (i % half);
        // Outputs base .. of the part that this register still serves: as many as its half holds.
        std::set<std::size_t> wishes;
        const std::size_t first = alone ? base + i : base + (i / half) * half;
        for (std::size_t g = first; g < (alone ? first + 1 : first + half); ++g) wishes.insert(groups[g].begin(), groups[g].end());
        const Register nothing{};
        made[base + i].slots = alone ? slots_for(old[base + i], nothing, wishes) : slots_for(old[pair], old[pair + 1], wishes);
        block.indexes.push_back(index_of(old[pair], old[pair + 1], made[base + i].slots));
      }
    }
    return made;
  }

  Slots slots_for(const Register& a, const Register& b, const std::set<std::size_t>& wishes) const {
    Slots slots;
    for (const Register* reg : {&a, &b}) {
      for (std::int32_t byte : reg->slots) {
        if (byte >= 0 && wishes.contains(wish_of_[static_cast<std::size_t>(byte)])) slots.push_back(byte);
      }
    }
    const bool whole = wishes.size() == 1 && slots.size() == width_;
    return whole ? wanted_[*wishes.begin()] : slots;
  }

  std::vector<std::int16_t> index_of(const Register& a, const Register& b, const Slots& slots) const {
    std::vector<std::int16_t> index;
    for (std::int32_t byte : slots) {
      const auto in_a = std::ranges::find(a.slots, byte);
      const auto in_b = std::ranges::find(b.slots, byte);
      index.push_back(
          static_cast<std::int16_t>(in_a != a.slots.end() ? in_a - a.slots.begin() : in_b - b.slots.begin() + static_cast<std::ptrdiff_t>(width_)));
    }
    return index;
  }

  std::size_t width_;
  const std::vector<Slots>& wanted_;
  std::vector<std::size_t> wish_of_;  // of each byte
};

}  // namespace

std::optional<Butterfly> butterfly(int width, const std::vector<Slots>& wanted) {
  std::vector<Component> parts = components(width, wanted);
  if (parts.empty()) return std::nullopt;
  return Planner(width, wanted).plan(std::move(parts));
}

}  // namespace mx::kernels::relayout
