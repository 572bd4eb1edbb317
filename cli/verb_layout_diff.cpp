// mxact layout diff: where two layouts part.

#include <memory>
#include <string>
#include <utility>

#include "cli/layout_options.hpp"
#include "cli/numbers.hpp"
#include "cli/verb_layout.hpp"
#include "support/file.hpp"
#include "verbs/draw/picture.hpp"
#include "verbs/layout/layout_document.hpp"

namespace mx::cli {
namespace {

struct Arguments {
  std::string a;
  std::string b;
  LayoutOptions options;
  std::int64_t most = 8;
};

constexpr std::int64_t kMostShown = 1 << 20;

int diff(const Arguments& arguments) {
  require_outputs(arguments.options.out);
  const std::vector<verbs::KeyValue> common = arguments.options.fields();
  const verbs::Subject a = verbs::resolve(verbs::query_from(arguments.a, common));
  const verbs::Subject b = verbs::resolve(verbs::query_from(arguments.b, common));
  const verbs::LayoutDifference found = verbs::difference(a, b, static_cast<std::size_t>(arguments.most));
  DocumentOptions out = arguments.options.out;
  if (!out.picture.empty()) {
    const std::string picture = verbs::as_file(verbs::draw_difference(a, b));
    support::write_file(out.picture, {reinterpret_cast<const std::uint8_t*>(picture.data()), picture.size()}, out.force);
  }
  const bool drawn = !std::exchange(out.picture, {}).empty();
  verbs::Document document = verbs::layout_diff_document(a, b, found);
  note_variables(document, common, a);
  note_variables(document, common, b);
  return show(document, out, !drawn);
}

}  // namespace

void add_layout_diff(Verb layout, Action& action) {
  const Verb verb = layout.add_verb("diff", "where two layouts of one tensor part; ends with 1 when they do");
  const auto arguments = std::make_shared<Arguments>();
  verb.add_option("A", arguments->a, "a backend, a building block or a model, with choices of its own: TRITON,engine=2026-08").required();
  verb.add_option("B", arguments->b, "the other").required();
  verb.add_option("--first", arguments->most, "how many runs of differing addresses are shown (default 8)").check(whole_number_in(0, kMostShown));
  add_picture_option(verb, arguments->options.out, "writes both memories as a picture, FILE.svg, instead of the text");
  verb.add_flag("--force", arguments->options.out.force, "overwrite the file");
  add_layout_options(verb, arguments->options);
  verb.callback([&action, arguments] { action = [arguments] { return diff(*arguments); }; });
}

}  // namespace mx::cli
