#include "cli/engine_option.hpp"

#include "model/deployment/version.hpp"

namespace mx::cli {

Option add_engine_option(Verb verb, std::string& engine) {
  engine = deployment::name_of(deployment::kDefaultEngine);
  return verb.add_option("--engine", engine,
                         "version of the engine: a month (2026-05), a release (vllm==0.22.1) or a commit (default " + engine + ")");
}

}  // namespace mx::cli
