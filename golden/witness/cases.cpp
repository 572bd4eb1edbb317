#include "golden/witness/cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "golden/witness/fields.hpp"
#include "golden/witness/oracle.hpp"
#include "golden/witness/recording.hpp"
#include "support/json.hpp"

namespace mx::golden {

namespace {

constexpr std::string_view kSupport = "_support";
constexpr std::uint64_t kLineBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kFileBytes = std::uint64_t{1} << 28;
constexpr int kLineDepth = 12;

struct Line {
  std::span<const std::uint8_t> text;
  std::uint64_t offset;
  const std::filesystem::path* path;
  std::size_t number;

  std::string where() const { return fmt::format("{}:{}", path->string(), number); }
};

std::vector<Line> lines_of(std::span<const std::uint8_t> all, const std::filesystem::path& file) {
  std::vector<Line> lines;
  for (std::size_t begin = 0; begin < all.size();) {
    const auto rest = all.subspan(begin);
    const auto length = static_cast<std::size_t>(std::find(rest.begin(), rest.end(), std::uint8_t{'\n'}) - rest.begin());
    const std::size_t number = lines.size() + 1;
    // Before the list grows by an entry for each of a million newlines.
    if (length == 0) broken("an empty line", fmt::format("{}:{}", file.string(), number));
    lines.push_back({rest.first(length), begin, &file, number});
    begin += length + 1;
  }
  return lines;
}

Json parse(const Line& line) { return support::parse_json(line.text, {kLineBytes, kLineDepth}, line.where(), line.offset); }

std::string text_of(const Json& json, const char* key, const std::string& where) {
  if (!json.is_object()) broken("a line must be an object", where);
  const auto found = json.find(key);
  if (found == nullptr || !found->is_string()) broken(fmt::format("'{}' must be a text", key), where);
  return found->get<std::string>();
}

/// The results of one file, gathered by oracle.
class Tally {
 public:
  Tally(std::string what, const WitnessOptions& options)
      : what_(std::move(what)), most_(static_cast<std::size_t>(std::max(options.max_differences, 1))) {}

  void add(const std::string& oracle, const std::string& id, const CaseResult& one) {
    if (!one.modelled) {
      Unclaimed& unclaimed = unclaimed_[oracle];
      if (unclaimed.cases++ == 0) unclaimed.first_note = one.note;
      return;
    }
    EntryResult& entry = entries_[oracle];
    entry.compared += one.compared;
    if (one.equal) return;
    ++entry.differing;
    if (entry.differences.size() < most_) entry.differences.push_back(fmt::format("case {}: recorded {}, model {}", id, one.expected, one.got));
  }

  void move_to(std::vector<EntryResult>& results) {
    for (auto& [id, entry] : entries_) {
      entry.id = id;
      entry.what = what_;
      entry.status = entry.differing > 0 ? EntryStatus::differs : entry.compared > 0 ? EntryStatus::equal : EntryStatus::nothing_compared;
      results.push_back(std::move(entry));
    }
    for (const auto& [id, unclaimed] : unclaimed_) {
      EntryResult entry;
      entry.id = id + " without model";
      entry.what = what_;
      entry.status = EntryStatus::unmodelled;
      entry.reason = fmt::format("{}, {} {}", unclaimed.first_note, unclaimed.cases, unclaimed.cases == 1 ? "case" : "cases");
      results.push_back(std::move(entry));
    }
  }

 private:
  struct Unclaimed {
    std::int64_t cases = 0;
    std::string first_note;
  };

  std::string what_;
  std::size_t most_;
  std::map<std::string, EntryResult> entries_;
  std::map<std::string, Unclaimed> unclaimed_;
};

// An error inside one case names its line as well. A case that lacks an input is not held against the model.
template <typename Evaluate>
CaseResult evaluated(const Line& line, Evaluate evaluate) {
  try {
    return evaluate();
  } catch (const LacksInput& odd) {
    return {false, false, 0, "", "", odd.what()};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::input) throw;
    broken(error.what(), line.where());
  }
}

}  // namespace

std::filesystem::path cases_file(const std::filesystem::path& file) {
  const std::string stem = file.stem().string();
  if (!stem.ends_with(kSupport)) return file;
  std::filesystem::path sibling = file.parent_path() / (stem.substr(0, stem.size() - kSupport.size()) + file.extension().string());
  if (!has_recording(sibling)) broken("verdicts without the cases they belong to: no " + sibling.filename().string() + " beside it", file.string());
  return sibling;
}

SetResult run_cases(const std::filesystem::path& file, const WitnessOptions& options) {
  SetResult set{file, file.stem().string(), "oracle-cases", {}};
  const std::vector<std::uint8_t> bytes = read_recording(file, kFileBytes);
  std::map<std::string, Line> by_id;
  Tally cases("oracle case", options);
  for (const Line& line : lines_of(bytes, file)) {
    const Json json = parse(line);
    const std::string id = text_of(json, "id", line.where());
    if (!by_id.emplace(id, line).second) broken("two cases have the id '" + id + "'", line.where());
    cases.add(text_of(json, "oracle", line.where()), id, evaluated(line, [&json] { return evaluate_oracle_case(json); }));
  }
  cases.move_to(set.entries);

  const std::filesystem::path support_file = file.parent_path() / (file.stem().string() + std::string(kSupport) + file.extension().string());
  if (!has_recording(support_file)) return set;
  const std::vector<std::uint8_t> support = read_recording(support_file, kFileBytes);
  std::map<std::string, bool> joined;
  Tally verdicts("oracle verdicts", options);
  for (const Line& line : lines_of(support, support_file)) {
    const Json json = parse(line);
    const std::string id = text_of(json, "id", line.where());
    const auto known = by_id.find(id);
    if (known == by_id.end()) broken("no case has the id '" + id + "'", line.where());
    if (!joined.emplace(id, true).second) broken("two lines have the id '" + id + "'", line.where());
    const Json one_case = parse(known->second);
    verdicts.add(text_of(json, "oracle", line.where()) + " verdicts", id, evaluated(line, [&] { return evaluate_support_case(one_case, json); }));
  }
  verdicts.move_to(set.entries);
  return set;
}

}  // namespace mx::golden
