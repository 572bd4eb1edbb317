#include "verbs/vectors/vectors_document.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace mx::verbs {
namespace {

Document begun(const golden::SetId& set) {
  Document document{"vectors"};
  document.value("set", golden::name_of(set.edition));
  document.value("part", golden::name_of(set.part));
  return document;
}

/// Tables of one folder together.
struct FolderGrowth {
  std::size_t tables = 0;
  std::size_t added = 0;
  std::uint64_t count = 0;
  std::uint64_t before = 0;
  double most = 0;
};

std::string tables(std::size_t count) { return fmt::format("{} {}", count, count == 1 ? "table" : "tables"); }
double times(const golden::TableGrowth& table) { return static_cast<double>(table.count) / static_cast<double>(table.before); }

}  // namespace

Document written_set_document(const golden::SetId& set, std::size_t files, const std::string& directory) {
  Document document = begun(set);
  document.value("files", files);
  document.line(fmt::format("{} files of set {} ({}) below {}", files, golden::name_of(set.edition), golden::name_of(set.part), directory));
  return document;
}

Document checked_set_document(const golden::SetId& set, const golden::SetCheck& found, const std::string& directory) {
  constexpr int kFailed = 1;
  constexpr int kNothing = 5;
  const std::string_view name = golden::name_of(set.part);
  Document document = begun(set);
  document.value("files", found.files);
  bool right = true;
  const bool nothing = found.files == 0 && found.different.empty();
  for (const auto& [word, files] :
       {std::pair("missing", &found.missing), std::pair("different", &found.different), std::pair("unknown", &found.unknown)}) {
    document.value(word, *files);
    right = right && files->empty();
    for (const std::string& file : *files) {
      if (!nothing) document.line(fmt::format("{:<9}  {}", word, file));
    }
  }
  if (nothing)
    document.line(fmt::format("nothing of set {0} ({1}) is below {2}: the directory is the one that has {0} in it", golden::name_of(set.edition),
                              name, directory));
  else
    document.line(fmt::format("{} files are those of set {} ({}), {} missing, {} different, {} unknown", found.files, golden::name_of(set.edition),
                              name, found.missing.size(), found.different.size(), found.unknown.size()));
  document.ended(found.files == 0 ? kNothing : right ? 0 : kFailed);
  return document;
}

Document set_coverage_document(const golden::SetId& set, const std::vector<golden::TableRecord>& records) {
  Document document = begun(set);
  document.value("coverage", golden::coverage_json(records));
  std::string text = golden::coverage_text(records);
  if (text.ends_with('\n')) text.pop_back();
  document.line(std::move(text));
  document.ended(golden::misses_bins(records) ? 1 : 0);
  return document;
}

Document set_growth_document(const golden::SetId& set, const std::vector<golden::TableGrowth>& growth) {
  constexpr std::uint64_t kMostTimes = 3;
  Document document = begun(set);
  support::Json listed = support::Json::array();
  std::map<std::string, FolderGrowth> folders;
  bool is_right = true;
  for (const golden::TableGrowth& table : growth) {
    listed.push_back({{"table", table.stem}, {"count", table.count}, {"before", table.before}});
    FolderGrowth& folder = folders[table.stem.substr(0, table.stem.find('/'))];
    ++folder.tables;
    if (table.before == 0) {
      ++folder.added;
      continue;
    }
    folder.count += table.count;
    folder.before += table.before;
    folder.most = std::max(folder.most, times(table));
    is_right = is_right && table.count <= kMostTimes * table.before;
  }
  document.value("growth", std::move(listed));
  for (const auto& [name, folder] : folders) {
    if (folder.before > 0)
      document.line(fmt::format("{}: {}, {} vectors, in v1 {}: {:.2f} times as many, a table at most {:.2f} times", name,
                                tables(folder.tables - folder.added), folder.count, folder.before,
                                static_cast<double>(folder.count) / static_cast<double>(folder.before), folder.most));
    if (folder.added > 0) document.line(fmt::format("{}: {} that v1 has not", name, tables(folder.added)));
  }
  for (const golden::TableGrowth& table : growth) {
    document.line(table.before == 0 ? fmt::format("{}: {}, not in v1", table.stem, table.count)
                                    : fmt::format("{}: {}, in v1 {}: {:.2f}", table.stem, table.count, table.before, times(table)));
  }
  document.ended(is_right ? 0 : 1);
  return document;
}

}  // namespace mx::verbs
