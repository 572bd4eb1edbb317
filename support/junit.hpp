#pragma once
// Checks in the form that continuous integration reads: JUnit's XML, and GitHub's annotations. In the header, because programs of laws that link
// little else write it too.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace mx::sim {

enum class CheckEnd { passed, skipped, failed };

struct JunitCase {
  std::string group;  ///< "mxact.witness.fp8_cast"
  std::string name;
  CheckEnd end;
  std::string message;  ///< why it did not pass
};

/// For text and attribute values alike; control characters, which XML 1.0 has no words for, become U+FFFD.
inline std::string xml_text(std::string_view text) {
  std::string xml;
  for (const char c : text) {
    switch (c) {
      case '&': xml += "&amp;"; break;
      case '<': xml += "&lt;"; break;
      case '>': xml += "&gt;"; break;
      case '"': xml += "&quot;"; break;
      case '\n': xml += "&#10;"; break;
      case '\t': xml += "&#9;"; break;
      default: xml += static_cast<unsigned char>(c) < 0x20 ? std::string("\xEF\xBF\xBD") : std::string(1, c);
    }
  }
  return xml;
}

/// One <testsuite> with all of them.
inline std::string junit_xml(std::string_view suite, std::span<const JunitCase> cases) {
  std::size_t failed = 0;
  std::size_t skipped = 0;
  std::string body;
  for (const JunitCase& one : cases) {
    body += "  <testcase classname=\"" + xml_text(one.group) + "\" name=\"" + xml_text(one.name) + "\"";
    if (one.end == CheckEnd::passed) {
      body += "/>\n";
      continue;
    }
    const bool failure = one.end == CheckEnd::failed;
    ++(failure ? failed : skipped);
    body += std::string(">") + (failure ? "<failure" : "<skipped") + " message=\"" + xml_text(one.message) + "\"/></testcase>\n";
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"" + xml_text(suite) + "\" tests=\"" + std::to_string(cases.size()) +
         "\" failures=\"" + std::to_string(failed) + "\" errors=\"0\" skipped=\"" + std::to_string(skipped) + "\">\n" + body + "</testsuite>\n";
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
    if (one.end == CheckEnd::failed) text += "::error title=" + escaped(one.group + " " + one.name, true) + "::" + escaped(one.message, false) + "\n";
  }
  return text;
}

}  // namespace mx::sim
