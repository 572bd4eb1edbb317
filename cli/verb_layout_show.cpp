// mxact layout show: one layout, its program, digits, formula, a worked example, what it needs and where it comes from.

#include <memory>
#include <string>
#include <vector>

#include "cli/layout_options.hpp"
#include "cli/verb_layout.hpp"
#include "verbs/layout/layout_document.hpp"

namespace mx::cli {
namespace {

struct Arguments {
  std::string name;
  LayoutOptions options;
};

/// Without a shape there is no program: what the tables say.
int show_layout(const Arguments& arguments) {
  require_layout(arguments.options.engine(), arguments.name);
  const std::vector<verbs::KeyValue> fields = arguments.options.fields_of(arguments.name);
  const verbs::LayoutQuery query = verbs::query_from(arguments.name, fields);
  if (query.fields.empty()) return show(verbs::layout_rows_document(arguments.name), arguments.options.out);
  const verbs::Subject subject = verbs::resolve(query);
  verbs::Document document = verbs::layout_show_document(subject);
  note_conversion(document, arguments.options.engine(), subject);
  note_variables(document, fields, subject);
  return show(document, arguments.options.out);
}

}  // namespace

void add_layout_show(Verb layout, Action& action) {
  const Verb verb = layout.add_verb("show", "a layout: program, digits, formula, example, needs, source");
  const auto arguments = std::make_shared<Arguments>();
  verb.add_option("NAME", arguments->name,
                  "a backend or a building block (mxact layout list), or a model with --platform; without --shape what holds for every shape")
      .required();
  add_layout_options(verb, arguments->options);
  add_layout_deployment(verb, arguments->options);
  verb.callback([&action, arguments] { action = [arguments] { return show_layout(*arguments); }; });
}

}  // namespace mx::cli
