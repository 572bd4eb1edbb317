// mxact faults: the model made wrong on purpose, one fault at a time, and which laws notice. The faults live in a helper program beside this one:
// what is shipped cannot be made wrong.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "cli/picture_file.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "support/quote.hpp"

namespace mx::cli {
namespace {

/// Who noticed a change of a table: words of the helper.
constexpr std::array<std::string_view, 6> kJudgements{"law", "restated", "record", "crash", "equivalent", "survives"};

/// Of the helper's answer, which lists every law and change.
constexpr sim::JsonLimits kAnswer{.bytes = std::uint64_t{256} << 20, .depth = 16, .memory = std::uint64_t{4} << 30};

/// Exit status of a run that could not have shown anything.
constexpr int kMistrusted = 5;

struct FaultsOptions {
  std::vector<std::string> names;
  bool first = false;
  bool all = false;
  bool blind = false;
  bool history = false;
  bool tables = false;
  std::int64_t sample = 0;
  std::int64_t jobs = 0;
  std::string output;
  bool force = false;
  bool json = false;
};

/// A word as the shell reads it back.
std::string shell_word(std::string_view word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// The helper's answer; its errors are those of this verb.
Json ask_helper(const std::string& arguments) {
  const auto helper = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "mxact_faults";
  if (!std::filesystem::exists(helper))
    throw Error(ErrorCode::unsupported,
                "no model that can be made wrong stands beside this program: `./harness test` builds it, and so does the target mxact_faults of a build with tests");
  // NOLINTNEXTLINE(cert-env33-c): every word of the user's is quoted.
  std::FILE* const pipe = popen((shell_word(helper.string()) + " " + arguments).c_str(), "r");
  if (pipe == nullptr) throw Error(ErrorCode::resource, "cannot start " + helper.string());
  std::string text;
  std::array<char, 65536> buffer{};
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) text.append(buffer.data(), got);
  const int status = pclose(pipe);
  if (!WIFEXITED(status)) throw Error(ErrorCode::resource, "mxact_faults ended by a signal");
  if (WEXITSTATUS(status) != 0)
    throw Error(WEXITSTATUS(status) == static_cast<int>(ErrorCode::usage) ? ErrorCode::usage : ErrorCode::resource, text.substr(0, text.find('\n')));
  return sim::parse_json(text, kAnswer, "mxact_faults");
}

/// "N2" of "N2/e4m3fn", "S2" of "S2-table/deepseek-v4".
std::string number_of(const std::string& law) { return law.substr(0, law.find_first_of("/-")); }

/// Numbers of the catalogue in its order: numerics, layouts, semantics, oracle, tests about tests.
std::vector<std::string> numbers_of(const Json& laws) {
  std::vector<std::string> numbers;
  for (const Json& law : laws) {
    const std::string number = number_of(law["id"].text());
    if (std::ranges::find(numbers, number) == numbers.end()) numbers.push_back(number);
  }
  std::ranges::sort(numbers, {},
                    [](const std::string& number) { return std::pair(std::string_view("NLSOT").find(number[0]), std::stoi(number.substr(1))); });
  return numbers;
}

bool contains(const Json& list, const std::string& text) { return std::ranges::find(list, Json(text)) != list.end(); }

/// Whether the first line of the first failure leads to the fault: it begins with a law whose number is one of those that the fault's row names.
bool named_rightly(const Json& fault) {
  if (fault["laws"].empty()) return false;
  const Json& first = fault["laws"][0];
  const auto law = first["law"].get<std::string>();
  const bool named = std::ranges::any_of(fault["named"], [&](const Json& id) { return number_of(id.text()) == number_of(law); });
  return named && first["fate"] == "broken" && first["first_line"].get<std::string>().starts_with(law);
}

/// Counts of each area, in the order in which areas come.
Json areas_of(const Json& faults) {
  Json areas = Json::array();
  for (const Json& fault : faults) {
    auto area = std::ranges::find_if(areas, [&](const Json& known) { return known["area"] == fault["area"]; });
    if (area == areas.end()) {
      areas.push_back({{"area", fault["area"]}, {"faults", 0}, {"killed", 0}, {"named_rightly", 0}});
      area = std::prev(areas.end());
    }
    (*area)["faults"] = (*area)["faults"].get<int>() + 1;
    (*area)["killed"] = (*area)["killed"].get<int>() + (fault["killed"].get<bool>() ? 1 : 0);
    (*area)["named_rightly"] = (*area)["named_rightly"].get<int>() + (named_rightly(fault) ? 1 : 0);
  }
  return areas;
}

/// One letter for a fault and a number of the catalogue.
char mark(const Json& fault, const std::string& number) {
  char mark = '.';
  for (const Json& law : fault["laws"]) {
    if (number_of(law["law"].text()) != number) continue;
    if (law["fate"] != "broken") return '!';
    mark = contains(fault["named"], law["law"].text()) ? '#' : mark == '#' ? '#' : '+';
  }
  return mark;
}

void print_matrix(const Json& run) {
  const std::vector<std::string> numbers = numbers_of(run["laws"]);
  std::vector<std::vector<std::string>> rows{{"fault"}};
  rows[0].insert(rows[0].end(), numbers.begin(), numbers.end());
  for (const Json& fault : run["faults"]) {
    rows.push_back({fault["id"].get<std::string>()});
    for (const std::string& number : numbers) rows.back().push_back(std::string(1, mark(fault, number)));
  }
  print_table(rows);
  fmt::print("\n# broken, as the fault's row says; + broken too; ! the model threw, crashed or hung; . held or not run\n\n");
}

void print_text(const Json& run) {
  print_matrix(run);
  const bool first = run["extent"] != "named";
  std::vector<std::vector<std::string>> rows{{"area", "faults", "killed", "score"}};
  if (first) rows[0].push_back("right law first");
  for (const Json& area : run["areas"]) {
    const int faults = area["faults"].get<int>();
    const int killed = area["killed"].get<int>();
    rows.push_back({area["area"].text(), std::to_string(faults), std::to_string(killed), fmt::format("{:.1f} %", 100.0 * killed / faults)});
    if (first) rows.back().push_back(fmt::format("{} of {}", area["named_rightly"].get<int>(), faults));
  }
  print_table(rows);
  for (const Json& fault : run["faults"]) {
    if (!fault["killed"].get<bool>())
      fmt::print("SURVIVES {} ({}): {}\n", fault["id"].get<std::string>(), fault["place"].get<std::string>(), fault["breaks"].get<std::string>());
    if (first && fault["killed"].get<bool>() && !named_rightly(fault))
      fmt::print("{}: the first to notice is {}\n", fault["id"].get<std::string>(), fault["laws"][0]["first_line"].get<std::string>());
  }
}

/// What a shell would take for more than what stands in quotes is no name.
void check_name(const std::string& name) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("_-.^+ ").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (name.empty() || !std::ranges::all_of(name, plain))
    throw Error(ErrorCode::usage, sim::in_quotes(name) + ": names are of letters, digits, blanks and _ - . ^ +");
}

/// Of a fault: how many runs show it in some bit, and how many of those each rule accepts.
struct Overlooked {
  int shown = 0;
  std::vector<int> accepted;
};
Overlooked overlooked(const Json& fault, const Json& tolerances) {
  Overlooked counts{0, std::vector<int>(tolerances.size())};
  for (const Json& run : fault["runs"]) {
    if (run["differ"] == 0) continue;
    ++counts.shown;
    for (std::size_t i = 0; i < tolerances.size(); ++i) counts.accepted[i] += contains(run["accepted"], tolerances[i]["suite"].text()) ? 1 : 0;
  }
  return counts;
}

void print_blind(const Json& run) {
  const Json& tolerances = run["tolerances"];
  for (std::size_t i = 0; i < tolerances.size(); ++i) {
    fmt::print("{:>2}  {}: {} ({})\n", i + 1, tolerances[i]["suite"].get<std::string>(), tolerances[i]["rule"].get<std::string>(),
               tolerances[i]["source"].get<std::string>());
  }
  std::vector<std::vector<std::string>> rows{{"fault", "shown"}};
  for (std::size_t i = 0; i < tolerances.size(); ++i) rows[0].push_back(std::to_string(i + 1));
  std::vector<int> overlooked_by_rule(tolerances.size());
  int shown = 0;
  for (const Json& fault : run["faults"]) {
    const Overlooked counts = overlooked(fault, tolerances);
    if (counts.shown == 0) continue;
    ++shown;
    rows.push_back({fault["id"].text(), std::to_string(counts.shown)});
    for (std::size_t i = 0; i < counts.accepted.size(); ++i) {
      rows.back().push_back(counts.accepted[i] == 0 ? "." : std::to_string(counts.accepted[i]));
      overlooked_by_rule[i] += counts.accepted[i] > 0 ? 1 : 0;
    }
  }
  rows.push_back({"overlooked somewhere", std::to_string(shown)});
  for (const int count : overlooked_by_rule) rows.back().push_back(std::to_string(count));
  fmt::print("\nshown: runs (backend x data) whose output differs in some bit; below each rule: how many of them it lets pass\n\n");
  print_table(rows);
  fmt::print("\n{} of {} faults show in some output\n", shown, run["faults"].size());
  for (const Json& fault : run["faults"]) {
    const auto why = fault["no_numbers"].get<std::string>();
    if (!why.empty()) fmt::print("no rule applies to {}: {}\n", fault["id"].get<std::string>(), why);
    if (why.empty() && overlooked(fault, tolerances).shown == 0)
      fmt::print("not shown: {}{}\n", fault["id"].get<std::string>(), fault["threw"] == 0 ? "" : ", and some outputs throw");
  }
}

/// 5 when no output shows any of the faults to which rules apply: such data say nothing about the rules.
int blind_status(const Json& run) {
  const auto shows = [&](const Json& fault) { return overlooked(fault, run["tolerances"]).shown > 0; };
  return std::ranges::any_of(run["faults"], shows) ? 0 : kMistrusted;
}

int blind(const FaultsOptions& options, const std::string& arguments) {
  Json json = json_head("blindness");
  json.update(ask_helper(arguments));
  const int status = blind_status(json);
  json["exit_code"] = status;
  if (!options.output.empty()) write_picture(options.output, json, options.force);
  if (options.json) {
    print_json(json);
  } else if (options.output.empty()) {
    print_blind(json);
  }
  return status;
}

/// Counts of each table by who noticed, in the order in which tables come.
Json tables_of(const Json& changes) {
  Json tables = Json::array();
  for (const Json& change : changes) {
    auto table = std::ranges::find_if(tables, [&](const Json& known) { return known["table"] == change["table"]; });
    if (table == tables.end()) {
      tables.push_back({{"table", change["table"]}, {"changes", 0}});
      for (const std::string_view judgement : kJudgements) tables.back()[std::string(judgement)] = 0;
      table = std::prev(tables.end());
    }
    for (const std::string& count : {std::string("changes"), change["judgement"].get<std::string>()})
      (*table)[count] = (*table)[count].get<int>() + 1;
  }
  return tables;
}

void print_tables(const Json& json) {
  std::vector<std::vector<std::string>> rows{{"table", "changes"}};
  rows[0].insert(rows[0].end(), kJudgements.begin(), kJudgements.end());
  rows[0].push_back("score");
  for (const Json& table : json["tables"]) {
    rows.push_back({table["table"].text(), std::to_string(table["changes"].get<int>())});
    for (const std::string_view judgement : kJudgements) rows.back().push_back(std::to_string(table[std::string(judgement)].get<int>()));
    const int told = table["changes"].get<int>() - table["equivalent"].get<int>();
    rows.back().push_back(told == 0 ? "" : fmt::format("{:.1f} %", 100.0 * (told - table["survives"].get<int>()) / told));
  }
  print_table(rows);
  for (const Json& change : json["changes"]) {
    if (change["judgement"] != "survives") continue;
    fmt::print("SURVIVES {} {} {}: {}\n", change["table"].get<std::string>(), change["row"].get<std::string>(), change["change"].get<std::string>(),
               change["text"].get<std::string>());
  }
}

/// Exit status 1 when a change that alters an output is noticed by nobody, 5 when none alters an output.
int tables(const FaultsOptions& options, const std::string& arguments) {
  if (!options.output.empty()) throw Error(ErrorCode::usage, "changes of tables are not drawn", "--output");
  Json json = json_head("table-changes");
  json.update(ask_helper(arguments));
  json["tables"] = tables_of(json["changes"]);
  const bool survivor = std::ranges::any_of(json["changes"], [](const Json& change) { return change["judgement"] == "survives"; });
  const bool blind = std::ranges::all_of(json["changes"], [](const Json& change) { return change["judgement"] == "equivalent"; });
  const int status = survivor ? 1 : blind ? kMistrusted : 0;
  json["exit_code"] = status;
  if (options.json) {
    print_json(json);
  } else {
    print_tables(json);
  }
  return status;
}

/// The helper's word for what is asked.
std::string work_of(const FaultsOptions& options) {
  if (options.tables) return options.sample > 0 ? fmt::format("tables:{}", options.sample) : "tables";
  if (options.blind) return "blind";
  return options.all ? "all" : options.first ? "first" : "named";
}

int faults(const FaultsOptions& options) {
  if (options.history) {
    fmt::print("{}", ask_helper("history 1")["markdown"].get<std::string>());
    return 0;
  }
  if (!options.output.empty()) require_svg(options.output, options.force);
  const std::int64_t jobs = options.jobs > 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
  std::string arguments = fmt::format("{} {}", work_of(options), jobs);
  for (const std::string& name : options.names) {
    check_name(name);
    arguments += " " + shell_word(name);
  }
  if (options.blind) return blind(options, arguments);
  if (options.tables) return tables(options, arguments);
  const Json run = ask_helper(arguments);
  Json json = json_head("faults");
  json.update(run);
  json["numbers"] = numbers_of(run["laws"]);
  json["areas"] = areas_of(run["faults"]);
  const bool survivor = std::ranges::any_of(run["faults"], [](const Json& fault) { return !fault["killed"].get<bool>(); });
  const bool untried = std::ranges::any_of(run["faults"], [](const Json& fault) { return fault["tried"] == 0; });
  const int status = survivor ? 1 : untried ? kMistrusted : 0;
  json["exit_code"] = status;
  if (!options.output.empty()) write_picture(options.output, json, options.force);
  if (options.json) {
    print_json(json);
  } else if (options.output.empty()) {
    print_text(json);
  }
  return status;
}

}  // namespace

void add_faults(Verb app, Action& action) {
  const Verb verb = app.add_verb("faults", "make the model wrong on purpose and see which laws notice (exit 1 when a fault survives)");
  const auto options = std::make_shared<FaultsOptions>();
  verb.add_option("FAULT", options->names,
                  "faults or areas (numerics, kernels, layouts, moe, oracle, simulator, checker), with --tables tables or changes as "
                  "they are printed; all without one");
  const Option all = verb.add_flag("--all", options->all, "every law under every fault, not only those that the fault's row names: an hour");
  const Option first =
      verb.add_flag("--first", options->first, "laws in their order until one notices: whether the first line of a failure names the right one")
          .excludes(all);
  const Option history =
      verb.add_flag("--history", options->history, "the bugs of real implementations that faults replay, as the table of docs/history.md");
  const Option blind = verb.add_flag("--blind", options->blind, "which public tolerances would have let an MoE layer with the fault pass")
                           .excludes(all)
                           .excludes(first);
  const Option tables =
      verb.add_flag("--tables", options->tables,
                    "every single change of the tables of numbers, routers, activations and layouts instead, and who notices: minutes")
          .excludes(all)
          .excludes(first)
          .excludes(blind)
          .excludes(history);
  verb.add_option("--sample", options->sample, "so many of the changes of tables, always the same ones (default: all)")
      .check(whole_number_in(1, 9999))
      .needs(tables);
  verb.add_option("--jobs", options->jobs, "processes at a time (default: one per core)").check(whole_number_in(1, 999));
  verb.add_option("-o,--output", options->output, "writes the matrix, FILE.svg, instead of the text");
  verb.add_flag("--force", options->force, "overwrite the file");
  verb.add_flag("--json", options->json, "machine-readable output");
  verb.callback([&action, options] { action = [options] { return faults(*options); }; });
}

}  // namespace mx::cli
