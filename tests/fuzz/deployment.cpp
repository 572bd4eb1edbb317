// INFO files of deployments: what is read can be asked about.

#include "model/engine/vllm/select.hpp"
#include "support/deployment_file.hpp"
#include "tests/fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mx::tests::expect_answer(mx::tests::text_of(data, size), [&] {
    const mx::support::DeploymentFile file = mx::support::parse_deployment_file(mx::tests::text_of(data, size), "input.info");
    mx::engine::select(mx::deployment::kVllm2026_05, file.oracle, file.deployment);
  });
  return 0;
}
