#pragma once
// What follows from a choice, for people.

#include "model/audit/resolve.hpp"

namespace mx::cli {

/// Of a resolution with a setup.
void print_setup(const oracle::Resolution& resolution);

}  // namespace mx::cli
