#pragma once
// What others report of kernels that no field of a deployment decides: it is told where a choice may meet it, and changes no answer.

#include <string>
#include <string_view>
#include <vector>

#include "model/deployment/deployment.hpp"

namespace mx::engine {

/// A line for each report that a choice may meet: "FLASHINFER_TRTLLM: .. (flashinfer issue 5053)". `backend` is the engine's name.
std::vector<std::string> kernel_reports(std::string_view oracle, const deployment::Deployment& deployment, std::string_view backend);

}  // namespace mx::engine
