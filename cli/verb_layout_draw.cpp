// mxact layout draw: a picture of a layout.

#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/layout_options.hpp"
#include "cli/numbers.hpp"
#include "cli/verb_layout.hpp"
#include "model/error.hpp"
#include "support/file.hpp"
#include "verbs/draw/picture.hpp"
#include "verbs/layout/layout_document.hpp"

namespace mx::cli {
namespace {

struct Arguments {
  std::string name;
  LayoutOptions options;
  std::string output;
  std::string by = "both";
  std::int64_t line = 0;
  std::string of;
  std::string rows;
  bool force = false;
};

int draw(const Arguments& arguments) {
  const verbs::PictureOptions options{
      .panels = verbs::panels_named(arguments.by), .line = arguments.line, .of = arguments.of, .rows = arguments.rows};
  const bool to_stdout = arguments.output == "-";
  if (to_stdout && arguments.options.out.json) throw Error(ErrorCode::usage, "--json and a picture on stdout exclude each other", "layout draw");
  if (!to_stdout && std::filesystem::path(arguments.output).extension() != ".svg")
    throw Error(ErrorCode::usage, fmt::format("-o takes a file that ends in .svg, or -, not '{}'", arguments.output), "layout draw");
  if (!to_stdout) support::require_writable(arguments.output, arguments.force);
  const std::vector<verbs::KeyValue> fields = arguments.options.fields_of(arguments.name);
  const verbs::Subject subject = verbs::resolve(verbs::query_from(arguments.name, fields));
  const std::string picture = verbs::as_file(verbs::draw(subject, options));
  if (to_stdout) {
    fmt::print("{}", picture);
    return 0;
  }
  support::write_file(arguments.output, std::span(reinterpret_cast<const std::uint8_t*>(picture.data()), picture.size()), arguments.force);
  verbs::Document document = verbs::layout_draw_document(subject, arguments.output, picture.size(), verbs::shown_text(subject, options));
  note_variables(document, fields, subject);
  return show(document, arguments.options.out);
}

}  // namespace

void add_layout_draw(Verb layout, Action& action) {
  const Verb verb = layout.add_verb("draw", "an SVG picture of a layout: the tensor and memory, coloured by address");
  const auto arguments = std::make_shared<Arguments>();
  verb.add_option("NAME", arguments->name, "a backend or a building block (mxact layout list), or a model with --platform").required();
  verb.add_option("-o,--output", arguments->output, "the file to write; - for stdout").required();
  verb.add_option("--by", arguments->by, "logical: the tensor; memory: memory with its padding; both (default)");
  verb.add_option("--line", arguments->line, "addresses in a line of memory (default: about as the tensor's rows)")
      .check(whole_number_in(1, std::int64_t{1} << 16));
  verb.add_option("--of", arguments->of, "a part of a large tensor: E=3,half=up; axes not named are whole");
  verb.add_option("--rows", arguments->rows, "of that part the rows A-B, of the axis before the last");
  verb.add_flag("--force", arguments->force, "overwrite the file");
  add_layout_options(verb, arguments->options);
  add_layout_deployment(verb, arguments->options);
  verb.callback([&action, arguments] { action = [arguments] { return draw(*arguments); }; });
}

}  // namespace mx::cli
