#include "cli/manual.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "build_info.hpp"
#include "cli/help_topics.hpp"

namespace mx::cli {
namespace {

/// Text that troff takes as it is: no escape, no request at the beginning of a line, hyphens that can be copied.
std::string roff(std::string_view text) {
  std::string plain;
  for (char c : text) {
    if ((plain.empty() || plain.back() == '\n') && (c == '.' || c == '\'')) plain += "\\&";
    if (c == '\\') {
      plain += "\\e";
    } else if (c == '-') {
      plain += "\\-";
    } else {
      plain += c;
    }
  }
  return plain;
}

std::string option_roff(const OptionEntry& option) {
  std::string names;
  for (const std::string& name : option.names) names += (names.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR";
  if (option.takes_value && !option.positional) names += " \\fIVALUE\\fR" + std::string(option.repeats ? "..." : "");
  return fmt::format(".TP\n{}\n{}{}\n", names, roff(option.meaning), option.required ? " (required)" : "");
}

std::string verb_roff(const VerbEntry& verb) {
  std::string text = fmt::format(".SS \"mxact {} {}\"\n{}\n", roff(verb.path), roff(synopsis(verb)), roff(verb.meaning));
  for (const OptionEntry& option : verb.options) {
    if (option.names.back() != "--help") text += option_roff(option);
  }
  return text;
}

std::string topic_roff(const HelpTopic& topic) {
  return fmt::format(".SS \"{}\"\n{}.\n.PP\n.nf\n{}\n.fi\n", roff(topic.name), roff(topic.meaning), roff(topic.text));
}

}  // namespace

std::string manual_page(const VerbEntry& program) {
  std::string text = fmt::format(
      ".TH MXACT 1 \"\" \"mxact {}\" \"User Commands\"\n.SH NAME\nmxact \\- {}\n.SH SYNOPSIS\n.B mxact\n\\fIVERB\\fR [\\fIOPTIONS\\fR] ...\n"
      ".SH DESCRIPTION\nResults go to standard output, progress and errors to standard error. Every verb takes \\fB\\-\\-json\\fR and "
      "\\fB\\-\\-help\\fR.\n"
      ".SH VERBS\n",
      MXACT_VERSION, roff(program.meaning.substr(program.meaning.find(": ") + 2)));
  for (const VerbEntry* verb : all_verbs(program)) {
    if (!verb->path.empty()) text += verb_roff(*verb);
  }
  text += ".SH TOPICS\n";
  for (const HelpTopic& topic : help_topics()) text += topic_roff(topic);
  return text;
}

}  // namespace mx::cli
