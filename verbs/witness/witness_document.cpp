#include "verbs/witness/witness_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "golden/witness/ledger.hpp"
#include "support/quote.hpp"

namespace mx::verbs {
namespace {

using golden::EntryResult;
using golden::EntryStatus;
using golden::ExcusedCount;
using golden::LedgerRow;
using golden::SetResult;
using support::CheckEnd;

struct StatusRow {
  EntryStatus status;
  std::string_view text;
  CheckEnd end;
};
constexpr StatusRow kStatuses[] = {{EntryStatus::equal, "equal", CheckEnd::passed},
                                   {EntryStatus::differs, "DIFFERS", CheckEnd::failed},
                                   {EntryStatus::unmodelled, "unmodelled", CheckEnd::skipped},
                                   {EntryStatus::mistrusted, "MISTRUSTED", CheckEnd::mistrusted},
                                   {EntryStatus::nothing_compared, "nothing compared", CheckEnd::skipped}};
const StatusRow& row_of(EntryStatus status) { return *std::ranges::find(kStatuses, status, &StatusRow::status); }

std::string who(const LedgerRow& row) { return fmt::format("{}/{}/{}", row.implementation, row.device, row.build); }

std::string excuses_text(std::span<const ExcusedCount> excuses, std::string_view indent) {
  std::string text;
  for (const ExcusedCount& one : excuses) text += fmt::format("{}{} excused: {}: {}\n", indent, one.count, who(*one.row), one.row->reason);
  return text;
}

Json excuses_json(std::span<const ExcusedCount> excuses) {
  Table table{{}, {in_json("implementation"), in_json("device"), in_json("build"), in_json("condition"), in_json("reason"), in_json("count")}};
  for (const ExcusedCount& one : excuses)
    table.add({one.row->implementation, one.row->device, one.row->build, golden::condition_text(*one.row), one.row->reason, one.count});
  return table.json();
}

/// ": 3 of 10 values differ, 1 excused: why"
std::string evidence(const EntryResult& entry) {
  std::string text;
  if (entry.status == EntryStatus::differs) {
    text += fmt::format(": {} of {} values differ", entry.differing, entry.compared);
  } else if (entry.compared > 0) {
    text += fmt::format(": {} values", entry.compared);
  }
  if (entry.excused > 0) text += fmt::format(", {} excused", entry.excused);
  if (entry.compared > 0 && entry.skipped > 0) text += fmt::format(", {} skipped", entry.skipped);
  if (!entry.reason.empty()) text += ": " + entry.reason;
  return text;
}

std::string entry_text(const EntryResult& entry) {
  std::string text = fmt::format("  {:<16} {} [{}{}]{}\n", row_of(entry.status).text, support::printable(entry.id), support::printable(entry.what),
                                 entry.counts() ? "" : ", info", evidence(entry));
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
    const auto must = std::ranges::count_if(entries, &EntryResult::counts);
    const std::string how_many = entries.size() == 1 ? "1 entry" : fmt::format("{} entries", entries.size());
    text += fmt::format("  {:<16} {}: {} ({} must), {}{}\n", row_of(status).text, reason, how_many, must, entries.size() == 1 ? "" : "e.g. ",
                        support::printable(entries.front()->id));
  }
  return text;
}

std::string set_text(const SetResult& set, bool verbose) {
  std::string text = fmt::format("{}: {} ({})\n", set.path.string(), support::printable(set.name), set.format);
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

Json entries_json(const SetResult& set) {
  Table table{{},
              {in_json("id"), in_json("level"), in_json("what"), in_json("status"), in_json("compared"), in_json("differing"), in_json("excused"),
               in_json("skipped"), in_json("excuses"), in_json("reason"), in_json("differences")}};
  const auto unless_empty = [](const auto& value, Json json) { return value.empty() ? Cell::none() : Cell(std::move(json)); };
  for (const EntryResult& entry : set.entries) {
    table.add({entry.id, entry.level, entry.what, golden::name_of(entry.status), entry.compared, entry.differing, entry.excused, entry.skipped,
               unless_empty(entry.excuses, excuses_json(entry.excuses)), unless_empty(entry.reason, entry.reason),
               unless_empty(entry.differences, entry.differences)});
  }
  return table.json();
}

Json set_json(const SetResult& set) {
  Json json = {{"path", set.path.string()},    {"set", set.name},          {"format", set.format},    {"compared", set.compared()},
               {"differing", set.differing()}, {"excused", set.excused()}, {"skipped", set.skipped()}};
  for (const StatusRow& row : kStatuses) json["entries_" + std::string(golden::name_of(row.status))] = set.count(row.status);
  json["excuses"] = excuses_json(set.excuses());
  json["entries"] = entries_json(set);
  return json;
}

/// What is only for information may differ: it is skipped, and says so.
support::JunitCase case_of(const SetResult& set, const EntryResult& entry) {
  const CheckEnd end = row_of(entry.status).end;
  const bool counts = entry.counts() || end == CheckEnd::passed;
  return {"mxact.witness." + set.name,
          entry.id,
          counts ? end : CheckEnd::skipped,
          fmt::format("{}{} [{}]{}", counts ? "" : "for information: ", row_of(entry.status).text, entry.what, evidence(entry)),
          std::string(entry.first_difference()),
          "mxact witness --verbose " + support::shell_word(set.path.string()),
          set.path.string(),
          entry.seconds > 0 ? std::optional(entry.seconds) : std::nullopt};
}

}  // namespace

Document witness_document(std::span<const SetResult> sets, bool allow_unmodelled, bool verbose) {
  Document document{"witness"};
  document.ended(golden::exit_code(sets, allow_unmodelled));
  Json all = Json::array();
  std::int64_t compared = 0, differing = 0, excused = 0, unmodelled = 0;
  for (const SetResult& set : sets) {
    all.push_back(set_json(set));
    std::string text = set_text(set, verbose);
    text.pop_back();
    document.line(std::move(text));
    for (const EntryResult& entry : set.entries) document.cases.push_back(case_of(set, entry));
    compared += set.compared();
    differing += set.differing();
    excused += set.excused();
    unmodelled += set.count(EntryStatus::unmodelled);
  }
  document.value("sets", std::move(all));
  document.line(fmt::format("{} sets: {} values compared, {} differ, {} excused; {} entries not modelled; exit {}", sets.size(), compared, differing,
                            excused, unmodelled, document.exit_code));
  return document;
}

Document ledger_document() {
  Document document{"witness"};
  Table table{"ledger", {in_json("implementation"), in_json("device"), in_json("build"), in_json("op"), in_json("condition"), in_json("reason")}};
  for (const LedgerRow& row : golden::ledger()) {
    const std::string condition = golden::condition_text(row);
    table.add({row.implementation, row.device, row.build, row.op, condition, row.reason});
    document.line(fmt::format("{}\n  {}\n  {}", who(row), condition, row.reason));
  }
  document.value(table.key, table.json());
  return document;
}

}  // namespace mx::verbs
