#pragma once
// Rows that stand in for those of a table in the build with planted faults: a table with one row changed needs no build of its own. Include this from
// .cpp files only; a shipped build reads its own rows.

#include <cstddef>
#include <span>

namespace mx::fault {

/// Tables that their accessor reads through here.
enum class Table { profiles, contracts, routers, activations, backend_layouts, roundings, exchanges, loaders, units };
inline constexpr std::size_t kTableCount = 9;

#ifdef MXACT_FAULTS
/// Rows of a table.
struct Rows {
  const void* data = nullptr;
  std::size_t count = 0;
};
/// From now on these rows are read instead of the table's own; without data, the table's own again. They must outlive their use. Not thread safe.
void set_stand_in(Table table, Rows rows) noexcept;
Rows stand_in(Table table) noexcept;

template <typename Row>
std::span<const Row> rows_of(Table table, std::span<const Row> own) noexcept {  ///< those that stand in, or the table's own
  const Rows rows = stand_in(table);
  return rows.data == nullptr ? own : std::span<const Row>(static_cast<const Row*>(rows.data), rows.count);
}
#else
template <typename Row>
constexpr std::span<const Row> rows_of(Table, std::span<const Row> own) noexcept {  ///< nothing stands in: the table's own
  return own;
}
#endif

}  // namespace mx::fault
