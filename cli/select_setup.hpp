#pragma once
// What follows from a choice, for people and as JSON.

#include "cli/output.hpp"
#include "model/engine/vllm/setup/setup.hpp"

namespace mx::cli {

void print_setup(const oracle::Setup& setup);
Json setup_json(const oracle::Setup& setup);

}  // namespace mx::cli
