// What a failing law of the oracles prints is a deployment file.

#include "model/engine/vllm/tables.hpp"
#include "props/engine/vllm/generators.hpp"
#include "support/deployment_file.hpp"
#include "tests/catch.hpp"

TEST_CASE("the file that a failing law prints reads back as the deployment that failed") {
  for (std::string_view oracle : mx::engine::oracle_names(mx::deployment::kVllm2026_05)) {
    for (const mx::deployment::Deployment& deployment : mx::props::sample_deployments(oracle, {.possible = true}, 200)) {
      const std::string file = mx::props::info_file(oracle, deployment);
      INFO(file);
      const mx::support::DeploymentFile read = mx::support::parse_deployment_file(file, "deployment.info");
      CHECK(read.oracle == oracle);
      CHECK(read.deployment == deployment);
    }
  }
}
