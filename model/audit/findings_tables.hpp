#pragma once
// The parts of the ledger, one a file. For findings.cpp alone.

#include <span>

#include "model/audit/findings.hpp"

namespace mx::oracle {

std::span<const Finding> mxfp4_findings();
std::span<const Finding> mxfp4_deepseek_v4_findings();
std::span<const Finding> nvfp4_findings();
std::span<const Finding> fp8_findings();
std::span<const Finding> mxfp8_findings();
std::span<const Finding> w4a8_findings();

}  // namespace mx::oracle
