#include "model/deployment/version.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "model/column.hpp"
#include "model/deployment/sources.hpp"
#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::deployment {
namespace {

struct EngineRow {
  Engine engine;
  std::string_view name;
};
constexpr std::array kEngineRows{
    EngineRow{kVllm2026_05, "vllm@2026-05"},
    EngineRow{kVllm2026_08, "vllm@2026-08"},
    EngineRow{kVllm2026_11, "vllm@2026-11"},
};
constexpr std::array kKnown = column_of(kEngineRows, &EngineRow::engine);

/// A state of the sources that a version stands for: its release, where there is one, and its commit, as far as it is known.
struct SourceRow {
  std::string_view release;
  std::string_view commit;
  Engine engine;
};
/// Oldest first. Source: vllm-project/vllm; releases and their commits as the published wheels say them.
constexpr std::array kSources{
    SourceRow{"", "7e1b45a09252a5b513cd83116aa7a2f310220c34", kVllm2026_05},
    SourceRow{"0.22.0", "0b3ba88f1", kVllm2026_05},
    SourceRow{"0.22.1", "0decac0d9", kVllm2026_05},
    SourceRow{"", "017e9f4448b700e85ee16023287b025693c72b9e", kVllm2026_08},
    SourceRow{"", "7ca49fbe4bab019e55d57cdc4b7fd3d55c67c1a6", kVllm2026_08},
    SourceRow{"0.29.0", "98dff2a81", kVllm2026_08},
    SourceRow{"0.33.0", "4ba787ec9", kVllm2026_11},
};

constexpr std::string_view kProject = "vllm";
constexpr std::size_t kShortestCommit = 7;

std::string names_of(std::span<const Engine> engines) {
  std::string names;
  for (Engine engine : engines) names += (names.empty() ? "" : ", ") + std::string(name_of(engine));
  return names;
}

bool is_month(std::string_view text) {
  constexpr std::string_view kForm = "0000-00";
  return text.size() == kForm.size() &&
         std::ranges::equal(text, kForm, [](char c, char form) { return form == '-' ? c == '-' : c >= '0' && c <= '9'; });
}

bool is_commit(std::string_view text) {
  return text.size() >= kShortestCommit && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The number that the text begins with, taken off it; none where it begins with none, or with one that no release has.
std::optional<int> take_number(std::string_view& text) {
  constexpr int kMost = 100'000;
  int number = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && is_digit(text[digits]); ++digits) {
    number = 10 * number + (text[digits] - '0');
    if (number > kMost) return std::nullopt;
  }
  if (digits == 0) return std::nullopt;
  text.remove_prefix(digits);
  return number;
}

void take_separator(std::string_view& text) {
  if (!text.empty() && (text[0] == '.' || text[0] == '-' || text[0] == '_')) text.remove_prefix(1);
}

/// PEP 440, Normalization: other spellings of what stands behind a release. Longer ones first.
struct Spelling {
  std::string_view typed, meant;
};
constexpr std::array kSpellings{Spelling{"preview", "rc"}, Spelling{"alpha", "a"}, Spelling{"beta", "b"},   Spelling{"post", "post"},
                                Spelling{"dev", "dev"},    Spelling{"pre", "rc"},  Spelling{"rev", "post"}, Spelling{"rc", "rc"},
                                Spelling{"a", "a"},        Spelling{"b", "b"},     Spelling{"c", "rc"},     Spelling{"r", "post"}};

/// "rc1", "post2dev0"; none where the text is nothing of that.
std::optional<std::string> suffix_of(std::string_view text) {
  std::string suffix;
  while (!text.empty()) {
    take_separator(text);
    const auto known = std::ranges::find_if(kSpellings, [&](const Spelling& row) { return text.starts_with(row.typed); });
    if (known == kSpellings.end()) return std::nullopt;
    text.remove_prefix(known->typed.size());
    std::string_view behind = text;
    take_separator(behind);
    const std::optional<int> number = take_number(behind);
    if (number) text = behind;
    suffix += std::string(known->meant) + std::to_string(number.value_or(0));
  }
  return suffix;
}

Engine of_month(std::string_view month) {
  for (const EngineRow& row : kEngineRows) {
    if (row.name.ends_with(month)) return row.engine;
  }
  throw Error(ErrorCode::unsupported, "engine " + std::string(kProject) + "@" + std::string(month) + " is not known: " + names_of(kKnown) + " are");
}

const SourceRow& of_commit(std::string_view commit) {
  for (const SourceRow& row : kSources) {
    if (row.commit.starts_with(commit) || commit.starts_with(row.commit)) return row;
  }
  std::string known;
  for (const SourceRow& row : kSources) known += (known.empty() ? "" : ", ") + std::string(row.commit.substr(0, 9));
  throw Error(ErrorCode::unsupported, "commit " + std::string(commit) + " of " + std::string(kProject) + " is not known: " + known + " are");
}

const SourceRow& of_release(std::string_view text, const Release& asked) {
  const SourceRow* below = nullptr;
  const SourceRow* above = nullptr;
  for (const SourceRow& row : kSources) {
    if (row.release.empty()) continue;
    const Release known = *release_of(row.release);
    if (known == asked) return row;
    if (known.numbers <= asked.numbers) below = &row;
    if (above == nullptr && known.numbers > asked.numbers) above = &row;
  }
  const auto said = [](const SourceRow& row) { return std::string(row.release) + " is " + std::string(name_of(row.engine)); };
  std::string nearest = below == nullptr ? "" : said(*below);
  if (above != nullptr) nearest += (nearest.empty() ? "" : ", ") + said(*above);
  throw Error(ErrorCode::unsupported, "release " + std::string(kProject) + "==" + std::string(text) + " is not known: of the nearest " + nearest);
}

}  // namespace

std::span<const Engine> known_engines() { return kKnown; }

std::string_view name_of(Engine engine) { return std::ranges::find(kEngineRows, engine, &EngineRow::engine)->name; }

namespace {

/// A version as it was named: a month, or a state of the sources.
struct Named {
  Engine engine;
  std::string_view release;
};

Named named(std::string_view name) {
  std::string_view version = name;
  const std::string_view sign = name.find('@') != std::string_view::npos ? "@" : "==";
  const std::size_t mark = name.find(sign);
  if (mark != std::string_view::npos) {
    const std::array kProjects{kProject};
    const std::string_view project = name.substr(0, mark);
    if (project != kProject) throw Error(ErrorCode::usage, unknown_name("engine", project, kProjects), std::string(name));
    version = name.substr(mark + sign.size());
  }
  const auto of_source = [](const SourceRow& row) { return Named{row.engine, row.release}; };
  if (is_month(version)) return {of_month(version), {}};
  if (is_commit(version)) return of_source(of_commit(version));
  if (const std::optional<Release> release = release_of(version)) return of_source(of_release(version, *release));
  throw Error(ErrorCode::usage, "'" + std::string(name) + "' is no version of an engine: " + names_of(kKnown) +
                                    ", a release as vllm==0.22.1, or a commit of at least 7 digits");
}

}  // namespace

Engine engine_named(std::string_view name) { return named(name).engine; }

std::string_view release_named(std::string_view name) { return named(name).release; }

void no_tables(Engine engine, std::span<const Engine> with, std::string_view what) {
  throw Error(ErrorCode::unsupported, std::string(name_of(engine)) + " has no tables of " + std::string(what) + "; " + names_of(with) +
                                          (with.size() == 1 ? " has" : " have"));
}

void require_tables(Engine engine, std::span<const Engine> with, std::string_view what) {
  if (std::ranges::find(with, engine) == with.end()) no_tables(engine, with, what);
}

std::optional<Release> release_of(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  std::string_view rest = lower;
  if (rest.starts_with('v')) rest.remove_prefix(1);
  if (const std::size_t plus = rest.find('+'); plus != std::string_view::npos && plus + 1 < rest.size()) rest = rest.substr(0, plus);
  Release release;
  for (bool more = true; more;) {
    const std::optional<int> number = take_number(rest);
    if (!number) return std::nullopt;
    release.numbers.push_back(*number);
    more = rest.size() > 1 && rest[0] == '.' && is_digit(rest[1]);
    if (more) rest.remove_prefix(1);
  }
  const std::optional<std::string> suffix = suffix_of(rest);
  if (!suffix || release.numbers.size() < 2) return std::nullopt;
  release.suffix = *suffix;
  while (release.numbers.size() > 1 && release.numbers.back() == 0) release.numbers.pop_back();
  return release;
}

bool is_same_release(std::string_view a, std::string_view b) {
  const std::optional<Release> first = release_of(a);
  return first ? first == release_of(b) : a == b;
}

std::vector<std::string_view> releases_of(Engine engine) {
  std::vector<std::string_view> releases;
  for (const SourceRow& row : kSources) {
    if (row.engine == engine && !row.release.empty()) releases.push_back(row.release);
  }
  return releases;
}

std::vector<std::string_view> commits_of(Engine engine) {
  std::vector<std::string_view> commits;
  for (const SourceRow& row : kSources) {
    if (row.engine == engine) commits.push_back(row.commit);
  }
  return commits;
}

}  // namespace mx::deployment
