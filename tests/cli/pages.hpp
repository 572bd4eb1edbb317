#pragma once
// What the README, HACKING.md and docs/ show: examples with their output, commands, code between backticks.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace mx::tests {

/// A command as a page shows it.
struct ShownCommand {
  std::string line{};      ///< without the exit status
  int status = 0;          ///< as "  # exit status 1" after the command says
  std::string expected{};  ///< of an example: the lines below it, up to a blank one or the end of the block; one that ends with " ..." goes on
  bool slow = false;       ///< of a command: a small form of it is run
};

struct Page {
  std::string path;                    ///< from the root of the repository
  std::vector<ShownCommand> examples;  ///< lines "$ mxact ..." of any block
  std::vector<ShownCommand> commands;  ///< lines of blocks fenced as "sh", or as "sh slow" where they take long
  std::vector<std::string> other;      ///< lines of blocks that name no language, examples and their output aside
  std::vector<std::string> spans;      ///< code between single backticks
};

inline ShownCommand shown_command(const std::string& text) {
  const std::string mark = "  # exit status ";
  const std::size_t end = text.find(mark);
  if (end == std::string::npos) return {text};
  return {text.substr(0, end), std::stoi(text.substr(end + mark.size()))};
}

/// The code between single backticks of a line of text.
inline void add_spans(const std::string& line, std::vector<std::string>& spans) {
  for (std::size_t begin = line.find('`'); begin != std::string::npos; begin = line.find('`', begin + 1)) {
    const std::size_t end = line.find('`', begin + 1);
    if (end == std::string::npos) return;
    spans.push_back(line.substr(begin + 1, end - begin - 1));
    begin = end;
  }
}

/// A line as a shell sees it: with the next one, behind its blanks, where it ends with a backslash. Output that is wider than a page is shown so,
/// too.
inline std::string whole_line(std::ifstream& stream, std::string line) {
  while (line.ends_with('\\')) {
    std::string next;
    if (!std::getline(stream, next)) return line;
    line.pop_back();
    line += next.substr(std::min(next.find_first_not_of(' '), next.size()));
  }
  return line;
}

inline Page read_page(const std::filesystem::path& root, const std::string& path) {
  std::ifstream stream(root / path);
  INFO(path);
  REQUIRE(stream.good());
  Page page;
  page.path = path;
  std::string fence;  // of the block in hand: "```" and its language
  bool example = false;
  const std::string prompt = "$ mxact ";
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("```")) {
      fence = fence.empty() ? line : "";
      example = false;
    } else if (line.starts_with(prompt)) {
      page.examples.push_back(shown_command(whole_line(stream, line).substr(prompt.size())));
      example = true;
    } else if (line.empty()) {
      example = false;
    } else if (example) {
      page.examples.back().expected += whole_line(stream, line) + "\n";
    } else if (fence.empty()) {
      add_spans(line, page.spans);
    } else if (fence == "```sh" || fence == "```sh slow") {
      page.commands.push_back(shown_command(whole_line(stream, line)));
      page.commands.back().slow = fence != "```sh";
    } else if (fence == "```") {
      page.other.push_back(line);
    }
  }
  return page;
}

/// Whether an output begins with the lines that a page shows. A shown line that ends with " ..." is the begin of a longer one.
inline bool begins_as_shown(const std::string& output, const std::string& expected) {
  const std::string mark = " ...";
  std::istringstream lines(output);
  std::istringstream shown(expected);
  for (std::string want, line; std::getline(shown, want);) {
    if (!std::getline(lines, line)) return false;
    if (line == want) continue;
    const std::size_t kept = want.size() - mark.size() + 1;
    if (!want.ends_with(mark) || line.size() <= kept || !line.starts_with(want.substr(0, kept))) return false;
  }
  return true;
}

/// The README, HACKING.md and every page of docs/.
inline std::vector<Page> all_pages(const std::filesystem::path& root) {
  std::vector<Page> pages{read_page(root, "README.md"), read_page(root, "HACKING.md")};
  for (const auto& entry : std::filesystem::directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") pages.push_back(read_page(root, "docs/" + entry.path().filename().string()));
  }
  return pages;
}

}  // namespace mx::tests
