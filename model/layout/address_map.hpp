#pragma once
// The address map of a layout, read piece by piece: what lies at the addresses first, first+1, ...
//
// Steps act on one axis or join axes, so the axes of memory fall into groups that never meet (experts, tiles of rows, rows of a tile, columns). The
// logical index of an address is then a sum of one number per group, and those numbers are few: a table per group makes any program as fast as nested
// loops.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/layout/layout.hpp"

namespace mx::layout {

class AddressMap {
 public:
  explicit AddressMap(const Layout& layout);

  std::int64_t size() const { return size_; }  ///< the layout's cosize
  /// Fills `out` with the entries of Layout::gather() from address `first` on. Throws Error(usage) when they are not all there.
  void read(std::int64_t first, std::span<std::int64_t> out) const;

 private:
  /// One axis of memory; `stride` counts entries of its group's table.
  struct MemoryAxis {
    std::int64_t extent;
    std::size_t group;
    std::int64_t stride;
  };
  /// Entries are parts of a logical index, or -1-i where step i padded the position.
  struct Group {
    std::vector<std::int64_t> table;
    bool pads = false;
  };

  void read_run(std::span<const std::int64_t> entries, std::int64_t begin, std::span<std::int64_t> out) const;

  std::int64_t size_;
  std::vector<MemoryAxis> axes_;  // slowest first, without those of extent 1
  std::size_t outer_axes_;        // the axes behind these are one run: neighbours in the table of run_group_
  std::size_t run_group_;
  std::int64_t run_length_;
  std::vector<Group> groups_;
  std::vector<std::int64_t> pad_codes_;  // of a step that pads
};

/// Calls visit(address, entry) for every address of the layout in ascending order, entries as in Layout::gather().
template <class Visit>
void for_each_address(const Layout& layout, Visit visit) {
  const AddressMap map(layout);
  std::array<std::int64_t, 4096> entries;
  for (std::int64_t first = 0; first < map.size();) {
    const std::int64_t count = std::min(map.size() - first, static_cast<std::int64_t>(entries.size()));
    map.read(first, std::span(entries).first(static_cast<std::size_t>(count)));
    for (std::int64_t i = 0; i < count; ++i) visit(first + i, entries[static_cast<std::size_t>(i)]);
    first += count;
  }
}

/// Calls visit(address, entry, count) for the runs of memory in ascending order: `count` addresses from `address` on hold the elements entry, entry +
/// 1,
/// ..., or padding of one kind. A run may go on in the next call.
template <class Visit>
void for_each_run(const Layout& layout, Visit visit) {
  const AddressMap map(layout);
  std::array<std::int64_t, 4096> entries;
  for (std::int64_t first = 0; first < map.size();) {
    const std::int64_t count = std::min(map.size() - first, static_cast<std::int64_t>(entries.size()));
    map.read(first, std::span(entries).first(static_cast<std::size_t>(count)));
    for (std::int64_t begin = 0, end = 0; begin < count; begin = end) {
      const std::int64_t entry = entries[static_cast<std::size_t>(begin)];
      std::int64_t next = entry;
      do next += entry < 0 ? 0 : 1;
      while (++end < count && entries[static_cast<std::size_t>(end)] == next);
      visit(first + begin, entry, end - begin);
    }
    first += count;
  }
}

}  // namespace mx::layout
