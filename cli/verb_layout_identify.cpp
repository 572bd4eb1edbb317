// mxact layout identify: which known layout turns this tensor into that buffer.

#include <fmt/core.h>

#include <memory>
#include <string>

#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "cli/verb_layout.hpp"
#include "verbs/layout/identify/identify.hpp"
#include "verbs/layout/identify/tensor_file.hpp"

namespace mx::cli {
namespace {

constexpr int kIdentified = 0;
constexpr int kUnknown = 1;
constexpr int kAmbiguous = 5;

struct Arguments {
  std::string canonical;
  std::string packed;
  std::string shape;
  int unit_bits = 0;
  bool json = false;
};

Json match_json(const golden::Match& match) {
  return {{"name", golden::name_of(match.choice)},
          {"layout", golden::spec_of(match.choice)},
          {"version", golden::version_of(match.choice)},
          {"compared", match.compared},
          {"equal", match.equal}};
}

Json identification_json(const golden::Identification& found) {
  Json out = json_head("layout-identify");
  for (const golden::Matrix& matrix : found.read_as) {
    out["read_as"].push_back({{"batch", matrix.batch}, {"rows", matrix.rows}, {"cols", matrix.cols}, {"unit_bits", matrix.unit_bits}});
  }
  out["known"] = found.known;
  out["tried"] = found.tried;
  out["ambiguous"] = found.is_ambiguous();
  out["constant"] = found.constant;
  out["groups"] = Json::array();
  for (const std::vector<golden::Match>& group : found.groups) {
    Json matches = Json::array();
    for (const golden::Match& match : group) matches.push_back(match_json(match));
    out["groups"].push_back(matches);
  }
  out["partial"] = Json::array();
  for (const golden::Match& match : found.partial) out["partial"].push_back(match_json(match));
  return out;
}

void print_group(const std::vector<golden::Match>& group) {
  for (const golden::Match& match : group) fmt::print("  {} ({})\n", golden::spec_of(match.choice), golden::version_of(match.choice));
}

void print_identification(const golden::Identification& found) {
  if (found.is_exact() && !found.is_ambiguous()) {
    fmt::print("exact match{}:\n", found.groups.front().size() == 1 ? "" : ", the same layout under each of these names");
    print_group(found.groups.front());
    return;
  }
  if (found.is_ambiguous()) {
    if (found.constant)
      fmt::print("every byte of the tensor is the same: any rearrangement would match, of the known ones\n");
    else
      fmt::print("the data cannot tell {} different layouts apart:\n", found.groups.size());
    for (const std::vector<golden::Match>& group : found.groups) {
      print_group(group);
      fmt::print("\n");
    }
    return;
  }
  fmt::print("no known layout: {} of {} programs that take this tensor give a buffer of that size\n", found.tried, found.known);
  std::vector<std::vector<std::string>> rows{{"equal", "of", "share", "layout"}};
  for (const golden::Match& match : found.partial) {
    rows.push_back(
        {std::to_string(match.equal), std::to_string(match.compared), fmt::format("{:.4g} %", 100 * match.share()), golden::spec_of(match.choice)});
  }
  if (rows.size() > 1) print_table(rows);
}

int identify(const Arguments& arguments) {
  const golden::TensorFile canonical = golden::open_tensor(arguments.canonical);
  const golden::TensorFile packed = golden::open_tensor(arguments.packed);
  const std::vector<golden::Matrix> matrices =
      golden::matrices_of(canonical.shape, canonical.element_bits, canonical.bytes.size(), arguments.shape, arguments.unit_bits);
  ProgressLine progress;
  const golden::Identification found =
      golden::identify(canonical.bytes, matrices, packed.bytes, [&](double share) { progress.show("layouts tried", share); });
  if (arguments.json)
    print_json(identification_json(found));
  else
    print_identification(found);
  if (!found.is_exact()) return kUnknown;
  return found.is_ambiguous() ? kAmbiguous : kIdentified;
}

}  // namespace

void add_layout_identify(Verb layout, Action& action) {
  const Verb verb = layout.add_verb("identify", "which known layout turns a tensor into a buffer; ends with 1 when none does, 5 when several do");
  const auto arguments = std::make_shared<Arguments>();
  verb.add_option("CANONICAL", arguments->canonical, "the checkpoint's tensor: FILE of raw bytes, or FILE.safetensors:TENSOR").required();
  verb.add_option("PACKED", arguments->packed, "the buffer, likewise").required();
  verb.add_option("--shape", arguments->shape, "of CANONICAL: RxC or BxRxC units (batch of experts, rows, columns); known of a safetensors tensor");
  verb.add_option("--unit-bits", arguments->unit_bits, "bits of such a unit (default: from the size; units of 8 bits are also tried as two of 4)")
      .check(whole_number_in(1, 64));
  verb.add_flag("--json", arguments->json, "machine-readable output");
  verb.callback([&action, arguments] { action = [arguments] { return identify(*arguments); }; });
}

}  // namespace mx::cli
