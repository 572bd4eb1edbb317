#include "golden/vectors/files/vector_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <map>
#include <optional>
#include <set>

#include "golden/vectors/families.hpp"
#include "golden/vectors/files/oracle_cases.hpp"
#include "golden/vectors/files/sha256.hpp"
#include "model/error.hpp"
#include "model/numerics/profile.hpp"
#include "model/ordinary_mode.hpp"
#include "sim/sweep/sweep.hpp"
#include "support/file.hpp"
#include "support/json.hpp"

namespace mx::golden {
namespace {

constexpr std::array<std::string_view, 2> kParts{"core", "full"};
constexpr std::array<std::string_view, 1> kCoreViews{"hex"};
constexpr std::array<std::string_view, 6> kFullViews{"hex", "tv", "csv", "npy", "safetensors", "json"};

std::span<const std::string_view> views_of(SetPart part) {
  if (part == SetPart::core) return kCoreViews;
  return kFullViews;
}

std::vector<const SetRow*> rows_of(const SetId& set) {
  std::vector<const SetRow*> rows;
  for (const SetRow& row : all_set_rows()) {
    if (row.since <= set.edition && (set.part == SetPart::full || row.core)) rows.push_back(&row);
  }
  return rows;
}

std::vector<const OracleSet*> decisions_of(SetPart part) {
  std::vector<const OracleSet*> sets;
  for (const OracleSet& set : all_oracle_sets()) {
    if (part == SetPart::full || set.core) sets.push_back(&set);
  }
  return sets;
}

/// A row made into files.
// NOLINTNEXTLINE(bugprone-exception-escape): moving JSON throws nothing.
struct MadeTable {
  std::vector<SetFile> files;
  TableRecord record;
};

MadeTable made(const SetRow& row, const SetId& set) {
  const std::unique_ptr<VectorOp> op = op_of(row, set.edition);
  const VectorTable table = table_of(row, *op);
  MadeTable result;
  std::vector<std::pair<std::string, std::string>> sums;
  for (std::string_view extension : views_of(set.part)) {
    SetFile file{fmt::format("{}/{}.{}", name_of(set.edition), stem_of(row, *op), extension), vector_view_named(extension).write(table)};
    sums.emplace_back(extension, sha256(file.bytes));
    result.files.push_back(std::move(file));
  }
  result.record = record_of(row, *op, table, sums);
  return result;
}

/// The 256 digests of a conversion of fp32.
SetFile digest_file(const DigestRow& row, Edition edition) {
  const Format& to = format_named(row.to);
  const sim::SweepSubject subject{&to, conversion(profile_named(row.profile), kF32, to), sim::SweepBy::twin};
  sim::Digests digests;
  sim::sweep(subject, {}, digests, {});
  support::Json json;
  json["schema"] = "mxact-digests/1";
  json["op"] = fmt::format("f32_to_{}", to.name);
  json["profile"] = row.profile;
  json["digest"] = "mix64_sum over 2^24 inputs each, chunk c from c * 2^24: golden/witness/FORMAT.md";
  json["identity"] = sim::identity(subject);
  for (const std::optional<std::uint64_t>& digest : digests) json["chunks"].push_back(fmt::format("{:016x}", digest.value()));
  const std::string text = json.dump(1) + "\n";
  return {fmt::format("{}/digest/f32_to_{}.{}.json", name_of(edition), to.name, row.profile), {text.begin(), text.end()}};
}

SetFile text_file(Edition edition, std::string_view name, const std::string& text) {
  return {fmt::format("{}/{}", name_of(edition), name), {text.begin(), text.end()}};
}

/// Below the set's directory.
std::string name_in_set(const SetFile& file) { return file.path.substr(file.path.find('/') + 1); }

/// Hands files on and keeps their sums.
class SumList {
 public:
  explicit SumList(const std::function<void(const SetFile&)>& take) : take_(take) {}
  void add(const SetFile& file) {
    sums_ += fmt::format("{}  {}\n", sha256(file.bytes), name_in_set(file));
    take_(file);
  }
  const std::string& text() const { return sums_; }

 private:
  const std::function<void(const SetFile&)>& take_;
  std::string sums_;
};

/// Both files of a set of decisions, handed on. Returns what the manifest says of them.
support::Json add_decisions(const OracleSet& set, Edition edition, SumList& sums) {
  const OracleFiles made = oracle_files(set);
  const SetFile cases = text_file(edition, fmt::format("oracle/{}.jsonl", set.name), made.cases);
  const SetFile support = text_file(edition, fmt::format("oracle/{}_support.jsonl", set.name), made.support);
  sums.add(cases);
  sums.add(support);
  return decisions_record(made, name_in_set(cases), {{name_in_set(cases), sha256(cases.bytes)}, {name_in_set(support), sha256(support.bytes)}});
}

/// Runs body(i) for every i below `count` on all threads. The first exception waits until all are done: none may leave a parallel block.
template <typename Body>
void on_all_threads(std::size_t count, const Body& body) {
  std::exception_ptr failure;
#pragma omp parallel for schedule(dynamic, 1)
  for (std::size_t i = 0; i < count; ++i) {
    const OrdinaryMode mode;
    try {
      body(i);
    } catch (...) {
#pragma omp critical(mxact_vector_set_failure)
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

std::string_view name_of(SetPart part) { return kParts[static_cast<std::size_t>(part)]; }

VectorTable table_of(const SetRow& row, const VectorOp& op) {
  VectorSet set(op, row.choice);
  VectorTable table{{}, file_columns(op), {}};
  table.header = header_text(op, set, table.columns);
  std::vector<std::uint32_t> operands(lane_count(op.operands()));
  std::vector<std::uint32_t> lanes;
  while (set.next(operands)) {
    file_lanes(op, operands, lanes);
    table.lanes.insert(table.lanes.end(), lanes.begin(), lanes.end());
  }
  return table;
}

std::vector<TableGrowth> set_growth(const SetId& set) {
  if (set.edition == Edition::v1) throw Error(ErrorCode::usage, "edition v1 is the first one: there is none that it grew from");
  const std::vector<const SetRow*> rows = rows_of(set);
  std::vector<TableGrowth> growth(rows.size());
  const auto count = [](const SetRow& row, const VectorOp& op) { return VectorSet(op, row.choice).count(); };
  on_all_threads(rows.size(), [&](std::size_t i) {
    const std::unique_ptr<VectorOp> op = op_of(*rows[i], set.edition);
    const std::uint64_t before = rows[i]->since == Edition::v1 ? count(*rows[i], *op_of(*rows[i], Edition::v1)) : 0;
    growth[i] = {stem_of(*rows[i], *op), count(*rows[i], *op), before};
  });
  return growth;
}

std::vector<TableRecord> set_records(const SetId& set, const SetProgress& progress) {
  const std::vector<const SetRow*> rows = rows_of(set);
  std::vector<TableRecord> records(rows.size());
  std::size_t done = 0;
  on_all_threads(rows.size(), [&](std::size_t i) {
    const std::unique_ptr<VectorOp> op = op_of(*rows[i], set.edition);
    records[i] = record_of(*rows[i], *op, table_of(*rows[i], *op), {});
#pragma omp critical(mxact_vector_set)
    if (progress) progress(++done, rows.size());
  });
  return records;
}

void make_set(const SetId& set, const SetProgress& progress, const std::function<void(const SetFile& file)>& take) {
  const std::vector<const SetRow*> rows = rows_of(set);
  const std::vector<const OracleSet*> decisions = decisions_of(set.part);
  const std::span<const DigestRow> digests = set.part == SetPart::full ? all_digest_rows() : std::span<const DigestRow>{};
  const std::size_t all = rows.size() + decisions.size() + digests.size();
  std::size_t done = 0;
  const auto another = [&] {
    if (progress) progress(++done, all);
  };
  SumList sums(take);
  std::vector<TableRecord> records(rows.size());
  std::map<std::size_t, MadeTable> waiting;  // made, but not its turn
  std::size_t next = 0;
  on_all_threads(rows.size(), [&](std::size_t i) {
    MadeTable table = made(*rows[i], set);
    // No exception may leave the critical block either.
    std::exception_ptr failure;
#pragma omp critical(mxact_vector_set)
    try {
      waiting.emplace(i, std::move(table));
      for (; waiting.contains(next); waiting.erase(next++)) {
        for (const SetFile& file : waiting.at(next).files) sums.add(file);
        records[next] = std::move(waiting.at(next).record);
        another();
      }
    } catch (...) {
      failure = std::current_exception();
    }
    if (failure) std::rethrow_exception(failure);
  });
  SetDocuments documents{set.edition, records, {}, {}};
  for (const OracleSet* one : decisions) {
    documents.decisions.push_back(add_decisions(*one, set.edition, sums));
    another();
  }
  for (const DigestRow& row : digests) {
    const SetFile file = digest_file(row, set.edition);
    sums.add(file);
    documents.digests.push_back(digest_record(row, name_in_set(file), sha256(file.bytes)));
    another();
  }
  if (set.part == SetPart::full) {
    sums.add(text_file(set.edition, "coverage.txt", coverage_text(records)));
    sums.add(text_file(set.edition, "coverage.html", coverage_html(set.edition, records)));
  }
  sums.add(text_file(set.edition, "NOTES.md", notes_text()));
  sums.add(text_file(set.edition, "manifest.json", manifest_text(documents)));
  take(text_file(set.edition, "SHA256SUMS", sums.text()));
}

std::size_t write_set(const SetId& set, const std::filesystem::path& directory, bool force, const SetProgress& progress) {
  std::size_t files = 0;
  if (!force && support::is_there(directory / name_of(set.edition)))
    throw Error(ErrorCode::input, "there is a set already: --force overwrites it", (directory / name_of(set.edition)).string());
  // Minutes of computing come before the first file: where nothing can be written is asked first.
  std::error_code refused;
  std::filesystem::create_directories(directory / name_of(set.edition), refused);
  if (refused) throw Error(ErrorCode::resource, refused.message(), (directory / name_of(set.edition)).string());
  make_set(set, progress, [&](const SetFile& file) {
    const std::filesystem::path path = directory / file.path;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) throw Error(ErrorCode::resource, error.message(), path.parent_path().string());
    support::write_file(path, file.bytes, force);
    ++files;
  });
  return files;
}

SetCheck check_set(const SetId& set, const std::filesystem::path& directory, const SetProgress& progress) {
  SetCheck check;
  if (!support::is_there(directory / name_of(set.edition))) return check;
  std::set<std::string> known;
  make_set(set, progress, [&](const SetFile& file) {
    known.insert(file.path);
    const std::filesystem::path path = directory / file.path;
    if (!support::is_there(path)) return check.missing.push_back(file.path);
    // A file that is longer is another file, however much longer it is.
    const bool same = support::file_size(path) == file.bytes.size() && support::read_file(path, file.bytes.size()) == file.bytes;
    if (!same) return check.different.push_back(file.path);
    ++check.files;
  });
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(directory / name_of(set.edition), error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string path = std::filesystem::relative(entry->path(), directory).generic_string();
    if (!entry->is_directory() && !known.contains(path)) check.unknown.push_back(path);
  }
  std::ranges::sort(check.unknown);
  return check;
}

}  // namespace mx::golden
