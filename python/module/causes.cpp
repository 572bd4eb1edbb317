// Which wrong rule explains the answers of somebody else's quantizer: the search of `mxact ver`, on blocks that Python's side drew.

#include <algorithm>

#include "golden/vectors/block_subject.hpp"
#include "golden/vectors/describe.hpp"
#include "golden/vectors/explain.hpp"
#include "python/module/core.hpp"

namespace mx::python {
namespace {

using Words = nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::span<const std::uint32_t> row_of(const Words& words, std::size_t row) { return {words.data() + row * words.shape(1), words.shape(1)}; }

/// One line for each rule that stands for itself, the best first, as `ver` writes it. operands: of each block its elements' bits, then the numbers of
/// the tensor; answers: its scale, then its codes. None for a format whose blocks no vector holds.
std::vector<std::string> causes(const std::string& format, const std::string& profile, const std::string& source, const Words& operands,
                                const Words& answers) {
  const nb::gil_scoped_release unlocked;
  const OrdinaryMode mode;
  const auto op = golden::make_quantize("quantize_" + format, golden::OpOptions({{"profile", profile}, {"from", source}}));
  std::vector<std::string> lines;
  if (op == nullptr) return lines;
  golden::Evidence evidence(*op);
  std::vector<std::uint32_t> right(answers.shape(1));
  std::vector<std::uint32_t> mask(answers.shape(1));
  for (std::size_t row = 0; row < operands.shape(0); ++row) {
    op->evaluate(row_of(operands, row), right);
    op->mask(row_of(operands, row), right, mask);
    evidence.add(row_of(operands, row), right, mask, row_of(answers, row), std::ranges::equal(right, row_of(answers, row)));
  }
  const std::vector<golden::Explanation> found = evidence.explanations();
  // As many as say something: the best one, and what explains what is left over.
  for (const golden::Explanation& one : found) {
    if (one.fit() == golden::Fit::in_part || (!lines.empty() && one.beside.empty())) break;
    lines.push_back(golden::describe(one));
  }
  return lines;
}

}  // namespace

void bind_causes(nb::module_& module) {
  module.def("block_causes", causes, nb::arg("format"), nb::arg("profile"), nb::arg("source"), nb::arg("operands"), nb::arg("answers"));
}

}  // namespace mx::python
