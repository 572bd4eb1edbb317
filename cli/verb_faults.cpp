// mxact faults: the model made wrong on purpose, one fault at a time, and which laws notice. The faults live in a helper program beside this one:
// what is shipped cannot be made wrong.

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cli/document.hpp"
#include "cli/numbers.hpp"
#include "cli/progress_line.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "support/child.hpp"
#include "verbs/faults/faults_document.hpp"

namespace mx::cli {
namespace {

/// Of the helper's answer, which lists every law and change.
constexpr support::JsonLimits kAnswer{.bytes = std::uint64_t{256} << 20, .depth = 16, .memory = std::uint64_t{4} << 30};

struct FaultsOptions {
  std::vector<std::string> names;
  bool first = false;
  bool all = false;
  bool blind = false;
  bool history = false;
  bool tables = false;
  std::int64_t sample = 0;
  std::int64_t jobs = 0;
  DocumentOptions out;
};

/// The helper's answer; its errors are those of this verb.
support::Json ask_helper(std::vector<std::string> words) {
  const auto helper = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "mxact_faults";
  if (!std::filesystem::exists(helper))
    throw Error(ErrorCode::unsupported,
                "no model that can be made wrong stands beside this program: `./harness test` builds it, and so does the target mxact_faults of a "
                "build with tests");
  words.insert(words.begin(), helper.string());
  const support::ChildAnswer answer = support::ask_child(words, kAnswer.bytes, {});
  if (answer.status != 0)
    throw Error(
        answer.status == static_cast<int>(ErrorCode::usage) ? ErrorCode::usage : ErrorCode::resource,
        answer.output.empty() ? fmt::format("mxact_faults ended with status {}", answer.status) : answer.output.substr(0, answer.output.find('\n')));
  return support::parse_json(answer.output, kAnswer, "mxact_faults");
}

/// The helper's word for what is asked.
std::string work_of(const FaultsOptions& options) {
  if (options.tables) return options.sample > 0 ? fmt::format("tables:{}", options.sample) : "tables";
  if (options.blind) return "blind";
  return options.all ? "all" : options.first ? "first" : "named";
}

int faults(const FaultsOptions& options) {
  if (options.history) {
    fmt::print("{}", ask_helper({"history", "1"}).at("markdown").text());
    return 0;
  }
  require_outputs(options.out);
  const std::int64_t jobs = options.jobs > 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::string> words{work_of(options), std::to_string(jobs)};
  words.insert(words.end(), options.names.begin(), options.names.end());
  if (options.tables && !options.out.picture.empty()) throw Error(ErrorCode::usage, "changes of tables are not drawn", "--output");
  const support::Json run = [&] {
    ProgressLine line;
    line.show("laws under faults");
    return ask_helper(words);
  }();
  if (options.blind) return show(verbs::blindness_document(run), options.out);
  return show(options.tables ? verbs::table_changes_document(run) : verbs::faults_document(run), options.out);
}

}  // namespace

void add_faults(Verb app, Action& action) {
  const Verb verb = app.add_verb("faults", "make the model wrong on purpose and see which laws notice (exit 1 when a fault survives)");
  const auto options = std::make_shared<FaultsOptions>();
  verb.add_option("FAULT", options->names,
                  "faults or areas (numerics, kernels, layouts, moe, oracle, simulator, configurations, checker), with --tables tables or changes "
                  "as they are printed; all without one")
      .distinct();
  const Option all = verb.add_flag("--all", options->all, "every law under every fault, not only those that the fault's row names: an hour");
  const Option first =
      verb.add_flag("--first", options->first, "laws in their order until one notices: whether the first line of a failure names the right one")
          .excludes(all);
  const Option history = verb.add_flag("--history", options->history, "the bugs of real implementations that faults replay, as a table of Markdown");
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
  add_picture_option(verb, options->out, "writes the matrix, FILE.svg, instead of the text");
  verb.add_flag("--force", options->out.force, "overwrite the file");
  add_json_option(verb, options->out);
  verb.callback([&action, options] { action = [options] { return faults(*options); }; });
}

}  // namespace mx::cli
