// mxact layout identify: which known layout turns this tensor into that buffer.

#include <memory>
#include <string>

#include "cli/document.hpp"
#include "cli/numbers.hpp"
#include "cli/progress_line.hpp"
#include "cli/verb_layout.hpp"
#include "verbs/layout/identify/tensor_file.hpp"
#include "verbs/layout/layout_document.hpp"

namespace mx::cli {
namespace {

struct Arguments {
  std::string canonical;
  std::string packed;
  std::string shape;
  int unit_bits = 0;
  DocumentOptions out;
};

int identify(const Arguments& arguments) {
  const verbs::TensorFile canonical = verbs::open_tensor(arguments.canonical);
  const verbs::TensorFile packed = verbs::open_tensor(arguments.packed);
  const std::vector<verbs::MatrixShape> matrices =
      verbs::matrices_of(canonical.shape, canonical.element_bits, canonical.bytes.size(), arguments.shape, arguments.unit_bits);
  const verbs::Identification found = [&] {
    ProgressLine progress;
    return verbs::identify(canonical.bytes, matrices, packed.bytes, [&](double share) { progress.show("layouts tried", share); });
  }();
  return show(verbs::layout_identify_document(found), arguments.out);
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
  add_json_option(verb, arguments->out);
  verb.callback([&action, arguments] { action = [arguments] { return identify(*arguments); }; });
}

}  // namespace mx::cli
