// mxact ver: a device's answers held against an operation.

#include <fmt/core.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "cli/document.hpp"
#include "cli/numbers.hpp"
#include "cli/progress_line.hpp"
#include "cli/vector_options.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "verbs/vectors/coverage_document.hpp"
#include "verbs/vectors/ver_document.hpp"

namespace mx::cli {
namespace {

struct VerOptions {
  VectorOptions vectors;
  std::uint64_t show = 20;
  bool coverage = false;
  std::string input;
  std::string coverage_out;
  DocumentOptions out;
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

golden::CheckReport check_stream(golden::StreamChecker& checker, std::FILE* stream, const std::string& name) {
  std::array<char, std::size_t{1} << 16> buffer{};
  ProgressLine line;
  std::uint64_t bytes = 0;
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), stream)) > 0;) {
    checker.take({buffer.data(), n});
    bytes += n;
    line.show(fmt::format("{} MB of answers checked", bytes >> 20));
  }
  if (std::ferror(stream) != 0) throw Error(ErrorCode::resource, "cannot be read", name);
  return checker.finish();
}

golden::CheckReport check_input(golden::StreamChecker& checker, const std::string& input) {
  if (input.empty()) return check_stream(checker, stdin, "standard input");
  if (std::filesystem::is_directory(input)) throw Error(ErrorCode::input, "is a directory, not a file of answers", input);
  const File file(std::fopen(input.c_str(), "rb"));
  if (!file) throw Error(ErrorCode::input, std::generic_category().message(errno), input);
  return check_stream(checker, file.get(), input);
}

int verify_stream(const VerOptions& options) {
  DocumentOptions coverage;
  coverage.json_file = options.coverage_out;
  coverage.force = options.out.force;
  require_outputs(options.out);
  require_outputs(coverage);
  const std::unique_ptr<golden::VectorOp> op = op_of(options.vectors);
  golden::StreamChecker checker(*op, golden::VectorSet(*op, set_of(options.vectors)), options.show, options.vectors.with_expected);
  const golden::CheckReport report = check_input(checker, options.input);
  if (!options.coverage_out.empty()) show(verbs::coverage_document(verbs::met_bins(*op, report)), coverage, false);
  return show(verbs::ver_document(*op, report, typed(options.vectors), options.coverage), options.out);
}

}  // namespace

void add_ver(Verb app, Action& action) {
  const Verb verb = app.add_verb("ver", "check a device's answers on standard input: mxact gen OP | DEVICE | mxact ver OP");
  const auto options = std::make_shared<VerOptions>();
  add_vector_options(verb, options->vectors);
  constexpr std::int64_t kMostShown = 1000;
  verb.add_option("--show", options->show, "mismatches to print (default 20)").check(whole_number_in(0, kMostShown));
  verb.add_option("-i,--input", options->input, "file of answers instead of standard input");
  verb.add_option("--coverage-out", options->coverage_out, "writes the bins that were met, FILE.json, for mxact coverage merge");
  verb.add_flag("--coverage", options->coverage, "name missed and unreachable bins");
  add_check_options(verb, options->out);
  verb.callback([&action, options] { action = [options] { return verify_stream(*options); }; });
}

}  // namespace mx::cli
