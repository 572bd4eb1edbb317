// mxact gen: the vectors of an operation on stdout, for a device that appends its answers.

#include <fmt/core.h>

#include <cstdio>
#include <memory>

#include "cli/output.hpp"
#include "cli/vector_options.hpp"
#include "cli/verbs.hpp"
#include "golden/vectors/families.hpp"
#include "golden/vectors/text.hpp"
#include "model/error.hpp"

namespace mx::cli {
namespace {

struct GenOptions {
  VectorOptions vectors;
  bool list = false;
  bool no_header = false;
  bool json = false;
};

int list_operations(bool as_json) {
  Json json = json_head("gen");
  std::vector<std::vector<std::string>> rows{{"family", "operations", "names", "what"}};
  for (const golden::OpFamily& family : golden::all_op_families()) {
    const std::vector<std::string> names = family.names();
    rows.push_back({std::string(family.name), std::to_string(names.size()), std::string(family.pattern), std::string(family.summary)});
    json["families"].push_back({{"family", family.name}, {"pattern", family.pattern}, {"summary", family.summary}, {"operations", names}});
  }
  as_json ? print_json(json) : print_table(rows);
  return 0;
}

void write(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) throw Error(ErrorCode::resource, "stdout cannot be written");
}

int generate(const GenOptions& options) {
  constexpr std::size_t kBuffer = std::size_t{1} << 20;
  const std::unique_ptr<golden::VectorOp> op = op_of(options.vectors);
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
  Json json = json_head("gen");
  for (const golden::OpSetting& fact : golden::header_facts(*op, set)) json["facts"][fact.key] = fact.value;
  const std::vector<golden::Column> columns = options.vectors.with_expected ? golden::file_columns(*op) : op->operands();
  for (const golden::Column& column : columns) json["columns"].push_back({{"name", column.name}, {"lanes", column.lanes}, {"bits", column.bits}});
  print_json(json);
  return 0;
}

}  // namespace

void add_gen(Verb app, Action& action) {
  const Verb verb = app.add_verb("gen", "vectors for a device: mxact gen OP | DEVICE | mxact ver OP");
  const auto options = std::make_shared<GenOptions>();
  add_vector_options(verb, options->vectors);
  verb.add_flag("--no-header", options->no_header, "no lines that begin with //");
  verb.add_flag("--list", options->list, "name the operations instead");
  verb.add_flag("--json", options->json, "the set's facts and columns instead of its vectors");
  verb.callback([&action, options] {
    action = [options] {
      if (options->list) return list_operations(options->json);
      return options->json ? describe_set(*options) : generate(*options);
    };
  });
}

}  // namespace mx::cli
