// mxact gen: the vectors of an operation on stdout, for a device that appends its answers.

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "cli/document.hpp"
#include "cli/vector_options.hpp"
#include "cli/verbs.hpp"
#include "golden/vectors/text.hpp"
#include "model/error.hpp"
#include "verbs/vectors/gen_document.hpp"

namespace mx::cli {
namespace {

struct GenOptions {
  VectorOptions vectors;
  bool list = false;
  bool no_header = false;
  DocumentOptions out;
};

void write(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    throw Error(ErrorCode::resource, fmt::format("stdout cannot be written: {}", std::strerror(errno)));
}

int generate(const GenOptions& options) {
  constexpr std::size_t kBuffer = std::size_t{1} << 20;
  const std::unique_ptr<golden::VectorOp> op = op_of(options.vectors);
  if (const std::string which = which_formats(options.vectors, *op); !which.empty()) fmt::print(stderr, "mxact: {}\n", which);
  golden::VectorSet set(*op, set_of(options.vectors));
  const std::vector<golden::Column> columns = options.vectors.with_expected ? golden::file_columns(*op) : op->operands();
  std::string text = options.no_header ? "" : golden::header_text(*op, set, columns);
  std::vector<std::uint32_t> operands(golden::lane_count(op->operands()));
  std::vector<std::uint32_t> lanes;
  while (set.next(operands)) {
    if (options.vectors.with_expected) golden::file_lanes(*op, operands, lanes);
    golden::append_fields(text, columns, options.vectors.with_expected ? lanes : operands, ' ');
    text += '\n';
    if (text.size() < kBuffer) continue;
    write(text);
    text.clear();
  }
  write(text);
  return 0;
}

/// What the set is, without its vectors.
int describe_set(const GenOptions& options) {
  const std::unique_ptr<golden::VectorOp> op = op_of(options.vectors);
  const golden::VectorSet set(*op, set_of(options.vectors));
  verbs::Document document = verbs::set_document(*op, set, options.vectors.with_expected);
  if (std::string which = which_formats(options.vectors, *op); !which.empty()) document.note(std::move(which));
  return show(document, options.out);
}

}  // namespace

void add_gen(Verb app, Action& action) {
  const Verb verb = app.add_verb("gen", "vectors for a device: mxact gen OP | DEVICE | mxact ver OP");
  const auto options = std::make_shared<GenOptions>();
  add_vector_options(verb, options->vectors);
  verb.add_flag("--no-header", options->no_header, "no lines that begin with //");
  verb.add_flag("--list", options->list, "name the operations instead");
  add_json_option(verb, options->out, "the set's facts and columns instead of its vectors");
  verb.callback([&action, options] {
    action = [options] {
      if (options->list) return show(verbs::operations_document(), options->out);
      return options->out.json ? describe_set(*options) : generate(*options);
    };
  });
}

}  // namespace mx::cli
