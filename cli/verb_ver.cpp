// mxact ver: a device's answers held against an operation.

#include <fmt/core.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

#include "cli/document.hpp"
#include "cli/numbers.hpp"
#include "cli/progress_line.hpp"
#include "cli/vector_options.hpp"
#include "cli/verbs.hpp"
#include "golden/vectors/files/coverage_file.hpp"
#include "model/error.hpp"
#include "support/file.hpp"
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

/// Of a file, or of standard input where the path is empty.
golden::CheckReport check_stream(golden::StreamChecker& checker, const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(path.empty() ? nullptr : std::fopen(path.c_str(), "rb"), std::fclose);
  if (!path.empty() && file == nullptr) throw Error(ErrorCode::input, fmt::format("cannot be opened: {}", std::strerror(errno)), path);
  std::FILE* const stream = path.empty() ? stdin : file.get();
  std::array<char, std::size_t{1} << 16> buffer{};
  ProgressLine line;
  std::uint64_t bytes = 0;
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), stream)) > 0;) {
    checker.take({buffer.data(), n});
    bytes += n;
    line.show(fmt::format("{} MB of answers checked", bytes >> 20));
  }
  if (std::ferror(stream) != 0 && path.empty()) throw Error(ErrorCode::resource, "cannot be read", "standard input");
  if (std::ferror(stream) != 0) throw Error(ErrorCode::input, fmt::format("cannot be read: {}", std::strerror(errno)), path);
  return checker.finish();
}

int verify_stream(const VerOptions& options) {
  require_outputs(options.out);
  if (!options.coverage_out.empty()) support::require_writable(options.coverage_out, options.out.force);
  const std::shared_ptr<const golden::VectorOp> op = op_of(options.vectors);
  golden::StreamChecker checker(*op, golden::VectorSet(*op, set_of(options.vectors)), options.show, options.vectors.with_expected);
  const golden::CheckReport report = check_stream(checker, options.input);
  if (!options.coverage_out.empty()) {
    const std::string text = golden::coverage_file_text(golden::coverage_of(op, choices_of(options.vectors), set_of(options.vectors), report));
    support::write_file(options.coverage_out, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, options.out.force);
  }
  verbs::Document document = verbs::ver_document(*op, report, typed(options.vectors), options.coverage);
  if (std::string which = which_formats(options.vectors, *op); !which.empty()) document.note(std::move(which));
  return show(document, options.out);
}

}  // namespace

void add_ver(Verb app, Action& action) {
  const Verb verb = app.add_verb("ver", "check a device's answers: mxact gen OP | DEVICE | mxact ver OP");
  const auto options = std::make_shared<VerOptions>();
  add_vector_options(verb, options->vectors);
  constexpr std::int64_t kMostShown = 1000;
  verb.add_option("--show", options->show, "mismatches to print (default 20)").check(whole_number_in(0, kMostShown));
  verb.add_flag("--coverage", options->coverage, "name missed and unreachable bins");
  verb.add_option("-i,--input", options->input, "file with the answers instead of standard input");
  verb.add_option("--coverage-out", options->coverage_out, "write the bins that came, for mxact coverage merge");
  add_check_options(verb, options->out);
  verb.callback([&action, options] { action = [options] { return verify_stream(*options); }; });
}

}  // namespace mx::cli
