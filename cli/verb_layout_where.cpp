// mxact layout where: from an element to its address and to what a file holds there, and from an address to its element.

#include <memory>
#include <string>
#include <vector>

#include "cli/layout_options.hpp"
#include "cli/numbers.hpp"
#include "cli/verb_layout.hpp"
#include "model/error.hpp"
#include "verbs/layout/layout_document.hpp"

namespace mx::cli {
namespace {

struct Arguments {
  std::string name;
  LayoutOptions options;
  verbs::PlaceAsked asked;
};

int where(const Arguments& arguments) {
  const verbs::PlaceAsked& asked = arguments.asked;
  const int places = (asked.coord.empty() ? 0 : 1) + (asked.address ? 1 : 0) + (asked.byte ? 1 : 0);
  if (places != 1) throw Error(ErrorCode::usage, "say one of --coord, --address, --byte", "layout where");
  if (!asked.memory.empty() && asked.coord.empty()) throw Error(ErrorCode::usage, "--in reads the element of --coord", "layout where");
  require_layout(arguments.options.engine(), arguments.name);
  const std::vector<verbs::KeyValue> fields = arguments.options.fields_of(arguments.name);
  const verbs::Subject subject = verbs::resolve(verbs::query_from(arguments.name, fields));
  verbs::Document document = verbs::layout_where_document(subject, asked);
  note_conversion(document, arguments.options.engine(), subject);
  note_variables(document, fields, subject);
  return show(document, arguments.options.out);
}

}  // namespace

void add_layout_where(Verb layout, Action& action) {
  const Verb verb = layout.add_verb("where", "where an element goes, or what an address holds");
  const auto arguments = std::make_shared<Arguments>();
  verb.add_option("NAME", arguments->name, "a backend or a building block (mxact layout list), or a model with --platform").required();
  verb.add_option("--coord", arguments->asked.coord,
                  "the element: E=0,half=up,I=3,K=17 or batch=0,rows=3,cols=2; axes not named are 0; of scales K=17 is the scale of that element");
  verb.add_option("--in", arguments->asked.memory, "memory in that layout, to read the element from: FILE of raw bytes, or FILE.safetensors:TENSOR");
  verb.add_option("--address", arguments->asked.address, "address in memory, counted as the layout does (layout show says in which bits)")
      .check(whole_number_in(0, INT64_MAX));
  verb.add_option("--byte", arguments->asked.byte, "byte in memory").check(whole_number_in(0, INT64_MAX / 8 - 1));
  add_layout_options(verb, arguments->options);
  add_layout_deployment(verb, arguments->options);
  verb.callback([&action, arguments] { action = [arguments] { return where(*arguments); }; });
}

}  // namespace mx::cli
