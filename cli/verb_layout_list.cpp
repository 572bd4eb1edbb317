// mxact layout list: every backend's tensors and every building block.

#include <memory>

#include "cli/document.hpp"
#include "cli/verb_layout.hpp"
#include "verbs/layout/layout_document.hpp"

namespace mx::cli {
namespace {

struct Arguments {
  verbs::LayoutFilters filters;
  DocumentOptions out;
};

}  // namespace

void add_layout_list(Verb layout, Action& action) {
  const Verb verb = layout.add_verb("list", "every backend's tensors and every building block");
  const auto arguments = std::make_shared<Arguments>();
  verb.add_option("--backend", arguments->filters.backend, "this backend only");
  verb.add_option("--format", arguments->filters.format,
                  "this weight format only: mxfp4, nvfp4, mxfp8, fp8_tensor, fp8_channel, fp8_block, int4, fp8_block_e8m0, fp8_pair");
  verb.add_option("--engine", arguments->filters.engine, "this version of the engine only: vllm@2026-05, vllm@2026-08");
  add_json_option(verb, arguments->out);
  verb.callback([&action, arguments] { action = [arguments] { return show(verbs::layout_list_document(arguments->filters), arguments->out); }; });
}

}  // namespace mx::cli
