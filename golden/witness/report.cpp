// What a run comes to.

#include "golden/witness/ledger.hpp"
#include "golden/witness/witness.hpp"

namespace mx::golden {

namespace {

constexpr std::string_view kNames[] = {"equal", "differs", "unmodelled", "mistrusted", "nothing_compared"};

template <typename Member>
std::int64_t sum(const SetResult& set, Member member) {
  std::int64_t total = 0;
  for (const EntryResult& entry : set.entries) total += entry.*member;
  return total;
}

}  // namespace

std::string_view name_of(EntryStatus status) { return kNames[static_cast<std::size_t>(status)]; }

std::int64_t SetResult::count(EntryStatus status) const {
  std::int64_t total = 0;
  for (const EntryResult& entry : entries) total += entry.status == status ? 1 : 0;
  return total;
}
std::int64_t SetResult::compared() const { return sum(*this, &EntryResult::compared); }
std::int64_t SetResult::differing() const { return sum(*this, &EntryResult::differing); }
std::int64_t SetResult::excused() const { return sum(*this, &EntryResult::excused); }
std::int64_t SetResult::skipped() const { return sum(*this, &EntryResult::skipped); }

std::vector<ExcusedCount> SetResult::excuses() const {
  std::vector<ExcusedCount> all;
  for (const LedgerRow& row : ledger()) {
    std::int64_t count = 0;
    for (const EntryResult& entry : entries) {
      for (const ExcusedCount& one : entry.excuses) count += one.row == &row ? one.count : 0;
    }
    if (count > 0) all.push_back({&row, count});
  }
  return all;
}

int exit_code(std::span<const SetResult> sets, bool allow_unmodelled) {
  constexpr int kPassed = 0;
  constexpr int kFailed = 1;
  constexpr int kUnsupported = 4;
  constexpr int kNothing = 5;
  std::int64_t compared = 0;
  bool differs = false;
  bool mistrusted = false;
  bool unmodelled = false;
  bool unreadable = false;
  for (const SetResult& set : sets) {
    unreadable = unreadable || !set.readable;
    for (const EntryResult& entry : set.entries) {
      compared += entry.compared;
      differs = differs || (entry.counts() && entry.status == EntryStatus::differs);
      mistrusted = mistrusted || (entry.counts() && entry.status == EntryStatus::mistrusted);
      unmodelled = unmodelled || (entry.counts() && entry.status == EntryStatus::unmodelled);
    }
  }
  if (differs) return kFailed;
  if (compared == 0 || unreadable || mistrusted) return kNothing;
  return unmodelled && !allow_unmodelled ? kUnsupported : kPassed;
}

}  // namespace mx::golden
