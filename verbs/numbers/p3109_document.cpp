#include "verbs/numbers/p3109_document.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "model/error.hpp"
#include "model/names.hpp"
#include "model/numerics/p3109.hpp"

namespace mx::verbs {
namespace {

constexpr std::string_view kDraft = "4.0, draft of 26 June 2026, which is not for conformance";
/// Formats of section 4.5 whose operations every conforming implementation has; the last is that of scales.
constexpr std::array<std::string_view, 4> kMinimum{"Binary8p4se", "Binary8p3se", "Binary4p2sf", "Binary8p1uf"};
constexpr std::array<std::string_view, 3> kExternal{"binary32", "binary16", "BFloat16"};

/// "Add<fx, fy, fr, ρ>": the parameters by which specializations of the operation differ.
std::string signature(const p3109::Operation& row) {
  constexpr std::array<std::string_view, 3> kNames{"x", "y", "z"};
  std::vector<std::string> words;
  const auto operands = [&](std::string_view form) {
    for (int i = 0; i < row.arity; ++i) words.push_back(fmt::format(fmt::runtime(form), kNames[static_cast<std::size_t>(i)]));
  };
  switch (row.kind) {
    case p3109::Kind::scalar:
      operands("f{}");
      words.insert(words.end(), {"fr", "ρ"});
      break;
    case p3109::Kind::comparison: operands("f{}"); break;
    case p3109::Kind::block:
      words.emplace_back("B");
      operands("(fs{0}, f{0})");
      words.insert(words.end(), {"fs", "fr", "ρ"});
      break;
    case p3109::Kind::scaled:
      operands("(fs{0}, f{0})");
      words.insert(words.end(), {"fr", "ρ"});
      break;
    case p3109::Kind::from_block:
    case p3109::Kind::reduction: words = {"B", "fs", "fx", "fr", "ρ"}; break;
    case p3109::Kind::to_block: words = {"B", "fx", "fs", "fr", "ρ"}; break;
    case p3109::Kind::to_block_by_largest: words = {"B", "fx", "fs", "fr", "ρs", "ρ"}; break;
    case p3109::Kind::dot: words = {"B", "fsx", "fx", "fsy", "fy", "fr", "ρ"}; break;
    case p3109::Kind::predicate:
    case p3109::Kind::neighbour:
    case p3109::Kind::fact:
    case p3109::Kind::number_of_format: words = {"f"}; break;
  }
  return fmt::format("{}<{}>", row.name, fmt::join(words, ", "));
}

/// The formats that a list names, as the document writes them.
std::vector<std::string> formats_in(const std::string& list) {
  std::vector<std::string> names;
  for (std::size_t first = 0; first <= list.size();) {
    const std::size_t end = std::min(list.find(',', first), list.size());
    const std::string word = list.substr(first, end - first);
    if (word.find_first_not_of(' ') == std::string::npos || word.find_first_of("<>()") != std::string::npos)
      throw Error(ErrorCode::usage, fmt::format("'{}' names no format; formats stand with commas: binary8p4se,binary4p2sf", printable(word)),
                  "--p3109");
    const p3109::Specialization read = p3109::specialization_of("BitwidthOf<" + word + ">");
    const std::string name = p3109::name_of(*read.formats.front());
    if (std::ranges::find(kExternal, name) != kExternal.end())
      throw Error(ErrorCode::usage, fmt::format("{} is an external format, which every declaration has", name), "--p3109");
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    first = end + 1;
  }
  return names;
}

Document declaration(const std::vector<std::string>& formats, const std::string& version) {
  std::vector<std::string> missing, required, further;
  for (const std::string_view name : kMinimum) {
    if (std::ranges::find(formats, name) == formats.end()) missing.emplace_back(name);
  }
  for (const p3109::Operation& row : p3109::all_operations()) (row.required ? required : further).push_back(signature(row));
  const auto roundings = p3109::rounding_names(), saturations = p3109::saturation_names();
  const std::string minimum = missing.empty() ? "whole" : fmt::format("without {}", fmt::join(missing, ", "));
  Document document{"formats"};
  document.value("p3109", {{"conformance", "IEEE SA P3109"},
                           {"version", kDraft},
                           {"formats", formats},
                           {"external", std::vector<std::string_view>(kExternal.begin(), kExternal.end())},
                           {"rounding", std::vector<std::string_view>(roundings.begin(), roundings.end())},
                           {"saturation", std::vector<std::string_view>(saturations.begin(), saturations.end())},
                           {"minimum_set", minimum},
                           {"required", required},
                           {"further", further}});
  document.line("---");
  document.line(
      fmt::format("Metadata:\n  conformance: IEEE SA P3109\n  version: {}\n  implementation: {{ name: mxact, version: {} }}", kDraft, version));
  document.line(fmt::format("Formats: [{}]\nExternal: [{}]", fmt::join(formats, ", "), fmt::join(kExternal, ", ")));
  document.line(fmt::format("Projections:\n  Rounding: [{}]\n  RandomBits: 1 to 32\n  Saturation: [{}]", fmt::join(roundings, ", "),
                            fmt::join(saturations, ", ")));
  document.line(
      "BlockSizes: 1 to 65536\nApproximate: none\n# f, fx, fy, fz, fs: any of Formats and External; fr: likewise; NextGreaterThan, NextLessThan: of "
      "Formats");
  document.line(fmt::format("MinimumSet: {}", minimum));
  document.line(fmt::format("Required:\n  - {}", fmt::join(required, "\n  - ")));
  document.line(fmt::format("Further:\n  - {}", fmt::join(further, "\n  - ")));
  return document;
}

Document specialization(const std::string& text) {
  const p3109::Specialization read = p3109::specialization_of(text);
  const auto names = [](const std::vector<const Format*>& formats) {
    std::vector<std::string> words;
    for (const Format* format : formats) words.push_back(format == nullptr ? "a whole number" : p3109::name_of(*format));
    return words;
  };
  const std::vector<std::string> operands = names(p3109::operands_of(read)), results = names(p3109::results_of(read));
  const std::string written = p3109::text_of(read);
  Document document{"formats"};
  document.value("specialization", {{"name", written}, {"operands", operands}, {"results", results}, {"required", read.operation->required}});
  document.line(written);
  document.line(fmt::format("operands: {}", operands.empty() ? "none" : fmt::format("{}", fmt::join(operands, ", "))));
  document.line(fmt::format("result: {}", fmt::join(results, ", ")));
  return document;
}

}  // namespace

Document p3109_document(const std::string& asked, const std::string& version) {
  return asked.find('<') == std::string::npos ? declaration(formats_in(asked), version) : specialization(asked);
}

}  // namespace mx::verbs
