#pragma once
// What follows from a choice, for people and as JSON.

#include "cli/output.hpp"
#include "model/oracle/engine/setup.hpp"

namespace mx::cli {

void print_setup(const oracle::Setup& setup);
Json setup_json(const oracle::Setup& setup);

}  // namespace mx::cli
