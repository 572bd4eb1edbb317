// INFO files of deployments: what is read can be asked about.

#include "model/engine/vllm/select.hpp"
#include "support/deployment_file.hpp"
#include "tests/fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mx::fuzz::expect_answer(mx::fuzz::text_of(data, size), [&] {
    const mx::sim::DeploymentFile file = mx::sim::parse_deployment_file(mx::fuzz::text_of(data, size), "input.info");
    mx::oracle::select(mx::kVllm2026_05, file.oracle, file.deployment);
  });
  return 0;
}
