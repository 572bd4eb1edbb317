// What a run says, to people and to programs.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "golden/witness/ledger.hpp"
#include "golden/witness/witness.hpp"
#include "support/json.hpp"
#include "support/quote.hpp"

namespace mx::golden {

namespace {

constexpr struct {
  EntryStatus status;
  std::string_view name;
  std::string_view text;
} kStatuses[] = {
    {EntryStatus::equal, "equal", "equal"},
    {EntryStatus::differs, "differs", "DIFFERS"},
    {EntryStatus::unmodelled, "unmodelled", "unmodelled"},
    {EntryStatus::mistrusted, "mistrusted", "MISTRUSTED"},
    {EntryStatus::nothing_compared, "nothing_compared", "nothing compared"},
};

template <typename Member>
std::int64_t sum(const SetResult& set, Member member) {
  std::int64_t total = 0;
  for (const EntryResult& entry : set.entries) total += entry.*member;
  return total;
}

std::string excuses_text(std::span<const ExcusedCount> excuses, std::string_view indent) {
  std::string text;
  for (const ExcusedCount& one : excuses) {
    text += fmt::format("{}{} excused: {}/{}/{}: {}\n", indent, one.count, one.row->implementation, one.row->device, one.row->build, one.row->reason);
  }
  return text;
}

sim::Json excuses_json(std::span<const ExcusedCount> excuses) {
  auto json = sim::Json::array();
  for (const ExcusedCount& one : excuses) {
    sim::Json row;
    row["implementation"] = one.row->implementation;
    row["device"] = one.row->device;
    row["build"] = one.row->build;
    row["condition"] = condition_text(*one.row);
    row["reason"] = one.row->reason;
    row["count"] = one.count;
    json.push_back(std::move(row));
  }
  return json;
}

bool counts(const EntryResult& entry) { return entry.level != "info"; }

std::string entry_text(const EntryResult& entry) {
  std::string text = fmt::format("  {:<16} {} [{}{}]", kStatuses[static_cast<std::size_t>(entry.status)].text, sim::printable(entry.id),
                                 sim::printable(entry.what), counts(entry) ? "" : ", info");
  if (entry.status == EntryStatus::differs) {
    text += fmt::format(": {} of {} values differ", entry.differing, entry.compared);
  } else if (entry.compared > 0) {
    text += fmt::format(": {} values", entry.compared);
  }
  if (entry.excused > 0) text += fmt::format(", {} excused", entry.excused);
  if (entry.compared > 0 && entry.skipped > 0) text += fmt::format(", {} skipped", entry.skipped);
  if (!entry.reason.empty()) text += ": " + entry.reason;
  text += "\n";
  text += excuses_text(entry.excuses, "      ");
  for (const std::string& difference : entry.differences) text += "      " + difference + "\n";
  return text;
}

// Entries that were not compared for one reason are one line: a set can have dozens of them.
std::string grouped_text(const SetResult& set, EntryStatus status) {
  std::map<std::string, std::vector<const EntryResult*>> by_reason;
  for (const EntryResult& entry : set.entries) {
    if (entry.status == status) by_reason[entry.reason].push_back(&entry);
  }
  std::string text;
  for (const auto& [reason, entries] : by_reason) {
    const auto must = std::count_if(entries.begin(), entries.end(), [](const EntryResult* entry) { return counts(*entry); });
    const std::string how_many = entries.size() == 1 ? "1 entry" : fmt::format("{} entries", entries.size());
    text += fmt::format("  {:<16} {}: {} ({} must), {}{}\n", kStatuses[static_cast<std::size_t>(status)].text, reason, how_many, must,
                        entries.size() == 1 ? "" : "e.g. ", sim::printable(entries.front()->id));
  }
  return text;
}

}  // namespace

std::string_view name_of(EntryStatus status) { return kStatuses[static_cast<std::size_t>(status)].name; }

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

sim::Json to_json(const SetResult& set) {
  sim::Json json;
  json["path"] = set.path.string();
  json["set"] = set.name;
  json["format"] = set.format;
  json["compared"] = set.compared();
  json["differing"] = set.differing();
  json["excused"] = set.excused();
  json["skipped"] = set.skipped();
  for (const auto& row : kStatuses) json["entries_" + std::string(row.name)] = set.count(row.status);
  json["excuses"] = excuses_json(set.excuses());
  auto& entries = json["entries"] = sim::Json::array();
  for (const EntryResult& entry : set.entries) {
    sim::Json one;
    one["id"] = entry.id;
    one["level"] = entry.level;
    one["what"] = entry.what;
    one["status"] = name_of(entry.status);
    one["compared"] = entry.compared;
    one["differing"] = entry.differing;
    one["excused"] = entry.excused;
    one["skipped"] = entry.skipped;
    if (!entry.excuses.empty()) one["excuses"] = excuses_json(entry.excuses);
    if (!entry.reason.empty()) one["reason"] = entry.reason;
    if (!entry.differences.empty()) one["differences"] = entry.differences;
    entries.push_back(std::move(one));
  }
  return json;
}

std::string to_text(const SetResult& set, bool verbose) {
  std::string text = fmt::format("{}: {} ({})\n", set.path.string(), sim::printable(set.name), set.format);
  text += fmt::format("  {} values compared, {} differ, {} excused, {} skipped; entries: {} equal, {} differ, {} unmodelled, {} not compared\n",
                      set.compared(), set.differing(), set.excused(), set.skipped(), set.count(EntryStatus::equal), set.count(EntryStatus::differs),
                      set.count(EntryStatus::unmodelled), set.count(EntryStatus::nothing_compared));
  text += excuses_text(set.excuses(), "  ");
  for (const EntryResult& entry : set.entries) {
    if (verbose || entry.status == EntryStatus::differs || entry.excused > 0) text += entry_text(entry);
  }
  if (!verbose) {
    for (const EntryStatus status : {EntryStatus::mistrusted, EntryStatus::unmodelled, EntryStatus::nothing_compared})
      text += grouped_text(set, status);
  }
  return text;
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
  for (const SetResult& set : sets) {
    for (const EntryResult& entry : set.entries) {
      compared += entry.compared;
      differs = differs || (counts(entry) && entry.status == EntryStatus::differs);
      mistrusted = mistrusted || (counts(entry) && entry.status == EntryStatus::mistrusted);
      unmodelled = unmodelled || (counts(entry) && entry.status == EntryStatus::unmodelled);
    }
  }
  if (differs) return kFailed;
  if (compared == 0 || mistrusted) return kNothing;
  return unmodelled && !allow_unmodelled ? kUnsupported : kPassed;
}

}  // namespace mx::golden
