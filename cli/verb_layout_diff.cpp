// mxact layout diff: where two layouts part.

#include <fmt/core.h>

#include <memory>
#include <string>

#include "cli/layout_options.hpp"
#include "cli/numbers.hpp"
#include "cli/picture_file.hpp"
#include "cli/verb_layout.hpp"
#include "support/file.hpp"
#include "verbs/draw/picture.hpp"
#include "verbs/layout/difference.hpp"

namespace mx::cli {
namespace {

struct Arguments {
  std::string a;
  std::string b;
  LayoutOptions options;
  std::int64_t most = 8;
  std::string output;
  bool force = false;
};

constexpr std::int64_t kMostShown = 1 << 20;

Json difference_json(const golden::Subject& a, const golden::Subject& b, const golden::LayoutDifference& found) {
  Json out = json_head("layout-diff");
  out["a"] = golden::spec_of(a.choice);
  out["b"] = golden::spec_of(b.choice);
  out["equal"] = found.equal();
  if (!found.values.empty()) out["values"] = found.values;
  out["address_bits"] = found.grain_bits;
  out["addresses"] = found.addresses;
  out["differing"] = found.differing;
  out["first"] = Json::array();
  for (const golden::Difference& one : found.first)
    out["first"].push_back({{"address", one.address}, {"count", one.count}, {"a", one.a}, {"b", one.b}});
  out["digits_only_in_a"] = digits_json(a.layout, found.only_a);
  out["digits_only_in_b"] = digits_json(b.layout, found.only_b);
  return out;
}

void print_difference(const golden::Subject& a, const golden::Subject& b, const golden::LayoutDifference& found) {
  fmt::print("a: {}\nb: {}\n", golden::spec_of(a.choice), golden::spec_of(b.choice));
  if (!found.values.empty()) {
    fmt::print("they change values differently: {}\n", found.values);
    return;
  }
  if (found.equal()) {
    fmt::print("equal: all {} addresses of {} bits hold the same\n", found.addresses, found.grain_bits);
    return;
  }
  fmt::print("{} of {} addresses of {} bits differ\n", found.differing, found.addresses, found.grain_bits);
  std::vector<std::vector<std::string>> rows{{"address", "count", "a", "b"}};
  for (const golden::Difference& one : found.first) rows.push_back({std::to_string(one.address), std::to_string(one.count), one.a, one.b});
  print_table(rows);
  if (!found.only_a.empty()) fmt::print("digits of a only:\n{}", digits_text(a.layout, found.only_a));
  if (!found.only_b.empty()) fmt::print("digits of b only:\n{}", digits_text(b.layout, found.only_b));
}

int diff(const Arguments& arguments) {
  if (!arguments.output.empty()) require_svg(arguments.output, arguments.force);
  const std::vector<golden::Field> common = arguments.options.fields();
  const golden::Subject a = golden::resolve(golden::query_from(arguments.a, common));
  const golden::Subject b = golden::resolve(golden::query_from(arguments.b, common));
  const golden::LayoutDifference found = golden::difference(a, b, static_cast<std::size_t>(arguments.most));
  if (!arguments.output.empty()) {
    const std::string picture = golden::as_file(golden::draw_difference(a, b));
    sim::write_file(arguments.output, {reinterpret_cast<const std::uint8_t*>(picture.data()), picture.size()}, arguments.force);
  }
  if (arguments.options.json)
    print_json(difference_json(a, b, found));
  else if (arguments.output.empty())
    print_difference(a, b, found);
  return found.equal() ? 0 : 1;
}

}  // namespace

void add_layout_diff(Verb layout, Action& action) {
  const Verb verb = layout.add_verb("diff", "where two layouts of one tensor part; ends with 1 when they do");
  const auto arguments = std::make_shared<Arguments>();
  verb.add_option("A", arguments->a, "a backend or a building block, with choices of its own: TRITON,engine=2026-08").required();
  verb.add_option("B", arguments->b, "the other").required();
  verb.add_option("--first", arguments->most, "how many runs of differing addresses are shown (default 8)").check(whole_number_in(0, kMostShown));
  verb.add_option("-o,--output", arguments->output, "writes both memories as a picture, FILE.svg, instead of the text");
  verb.add_flag("--force", arguments->force, "overwrite the file");
  add_layout_options(verb, arguments->options);
  verb.callback([&action, arguments] { action = [arguments] { return diff(*arguments); }; });
}

}  // namespace mx::cli
