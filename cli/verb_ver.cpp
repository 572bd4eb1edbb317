// mxact ver: a device's answers held against an operation.

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>

#include "cli/document.hpp"
#include "cli/numbers.hpp"
#include "cli/progress_line.hpp"
#include "cli/vector_options.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "verbs/vectors/ver_document.hpp"

namespace mx::cli {
namespace {

struct VerOptions {
  VectorOptions vectors;
  std::uint64_t show = 20;
  bool coverage = false;
  DocumentOptions out;
};

golden::CheckReport check_stdin(golden::StreamChecker& checker) {
  std::array<char, std::size_t{1} << 16> buffer{};
  ProgressLine line;
  std::uint64_t bytes = 0;
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), stdin)) > 0;) {
    checker.take({buffer.data(), n});
    bytes += n;
    line.show(fmt::format("{} MB of answers checked", bytes >> 20));
  }
  if (std::ferror(stdin) != 0) throw Error(ErrorCode::resource, "cannot be read", "standard input");
  return checker.finish();
}

int verify_stream(const VerOptions& options) {
  require_outputs(options.out);
  const std::unique_ptr<golden::VectorOp> op = op_of(options.vectors);
  golden::StreamChecker checker(*op, golden::VectorSet(*op, set_of(options.vectors)), options.show, options.vectors.with_expected);
  const golden::CheckReport report = check_stdin(checker);
  return show(verbs::ver_document(*op, report, typed(options.vectors), options.coverage), options.out);
}

}  // namespace

void add_ver(Verb app, Action& action) {
  const Verb verb = app.add_verb("ver", "check a device's answers on standard input: mxact gen OP | DEVICE | mxact ver OP");
  const auto options = std::make_shared<VerOptions>();
  add_vector_options(verb, options->vectors);
  constexpr std::int64_t kMostShown = 1000;
  verb.add_option("--show", options->show, "mismatches to print (default 20)").check(whole_number_in(0, kMostShown));
  verb.add_flag("--coverage", options->coverage, "name missed and unreachable bins");
  add_check_options(verb, options->out);
  verb.callback([&action, options] { action = [options] { return verify_stream(*options); }; });
}

}  // namespace mx::cli
