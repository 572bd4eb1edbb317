#include "model/engine/vllm/kernel_reports.hpp"

#include <array>

namespace mx::engine {
namespace {

struct ReportRow {
  std::string_view oracle;
  std::string_view backend;
  std::string_view activation;  ///< empty: any
  std::string_view text;
  std::string_view source;
};
constexpr std::array kReports{
    // TRT-LLM's cubins of FlashInfer v0.6.17, v0.6.18, v0.6.18.post1 and main of 2026-09; SwiGLU of the same sizes is right.
    ReportRow{"nvfp4", "FLASHINFER_TRTLLM", "SITU",
              "reported of FlashInfer 0.6.17 and 0.6.18 with SITU: for some top_k, experts of a rank and tokens the first product writes no scales, "
              "so that "
              "the layer's output is zeros, without an error",
              "flashinfer issue 5053"},
};

}  // namespace

std::vector<std::string> kernel_reports(std::string_view oracle, const deployment::Deployment& deployment, std::string_view backend) {
  std::vector<std::string> lines;
  for (const ReportRow& row : kReports) {
    if (row.oracle != oracle || row.backend != backend || (!row.activation.empty() && row.activation != deployment.layer.activation)) continue;
    lines.push_back(std::string(row.backend) + ": " + std::string(row.text) + " (" + std::string(row.source) + ")");
  }
  return lines;
}

}  // namespace mx::engine
