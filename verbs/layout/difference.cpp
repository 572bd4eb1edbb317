#include "verbs/layout/difference.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

#include "model/error.hpp"
#include "model/layout/address_map.hpp"
#include "verbs/layout/where.hpp"

namespace mx::verbs {
namespace {

using layout::AddressMap;
using layout::Axis;
using layout::Digit;
using layout::Layout;

constexpr std::int64_t kChunk = 4096;  // addresses that are read at once, and a few more where grains differ
constexpr std::int64_t kBehind = std::numeric_limits<std::int64_t>::min();

std::string shape_text(const Layout& layout) {
  std::string text;
  for (const Axis& axis : layout.axes_before(0)) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis.name, axis.extent);
  return text;
}

/// A layout's map at addresses finer than its own.
class FineMap {
 public:
  FineMap(const Layout& layout, int grain) : layout_(layout), map_(layout), parts_(layout.grain_bits() / grain) {}

  std::int64_t size() const { return map_.size() * parts_; }
  std::int64_t parts() const { return parts_; }
  /// Entries from `first` on, a multiple of the parts; kBehind after the end.
  void read(std::int64_t first, std::span<std::int64_t> out) const {
    const std::int64_t begin = first / parts_;
    const auto count = static_cast<std::size_t>(std::clamp<std::int64_t>(map_.size() - begin, 0, static_cast<std::int64_t>(out.size()) / parts_));
    const auto parts = static_cast<std::size_t>(parts_);
    // The whole entries stand in front; from the last on each becomes its parts.
    if (count > 0) map_.read(begin, out.first(count));
    std::ranges::fill(out.subspan(count * parts), kBehind);
    if (parts == 1) return;
    for (std::size_t whole = count; whole-- > 0;) {
      const std::int64_t entry = out[whole];
      for (std::size_t part = parts; part-- > 0;) out[whole * parts + part] = entry < 0 ? entry : entry * parts_ + static_cast<std::int64_t>(part);
    }
  }
  /// What lies at a fine address.
  std::string text(std::int64_t address, std::int64_t entry) const {
    return entry == kBehind ? "behind the end" : content_text(layout_, address / parts_);
  }

 private:
  const Layout& layout_;
  AddressMap map_;
  std::int64_t parts_;
};

/// What two layouts hold at one address.
struct Pair {
  std::int64_t a;
  std::int64_t b;
};

/// The next element, or more of the same padding.
bool follows(std::int64_t entry, std::int64_t before) { return entry < 0 ? entry == before : entry == before + 1; }

/// Addresses that are read at once: whole entries of both.
std::int64_t chunk_of(const FineMap& a, const FineMap& b) {
  const std::int64_t whole = a.parts() * b.parts();
  return (kChunk + whole - 1) / whole * whole;
}

/// Two memories that are stacks of one part for each index of the first axis. Where they are at parts of different indexes they hold nothing alike
/// but padding.
class Stacks {
 public:
  /// None unless both layouts are stacks.
  static std::optional<Stacks> of(const Layout& a, const Layout& b, int grain) {
    std::optional<Layout> part_a = a.part_of_stack(1), part_b = b.part_of_stack(1);
    if (!part_a || !part_b) return std::nullopt;
    return Stacks(*part_a, *part_b, grain);
  }

  bool of_one_size() const { return size_a_ == size_b_; }
  /// Whether no address of begin..end holds the same in both.
  bool differ(std::int64_t begin, std::int64_t end) const {
    if (padded_alike_) return false;
    return (end - 1) / size_a_ < begin / size_b_ || (end - 1) / size_b_ < begin / size_a_;
  }

 private:
  Stacks(const Layout& a, const Layout& b, int grain) {
    const FineMap map_a(a, grain), map_b(b, grain);
    size_a_ = map_a.size();
    size_b_ = map_b.size();
    padded_alike_ = (padding_of(map_a, chunk_of(map_a, map_b)) & padding_of(map_b, chunk_of(map_a, map_b))) != 0;
  }

  /// The kinds of padding in a memory, a bit for each.
  static unsigned padding_of(const FineMap& map, std::int64_t chunk) {
    unsigned kinds = 0;
#pragma omp parallel for schedule(static) reduction(| : kinds)
    for (std::int64_t first = 0; first < map.size(); first += chunk) {
      thread_local std::vector<std::int64_t> entries;
      entries.resize(static_cast<std::size_t>(chunk));
      map.read(first, entries);
      for (const std::int64_t entry : entries) kinds |= entry < 0 && entry != kBehind ? 1U << -entry : 0U;
    }
    return kinds;
  }

  std::int64_t size_a_ = 0;
  std::int64_t size_b_ = 0;
  bool padded_alike_ = false;
};

/// Addresses of first..end that hold different entries, by all threads.
std::int64_t differing_in(std::int64_t first, std::int64_t end, const FineMap& a, const FineMap& b, const std::optional<Stacks>& stacks) {
  const std::int64_t chunk = chunk_of(a, b);
  std::int64_t differing = 0;
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : differing)
  for (std::int64_t begin = first; begin < end; begin += chunk) {
    const std::int64_t count = std::min(chunk, end - begin);
    if (stacks && stacks->differ(begin, begin + count)) {
      differing += count;
      continue;
    }
    thread_local std::vector<std::int64_t> entries_a, entries_b;
    entries_a.resize(static_cast<std::size_t>(chunk));
    entries_b.resize(static_cast<std::size_t>(chunk));
    a.read(begin, entries_a);
    b.read(begin, entries_b);
    for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) differing += entries_a[k] != entries_b[k] ? 1 : 0;
  }
  return differing;
}

std::vector<Digit> without(const std::vector<Digit>& digits, const std::vector<Digit>& others) {
  std::vector<Digit> out;
  std::ranges::copy_if(digits, std::back_inserter(out), [&](const Digit& digit) { return std::ranges::find(others, digit) == others.end(); });
  return out;
}

void check_tensors(const Layout& a, const Layout& b) {
  const auto same = [](const Axis& one, const Axis& other) { return one.extent == other.extent; };
  if (std::ranges::equal(a.axes_before(0), b.axes_before(0), same)) return;
  throw Error(ErrorCode::usage, fmt::format("they take different tensors: [{}] and [{}]", shape_text(a), shape_text(b)), "diff");
}

}  // namespace

LayoutDifference difference(const Subject& a, const Subject& b, std::size_t most) {
  check_tensors(a.layout, b.layout);
  LayoutDifference result;
  if (a.cast != b.cast || a.layout.unit_bits() != b.layout.unit_bits()) {
    result.values = fmt::format("{} of {} bits and {} of {} bits", a.cast->name, a.layout.unit_bits(), b.cast->name, b.layout.unit_bits());
    return result;
  }
  result.grain_bits = std::gcd(a.layout.grain_bits(), b.layout.grain_bits());
  const FineMap map_a(a.layout, result.grain_bits);
  const FineMap map_b(b.layout, result.grain_bits);
  result.addresses = std::max(map_a.size(), map_b.size());
  const std::int64_t chunk = chunk_of(map_a, map_b);
  const std::optional<Stacks> stacks = Stacks::of(a.layout, b.layout, result.grain_bits);
  // What differs in one part of equal stacks differs in all of them.
  const std::int64_t parts = a.layout.logical().front().extent;
  std::optional<std::int64_t> all;
  if (stacks && stacks->of_one_size()) all = parts * differing_in(0, result.addresses / parts, map_a, map_b, {});
  std::vector<std::int64_t> entries_a(static_cast<std::size_t>(chunk));
  std::vector<std::int64_t> entries_b(static_cast<std::size_t>(chunk));
  Pair last{};
  std::int64_t length = 0;
  std::size_t runs = 0;
  std::int64_t last_address = -1;
  std::int64_t first = 0;
  for (; all != 0 && first < result.addresses && runs <= most; first += chunk) {
    map_a.read(first, entries_a);
    map_b.read(first, entries_b);
    if (entries_a == entries_b) continue;
    for (std::size_t i = 0; i < entries_a.size(); ++i) {
      const Pair pair{entries_a[i], entries_b[i]};
      if (pair.a == pair.b) continue;
      ++result.differing;
      const std::int64_t address = first + static_cast<std::int64_t>(i);
      const bool goes_on = address == last_address + 1 && follows(pair.a, last.a) && follows(pair.b, last.b);
      last = pair;
      last_address = address;
      if (goes_on) {
        ++length;
      } else {
        length = 1;
        ++runs;
        if (runs <= most) result.first.push_back({address, 0, map_a.text(address, pair.a), map_b.text(address, pair.b)});
      }
      if (runs <= most) result.first.back().count = length;
    }
  }
  result.differing = all ? *all : result.differing + differing_in(first, result.addresses, map_a, map_b, stacks);
  const auto digits_a = a.layout.digits();
  const auto digits_b = b.layout.digits();
  if (result.differing > 0 && digits_a && digits_b && a.layout.grain_bits() == b.layout.grain_bits()) {
    result.only_a = without(*digits_a, *digits_b);
    result.only_b = without(*digits_b, *digits_a);
  }
  return result;
}

}  // namespace mx::verbs
