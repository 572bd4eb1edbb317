#pragma once
// What `mxact verify` says of a run.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/verify/verify.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

/// What was asked, as far as a command that repeats one cell has to say it again.
struct VerifyAsked {
  std::optional<std::string> checkpoint;  ///< none: generated from the seed
  std::vector<std::string> contracts;     ///< only those given
  int layers = 0;                         ///< 0: all
  std::int64_t experts = 0;               ///< 0: all
  std::int64_t tokens = 4;
  std::int64_t seed = 1;
  bool no_execute = false;
  bool reference = false;
  std::map<std::string, std::string> env = {};
  bool fail_on_warning = false;
};

/// Cells, the conversions behind them, recorded outputs, sums; a case for each cell and recorded layer.
Document verify_document(const sim::VerifyReport& report, const VerifyAsked& asked);

}  // namespace mx::verbs
