#pragma once
// The running program: told apart from every other build, and what it can use here.

#include <string>

namespace mx::cli {

/// "build=0123456789abcdef commit=COMMIT": a digest over the program's own bytes, and the commit. Throws Error as sim::read_file does.
std::string build_name();

/// "portable avx2 avx512, in use: avx512": the tiers of instruction sets that this processor runs. Throws Error as kernels::isa_tier() does.
std::string tiers_text();

}  // namespace mx::cli
