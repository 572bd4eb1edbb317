#include "verbs/layout/identify/identify.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "model/layout/address_map.hpp"
#include "model/layout/grains.hpp"
#include "model/layout/packed.hpp"

namespace mx::golden {
namespace {

using layout::AddressMap;
using layout::Layout;

constexpr std::int64_t kChunk = 4096;
constexpr std::int64_t kSampledChunks = 32;
constexpr std::ptrdiff_t kMostPartial = 5;

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
  std::int64_t compared = 0;
  std::int64_t equal = 0;

  double share() const { return compared == 0 ? 0 : static_cast<double>(equal) / static_cast<double>(compared); }
  Match match() const { return {subject.choice, compared, equal}; }
};

/// Counts over the chunks first, first + step, ... of the buffer.
void count(Entry& entry, std::span<const std::uint8_t> packed, std::int64_t step) {
  const Layout& program = entry.subject.layout;
  const layout::Cast& cast = *entry.subject.cast;
  const int bits = program.grain_bits();
  const int from_bits = cast.keeps() ? bits : cast.from_bits;
  const AddressMap map(program);
  std::vector<std::int64_t> entries(static_cast<std::size_t>(kChunk));
  entry.compared = 0;
  entry.equal = 0;
  for (std::int64_t first = 0; first < map.size(); first += step * kChunk) {
    const std::span<std::int64_t> chunk = std::span(entries).first(static_cast<std::size_t>(std::min(kChunk, map.size() - first)));
    map.read(first, chunk);
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      if (chunk[i] == Layout::kPadUnwritten) continue;
      const std::int64_t address = first + static_cast<std::int64_t>(i);
      const std::uint64_t wanted =
          chunk[i] < 0 ? layout::pad_grain(chunk[i], address, bits, 0) : cast.make(layout::get_grain(entry.units, chunk[i], from_bits));
      ++entry.compared;
      entry.equal += wanted == layout::get_grain(packed, address, bits) ? 1 : 0;
    }
  }
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

/// A number that is the same for programs that put every element of the file at the same place; padding does not count. Addresses are taken apart
/// into `grain` bits where values are kept.
std::uint64_t placement(const Subject& subject, int grain) {
  const FileOrder order(subject.choice);
  const Layout& program = subject.layout;
  const std::int64_t parts_of_unit = program.unit_bits() / program.grain_bits();
  const std::int64_t pieces = subject.cast->keeps() ? program.grain_bits() / grain : 1;
  std::uint64_t digest = 0;
  layout::for_each_address(program, [&](std::int64_t address, std::int64_t entry) {
    if (entry < 0) return;
    const std::int64_t in_file = order(entry / parts_of_unit) * parts_of_unit + entry % parts_of_unit;
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      const auto to = static_cast<std::uint64_t>(address * pieces + piece);
      const auto from = static_cast<std::uint64_t>(in_file * pieces + piece);
      digest += mixed(mixed(to + 1) + from);
    }
  });
  for (char c : subject.cast->name) digest = mixed(digest + static_cast<unsigned char>(c));
  return digest;
}

/// Exact matches by where they put the elements, in the order in which they were found.
std::vector<std::vector<Match>> grouped(const std::vector<const Entry*>& exact) {
  int grain = 0;
  for (const Entry* entry : exact) {
    if (entry->subject.cast->keeps()) grain = std::gcd(grain, entry->subject.layout.grain_bits());
  }
  std::map<std::uint64_t, std::size_t> group_of;
  std::vector<std::vector<Match>> groups;
  for (const Entry* entry : exact) {
    const auto [found, is_new] = group_of.emplace(placement(entry->subject, grain), groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].push_back(entry->match());
  }
  return groups;
}

bool has_size(const Layout& program, std::size_t bytes) {
  const std::int64_t bits = static_cast<std::int64_t>(bytes) * 8;
  return bits % program.grain_bits() == 0 && bits / program.grain_bits() == program.cosize();
}

}  // namespace

Identification identify(std::span<const std::uint8_t> canonical, std::span<const Matrix> matrices, std::span<const std::uint8_t> packed,
                        const std::function<void(double)>& progress) {
  Identification result;
  result.read_as.assign(matrices.begin(), matrices.end());
  result.constant = std::ranges::all_of(canonical, [&](std::uint8_t byte) { return byte == canonical.front(); });
  RowMajor row_major(canonical);
  std::vector<Entry> entries;
  for (const Matrix& matrix : matrices) {
    for (Subject& subject : candidates_for(matrix)) {
      ++result.known;
      if (!has_size(subject.layout, packed.size())) continue;
      const std::span<const std::uint8_t> units = row_major.of(subject.choice);
      entries.push_back({std::move(subject), units});
    }
  }
  result.tried = static_cast<std::int64_t>(entries.size());
  std::vector<const Entry*> exact;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Entry& entry = entries[i];
    const std::int64_t chunks = (entry.subject.layout.cosize() + kChunk - 1) / kChunk;
    const std::int64_t step = std::max<std::int64_t>(1, chunks / kSampledChunks);
    count(entry, packed, step);
    if (step > 1 && entry.equal == entry.compared) count(entry, packed, 1);
    if (entry.equal == entry.compared && entry.compared > 0) exact.push_back(&entry);
    progress(static_cast<double>(i + 1) / static_cast<double>(entries.size()));
  }
  if (!exact.empty()) {
    result.groups = grouped(exact);
    return result;
  }
  std::ranges::stable_sort(entries, std::ranges::greater{}, &Entry::share);
  if (std::ssize(entries) > kMostPartial) entries.erase(entries.begin() + kMostPartial, entries.end());
  for (Entry& entry : entries) {
    count(entry, packed, 1);
    result.partial.push_back(entry.match());
  }
  std::ranges::stable_sort(result.partial, std::ranges::greater{}, &Match::share);
  return result;
}

}  // namespace mx::golden
