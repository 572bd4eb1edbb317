#pragma once
// Checks in the form that continuous integration reads: JUnit's XML, and GitHub's annotations. In the header, because programs of laws that link
// little else write it too.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mx::support {

enum class CheckEnd {
  passed,
  skipped,     ///< not checked, and nobody expects it to be: refused, not modelled, excused
  mistrusted,  ///< checked on data that could not have told right from wrong
  failed,
};

/// One check: a cell, an entry, a bin, a law.
struct JunitCase {
  std::string group;  ///< "mxact.witness.fp8_cast"
  std::string name;
  CheckEnd end;
  std::string message;              ///< why it did not pass, in one line
  std::string place = {};           ///< of the first difference
  std::string replay = {};          ///< the command that checks it again
  std::string file = {};            ///< that it is about
  std::optional<double> seconds{};  ///< where they were measured
  std::string word = {};            ///< the verdict, where it has another one than others that end so: "KNOWN TO DIFFER"
  std::vector<std::pair<std::string, std::string>> properties{};
};

/// What is said of a run as a whole.
struct JunitRun {
  std::string name;
  std::string started = {};  ///< "2026-08-01T12:00:00Z"
  std::optional<double> seconds{};
  std::vector<std::pair<std::string, std::string>> properties{};  ///< said once, in the first suite
};

/// How many bytes of UTF-8 that XML 1.0 can hold begin the text; 0 where the first byte begins none.
inline std::size_t xml_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])) : 0U; };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\n' || first == '\t' ? 1 : 0;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  std::uint32_t code = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
    code = code << 6U | (byte(i) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
  const bool other = (code >= 0xd800 && code < 0xe000) || code == 0xfffe || code == 0xffff || code > 0x10ffff;
  return first < 0xc0 || first > 0xf7 || code < kSmallest.at(length) || other ? 0 : length;
}

/// For text and attribute values alike; what XML 1.0 has no words for (control characters, bytes that are no UTF-8) becomes U+FFFD.
inline std::string xml_text(std::string_view text) {
  std::string xml;
  while (!text.empty()) {
    const std::size_t length = xml_character(text);
    switch (length == 1 ? text.front() : '\0') {
      case '&': xml += "&amp;"; break;
      case '<': xml += "&lt;"; break;
      case '>': xml += "&gt;"; break;
      case '"': xml += "&quot;"; break;
      case '\n': xml += "&#10;"; break;
      case '\t': xml += "&#9;"; break;
      default: xml += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return xml;
}

/// ` name="value"`
inline std::string xml_attribute(std::string_view name, std::string_view value) { return " " + std::string(name) + "=\"" + xml_text(value) + "\""; }

/// Seconds as JUnit has them: "0.012".
inline std::string junit_seconds(double seconds) {
  std::array<char, 64> text{};
  const int size = std::snprintf(text.data(), text.size(), "%.3f", std::clamp(seconds, 0.0, 1e9));
  return {text.data(), static_cast<std::size_t>(size)};
}

/// ` tests=".." failures=".." errors=".." skipped=".."`
inline std::string junit_counts(std::span<const JunitCase* const> cases) {
  const auto count = [&](CheckEnd end) { return std::to_string(std::ranges::count(cases, end, [](const JunitCase* one) { return one->end; })); };
  return xml_attribute("tests", std::to_string(cases.size())) + xml_attribute("failures", count(CheckEnd::failed)) +
         xml_attribute("errors", count(CheckEnd::mistrusted)) + xml_attribute("skipped", count(CheckEnd::skipped));
}

/// <properties> of a suite or a case.
inline std::string junit_properties(std::span<const std::pair<std::string, std::string>> properties, const std::string& indent) {
  std::string xml = indent + "<properties>\n";
  for (const auto& [key, value] : properties) xml += indent + "  <property" + xml_attribute("name", key) + xml_attribute("value", value) + "/>\n";
  return xml + indent + "</properties>\n";
}

/// A <testcase> under a name of its own. What is mistrusted is an <error>: no difference was found, yet green it would be by luck.
inline std::string junit_case(const JunitCase& one, const std::string& name) {
  std::string xml = "    <testcase" + xml_attribute("classname", one.group) + xml_attribute("name", name);
  if (!one.file.empty()) xml += xml_attribute("file", one.file);
  if (one.seconds) xml += xml_attribute("time", junit_seconds(*one.seconds));
  const std::string said = one.properties.empty() ? "" : "\n" + junit_properties(one.properties, "      ");
  if (one.end == CheckEnd::passed) return xml + (said.empty() ? "/>\n" : ">" + said + "    </testcase>\n");
  std::string body;
  for (const auto& [label, text] : {std::pair("place: ", &one.place), std::pair("again: ", &one.replay)}) {
    if (!text->empty()) body += (body.empty() ? "" : "\n") + (label + *text);
  }
  const std::string tag = one.end == CheckEnd::failed ? "failure" : one.end == CheckEnd::mistrusted ? "error" : "skipped";
  xml += ">" + said + (said.empty() ? "<" : "      <") + tag + xml_attribute("message", one.message);
  if (one.end == CheckEnd::failed) xml += xml_attribute("type", "FAILED");
  if (one.end == CheckEnd::mistrusted) xml += xml_attribute("type", "MISTRUSTED");
  return xml + (body.empty() ? "/>" : ">" + xml_text(body) + "</" + tag + ">") + "</testcase>\n";
}

/// <testsuites> with a <testsuite> for each group, in the order in which groups come. Names are made unique within their group: " (2)".
inline std::string junit_xml(const JunitRun& run, std::span<const JunitCase> cases) {
  std::vector<std::pair<std::string, std::vector<const JunitCase*>>> groups;
  std::vector<const JunitCase*> all;
  for (const JunitCase& one : cases) {
    all.push_back(&one);
    auto group = std::ranges::find(groups, one.group, [](const auto& known) { return known.first; });
    if (group == groups.end()) group = groups.insert(group, {one.group, {}});
    group->second.push_back(&one);
  }
  const std::string time = run.seconds ? xml_attribute("time", junit_seconds(*run.seconds)) : "";
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + xml_attribute("name", run.name) + junit_counts(all) + time + ">\n";
  for (const auto& [name, members] : groups) {
    xml += "  <testsuite" + xml_attribute("name", name) + junit_counts(members);
    if (!run.started.empty()) xml += xml_attribute("timestamp", run.started);
    xml += ">\n";
    if (&name == &groups.front().first && !run.properties.empty()) xml += junit_properties(run.properties, "    ");
    std::set<std::string> taken;
    for (const JunitCase* one : members) {
      std::string unique = one->name;
      for (int i = 2; !taken.insert(unique).second; ++i) unique = one->name + " (" + std::to_string(i) + ")";
      xml += junit_case(*one, unique);
    }
    xml += "  </testsuite>\n";
  }
  return xml + "</testsuites>\n";
}

/// "::error title=...::...", a line for each failure.
inline std::string github_annotations(std::span<const JunitCase> cases) {
  const auto escaped = [](std::string_view text, bool property) {
    std::string line;
    for (const char c : text) {
      const bool special = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
      constexpr char kDigits[] = "0123456789ABCDEF";
      line += special ? std::string("%") + kDigits[c >> 4] + kDigits[c & 15] : std::string(1, c);
    }
    return line;
  };
  std::string text;
  for (const JunitCase& one : cases) {
    if (one.end == CheckEnd::failed || one.end == CheckEnd::mistrusted)
      text += "::error title=" + escaped(one.group + " " + one.name, true) + "::" + escaped(one.message, false) + "\n";
  }
  return text;
}

}  // namespace mx::support
