#include "kernels/relayout/network.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

namespace mx::kernels::relayout {
namespace {

struct Register {
  int number;
  Slots slots;
};

/// A wish and where it stands in the list of results.
struct Wish {
  const Slots* slots;
  std::size_t position;
};

class Router {
 public:
  Router(int width, std::size_t count, int& next) : width_(static_cast<std::size_t>(width)), next_(next) { routes_.results.resize(count); }

  /// Halves the wishes and pairs the registers until two registers are left: where every wish takes an equal share of every register that is one
  /// step per wish and halving. Registers that do not pack stay as they are.
  void go(const std::vector<Register>& all, const std::vector<Wish>& wishes) {
    const std::vector<Register> registers = holding(all, wishes);
    if (registers.size() <= 2) {
      for (const Wish& wish : wishes) routes_.results[wish.position] = join(registers, *wish.slots).number;
      return;
    }
    if (wishes.size() == 1) return go(packed(registers, wishes), wishes);
    const auto middle = wishes.begin() + static_cast<std::ptrdiff_t>((wishes.size() + 1) / 2);
    const std::vector<Wish> low(wishes.begin(), middle);
    const std::vector<Wish> high(middle, wishes.end());
    const bool pack = packs(registers, low) && packs(registers, high);
    go(pack ? packed(registers, low) : registers, low);
    go(pack ? packed(registers, high) : registers, high);
  }

  Routes routes() { return std::move(routes_); }

 private:
  using Bytes = std::set<std::int32_t>;

  static Bytes bytes_of(const std::vector<Wish>& wishes) {
    Bytes bytes;
    for (const Wish& wish : wishes) bytes.insert(wish.slots->begin(), wish.slots->end());
    bytes.erase(-1);
    return bytes;
  }

  static Slots wanted_of(const Register& reg, const Bytes& bytes) {
    Slots slots;
    std::ranges::copy_if(reg.slots, std::back_inserter(slots), [&](std::int32_t byte) { return byte >= 0 && bytes.contains(byte); });
    return slots;
  }

  static std::vector<Register> holding(const std::vector<Register>& registers, const std::vector<Wish>& wishes) {
    const Bytes bytes = bytes_of(wishes);
    std::vector<Register> out;
    std::ranges::copy_if(registers, std::back_inserter(out), [&](const Register& reg) { return !wanted_of(reg, bytes).empty(); });
    return out;
  }

  /// Whether what is wanted of each pair of neighbours fits one register.
  bool packs(const std::vector<Register>& registers, const std::vector<Wish>& wishes) const {
    const Bytes bytes = bytes_of(wishes);
    for (std::size_t i = 0; i + 1 < registers.size(); i += 2) {
      if (wanted_of(registers[i], bytes).size() + wanted_of(registers[i + 1], bytes).size() > width_) return false;
    }
    return true;
  }

  std::vector<Register> packed(const std::vector<Register>& registers, const std::vector<Wish>& wishes) {
    const Bytes bytes = bytes_of(wishes);
    std::vector<Register> out;
    for (std::size_t i = 0; i + 1 < registers.size(); i += 2) {
      Slots slots = wanted_of(registers[i], bytes);
      const Slots more = wanted_of(registers[i + 1], bytes);
      slots.insert(slots.end(), more.begin(), more.end());
      slots.resize(width_, -1);
      out.push_back(join({registers[i], registers[i + 1]}, slots));
    }
    if (registers.size() % 2 != 0) out.push_back(registers.back());
    return out;
  }

  /// A register of the slots, whose bytes at most two registers hold.
  Register join(const std::vector<Register>& registers, const Slots& slots) {
    Step2 step{next_++, 0, 0, std::vector<std::int16_t>(width_, -1)};
    if (!registers.empty()) {
      step.a = registers.front().number;
      step.b = registers.back().number;
    }
    for (std::size_t i = 0; i < slots.size(); ++i) {
      for (std::size_t r = 0; r < registers.size() && slots[i] >= 0 && step.index[i] < 0; ++r) {
        const auto found = std::ranges::find(registers[r].slots, slots[i]);
        if (found != registers[r].slots.end()) {
          step.index[i] = static_cast<std::int16_t>(static_cast<std::size_t>(found - registers[r].slots.begin()) + (r == 0 ? 0 : width_));
        }
      }
    }
    const int number = step.out;
    routes_.steps.push_back(std::move(step));
    return {number, slots};
  }

  std::size_t width_;
  int& next_;
  Routes routes_;
};

std::size_t root(std::vector<std::size_t>& parent, std::size_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

/// The registers that hold what is wished for.
std::vector<Register> registers_of(int width, int first_register, const std::vector<Wish>& wishes) {
  std::set<std::int32_t> numbers;
  for (const Wish& wish : wishes) {
    for (std::int32_t byte : *wish.slots) {
      if (byte >= 0) numbers.insert(byte / width);
    }
  }
  std::vector<Register> registers;
  for (std::int32_t number : numbers) {
    Register reg{first_register + number, Slots(static_cast<std::size_t>(width))};
    std::iota(reg.slots.begin(), reg.slots.end(), number * width);
    registers.push_back(std::move(reg));
  }
  return registers;
}

/// Steps by how many stand before them, those of each depth filled up to whole groups.
std::vector<Step2> in_groups(std::vector<Step2> steps, std::size_t group) {
  std::unordered_map<int, std::size_t> depth;
  std::map<std::size_t, std::vector<Step2>> levels;
  for (Step2& step : steps) {
    const std::size_t level = 1 + std::max(depth[step.a], depth[step.b]);
    depth[step.out] = level;
    levels[level].push_back(std::move(step));
  }
  std::vector<Step2> out;
  for (auto& [level, members] : levels) {
    while (members.size() % group != 0) members.push_back(members.back());
    out.insert(out.end(), members.begin(), members.end());
  }
  return out;
}

}  // namespace

Routes route(int width, int first_register, const std::vector<Slots>& wanted, int group, int& next) {
  // Wishes that share no register are independent of each other.
  std::map<Slots, std::size_t> firsts;
  std::vector<std::size_t> same(wanted.size());
  std::vector<std::size_t> parent(wanted.size());
  std::unordered_map<std::int32_t, std::size_t> user;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    same[i] = firsts.emplace(wanted[i], i).first->second;
    parent[i] = i;
    for (std::int32_t byte : wanted[i]) {
      if (byte < 0) continue;
      const auto [known, is_new] = user.emplace(byte / width, i);
      if (!is_new) parent[root(parent, i)] = root(parent, known->second);
    }
  }
  Router router(width, wanted.size(), next);
  std::map<std::size_t, std::vector<Wish>> groups;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (same[i] == i) groups[root(parent, i)].push_back({&wanted[i], i});
  }
  for (const auto& [leader, wishes] : groups) router.go(registers_of(width, first_register, wishes), wishes);
  Routes routes = router.routes();
  for (std::size_t i = 0; i < wanted.size(); ++i) routes.results[i] = routes.results[same[i]];
  routes.steps = in_groups(std::move(routes.steps), static_cast<std::size_t>(group));
  return routes;
}

}  // namespace mx::kernels::relayout
