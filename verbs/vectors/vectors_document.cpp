#include "verbs/vectors/vectors_document.hpp"

#include <fmt/core.h>

namespace mx::verbs {
namespace {

Document begun(const golden::SetId& set) {
  Document document{"vectors"};
  document.value("set", golden::name_of(set.edition));
  document.value("part", golden::name_of(set.part));
  return document;
}

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

}  // namespace mx::verbs
