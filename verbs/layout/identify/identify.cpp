#include "verbs/layout/identify/identify.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <numeric>
#include <string>

#include "kernels/relayout/mover.hpp"
#include "model/layout/address_map.hpp"
#include "model/layout/grains.hpp"
#include "model/layout/packed.hpp"
#include "verbs/layout/where.hpp"

namespace mx::verbs {
namespace {

using layout::AddressMap;
using layout::Layout;

constexpr std::int64_t kChunk = 4096;
constexpr std::int64_t kSampledChunks = 32;   // before a candidate is compared whole
constexpr std::int64_t kPlacedChunks = 4096;  // that tell two programs apart which both make the buffer
constexpr std::ptrdiff_t kMostPartial = 5;
constexpr std::size_t kWrongShown = 5;
constexpr double kNearlyAll = 0.9;

/// Between two of so many chunks; odd, so that they meet every part of a tile.
std::int64_t step_of(const Layout& program, std::int64_t wanted) { return program.cosize() / kChunk / wanted | 1; }

/// The checkpoint's own memory of a backend's tensor; a building block takes rows as they are.
std::optional<Layout> canonical_layout(const Choice& choice) {
  const auto* backend = std::get_if<BackendChoice>(&choice);
  if (backend == nullptr) return std::nullopt;
  return layout::canonical(backend->role, backend->setting.sizes, backend->setting.form);
}

/// Row-major elements of the canonical tensor, as each order of rows reads it.
class RowMajor {
 public:
  explicit RowMajor(std::span<const std::uint8_t> canonical) : canonical_(canonical) {}

  std::span<const std::uint8_t> of(const Choice& choice) {
    const std::optional<Layout> memory = canonical_layout(choice);
    if (!memory) return canonical_;
    const std::string program = memory->describe();
    const auto known = orders_.find(program);
    if (known != orders_.end()) return known->second;
    return orders_.emplace(program, layout::to_row_major(*memory, canonical_)).first->second;
  }

 private:
  std::span<const std::uint8_t> canonical_;
  std::map<std::string, std::vector<std::uint8_t>> orders_;
};

/// A candidate with what it is compared with.
struct Entry {
  Subject subject;
  std::span<const std::uint8_t> units;
  std::string program;  ///< as the layout describes itself
  std::int64_t compared = 0;
  std::int64_t equal = 0;

  double share() const { return compared == 0 ? 0 : static_cast<double>(equal) / static_cast<double>(compared); }
  Match match() const { return {subject.choice, compared, equal}; }
};

/// Calls visit(first address, entries from there) for the chunks 0, step, 2 * step, ... of a program's memory, by all threads.
template <typename Visit>
void for_chunks(const AddressMap& map, std::int64_t step, const Visit& visit) {
  const std::int64_t chunks = (map.size() + step * kChunk - 1) / (step * kChunk);
#pragma omp parallel for schedule(static) if (chunks > 1)
  for (std::int64_t i = 0; i < chunks; ++i) {
    std::array<std::int64_t, kChunk> entries;
    const std::int64_t first = i * step * kChunk;
    const std::span<std::int64_t> chunk = std::span(entries).first(static_cast<std::size_t>(std::min(kChunk, map.size() - first)));
    map.read(first, chunk);
    visit(first, chunk);
  }
}

/// Counts over the chunks 0, step, ... of the buffer.
void count(Entry& entry, std::span<const std::uint8_t> packed, std::int64_t step) {
  const Layout& program = entry.subject.layout;
  const layout::Cast& cast = *entry.subject.cast;
  const int bits = program.grain_bits();
  const int from_bits = cast.keeps() ? bits : cast.from_bits;
  std::atomic<std::int64_t> compared = 0, equal = 0;
  for_chunks(AddressMap(program), step, [&](std::int64_t first, std::span<const std::int64_t> chunk) {
    std::int64_t compared_here = 0, equal_here = 0;
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      if (chunk[i] == Layout::kPadUnwritten) continue;
      const std::int64_t address = first + static_cast<std::int64_t>(i);
      const std::uint64_t wanted =
          chunk[i] < 0 ? layout::pad_grain(chunk[i], address, bits, 0) : cast.make(layout::get_grain(entry.units, chunk[i], from_bits));
      ++compared_here;
      equal_here += wanted == layout::get_grain(packed, address, bits) ? 1 : 0;
    }
    compared += compared_here;
    equal += equal_here;
  });
  entry.compared = compared;
  entry.equal = equal;
}

/// The first addresses at which the buffer is another one.
std::vector<WrongPlace> first_wrong(const Entry& entry, std::span<const std::uint8_t> packed) {
  const Layout& program = entry.subject.layout;
  const layout::Cast& cast = *entry.subject.cast;
  const int bits = program.grain_bits();
  const int from_bits = cast.keeps() ? bits : cast.from_bits;
  const AddressMap map(program);
  std::vector<WrongPlace> wrong;
  std::array<std::int64_t, kChunk> entries;
  for (std::int64_t first = 0; first < map.size() && wrong.size() < kWrongShown; first += kChunk) {
    const std::span<std::int64_t> chunk = std::span(entries).first(static_cast<std::size_t>(std::min(kChunk, map.size() - first)));
    map.read(first, chunk);
    for (std::size_t i = 0; i < chunk.size() && wrong.size() < kWrongShown; ++i) {
      if (chunk[i] == Layout::kPadUnwritten) continue;
      const std::int64_t address = first + static_cast<std::int64_t>(i);
      const std::uint64_t wanted =
          chunk[i] < 0 ? layout::pad_grain(chunk[i], address, bits, 0) : cast.make(layout::get_grain(entry.units, chunk[i], from_bits));
      const std::uint64_t found = layout::get_grain(packed, address, bits);
      if (found != wanted) wrong.push_back({address, address_text(program, address), content_text(program, address), wanted, found});
    }
  }
  return wrong;
}

/// Counts over the whole buffer. Where the fast twin makes just these bytes, every unit is equal.
void count_whole(Entry& entry, std::span<const std::uint8_t> packed) {
  const Layout& program = entry.subject.layout;
  const bool all_written = std::ranges::none_of(program.steps(), [](const layout::Step& step) {
    const auto* pad = std::get_if<layout::Pad>(&step);
    return pad != nullptr && pad->content == layout::PadContent::unwritten;
  });
  const layout::TensorPlan plan{program, entry.subject.cast};
  const int from_bits = entry.subject.cast->keeps() ? program.unit_bits() : entry.subject.cast->from_bits;
  if (all_written &&
      std::ranges::equal(
          kernels::relayout::mover_of(kernels::relayout::MoveBy::plans).place(Layout(program.axes_before(0), from_bits), entry.units, plan),
          packed)) {
    entry.compared = entry.equal = program.cosize();
  } else {
    count(entry, packed, 1);
  }
}

/// True when both read the same units by the same program: what holds of one holds of the other.
bool same_program(const Entry& a, const Entry& b) {
  return a.units.data() == b.units.data() && a.subject.cast == b.subject.cast && a.program == b.program;
}

std::uint64_t mixed(std::uint64_t z) {
  // The finalizer of SplitMix64 (Steele, Lea, Flood 2014).
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

/// From the row-major index of an element to its index in the file.
class FileOrder {
 public:
  explicit FileOrder(const Choice& choice) {
    const std::optional<Layout> memory = canonical_layout(choice);
    if (!memory) return;
    std::vector<std::int64_t> below(memory->logical().size(), 1);
    for (std::size_t i = below.size() - 1; i-- > 0;) below[i] = below[i + 1] * memory->logical()[i + 1].extent;
    const std::optional<std::vector<layout::Digit>> digits = memory->digits();  // a checkpoint's own order always has them
    for (const layout::Digit& digit : digits.value()) {
      digits_.push_back({below[static_cast<std::size_t>(digit.axis)] * digit.weight, digit.radix, digit.stride});
    }
  }
  std::int64_t operator()(std::int64_t index) const {
    if (digits_.empty()) return index;
    std::int64_t out = 0;
    for (const Part& part : digits_) out += index / part.weight % part.radix * part.stride;
    return out;
  }

 private:
  struct Part {
    std::int64_t weight;
    std::int64_t radix;
    std::int64_t stride;
  };
  std::vector<Part> digits_;
};

/// A number that is the same for programs that put every element of the file at the same place, as far as the chunks 0, step, ... tell; padding does
/// not count. Addresses are taken apart into `grain` bits where values are kept.
std::uint64_t placement(const Subject& subject, int grain, std::int64_t step) {
  const FileOrder order(subject.choice);
  const Layout& program = subject.layout;
  const std::int64_t parts_of_unit = program.unit_bits() / program.grain_bits();
  const std::int64_t pieces = subject.cast->keeps() ? program.grain_bits() / grain : 1;
  std::atomic<std::uint64_t> sum = 0;
  for_chunks(AddressMap(program), step, [&](std::int64_t first, std::span<const std::int64_t> chunk) {
    std::uint64_t digest = 0;
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      if (chunk[i] < 0) continue;
      const std::int64_t address = first + static_cast<std::int64_t>(i);
      const std::int64_t in_file = order(chunk[i] / parts_of_unit) * parts_of_unit + chunk[i] % parts_of_unit;
      for (std::int64_t piece = 0; piece < pieces; ++piece) {
        const auto to = static_cast<std::uint64_t>(address * pieces + piece);
        const auto from = static_cast<std::uint64_t>(in_file * pieces + piece);
        digest += mixed(mixed(to + 1) + from);
      }
    }
    sum += digest;
  });
  std::uint64_t digest = sum;
  for (char c : subject.cast->name) digest = mixed(digest + static_cast<unsigned char>(c));
  return digest;
}

/// Exact matches by where they put the elements, in the order in which they were found.
std::vector<std::vector<Match>> grouped(const std::vector<const Entry*>& exact) {
  int grain = 0;
  for (const Entry* entry : exact) {
    if (entry->subject.cast->keeps()) grain = std::gcd(grain, entry->subject.layout.grain_bits());
  }
  struct Place {
    const Entry* entry;
    std::uint64_t where;
    std::size_t group;
  };
  std::vector<Place> places;  // one for each program
  std::vector<std::vector<Match>> groups;
  for (const Entry* entry : exact) {
    auto found = std::ranges::find_if(places, [&](const Place& place) { return same_program(*place.entry, *entry); });
    if (found == places.end()) {
      const std::uint64_t where = placement(entry->subject, grain, step_of(entry->subject.layout, kPlacedChunks));
      found = std::ranges::find(places, where, &Place::where);
      const bool is_new = found == places.end();
      if (is_new) groups.emplace_back();
      places.push_back({entry, where, is_new ? groups.size() - 1 : found->group});
      found = places.end() - 1;
    }
    groups[found->group].push_back(entry->match());
  }
  return groups;
}

bool has_size(const Layout& program, std::size_t bytes) {
  const std::int64_t bits = static_cast<std::int64_t>(bytes) * 8;
  return bits % program.grain_bits() == 0 && bits / program.grain_bits() == program.cosize();
}

}  // namespace

Identification identify(std::span<const std::uint8_t> canonical, std::span<const MatrixShape> matrices, std::span<const std::uint8_t> packed,
                        const std::function<void(double)>& progress) {
  Identification result;
  result.read_as.assign(matrices.begin(), matrices.end());
  result.constant = std::ranges::all_of(canonical, [&](std::uint8_t byte) { return byte == canonical.front(); });
  result.plain = plain_order(canonical, matrices, packed);
  RowMajor row_major(canonical);
  std::vector<Entry> entries;
  for (const MatrixShape& matrix : matrices) {
    for (Subject& subject : candidates_for(matrix)) {
      ++result.known;
      if (!has_size(subject.layout, packed.size())) continue;
      const std::span<const std::uint8_t> units = row_major.of(subject.choice);
      std::string program = subject.layout.describe();
      entries.push_back({std::move(subject), units, std::move(program)});
    }
  }
  result.tried = static_cast<std::int64_t>(entries.size());
  std::vector<const Entry*> exact;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Entry& entry = entries[i];
    const auto earlier = std::ranges::find_if(std::span(entries).first(i), [&](const Entry& one) { return same_program(one, entry); });
    if (earlier != std::span(entries).first(i).end()) {
      entry.compared = earlier->compared;
      entry.equal = earlier->equal;
    } else {
      const std::int64_t step = step_of(entry.subject.layout, kSampledChunks);
      count(entry, packed, step);
      if (step > 1 && entry.equal == entry.compared) count_whole(entry, packed);
    }
    if (entry.equal == entry.compared && entry.compared > 0) exact.push_back(&entry);
    progress(static_cast<double>(i + 1) / static_cast<double>(entries.size()));
  }
  if (!exact.empty()) {
    result.groups = grouped(exact);
    return result;
  }
  if (result.plain) return result;
  std::ranges::stable_sort(entries, std::ranges::greater{}, &Entry::share);
  if (std::ssize(entries) > kMostPartial) entries.erase(entries.begin() + kMostPartial, entries.end());
  for (Entry& entry : entries) {
    count(entry, packed, 1);
    result.partial.push_back(entry.match());
  }
  const auto best = std::ranges::max_element(entries, {}, &Entry::share);
  if (best != entries.end() && best->share() >= kNearlyAll) result.wrong = first_wrong(*best, packed);
  std::ranges::stable_sort(result.partial, std::ranges::greater{}, &Match::share);
  return result;
}

}  // namespace mx::verbs
