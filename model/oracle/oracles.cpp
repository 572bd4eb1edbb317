// The engine's oracles by name.

#include <algorithm>
#include <array>
#include <string>

#include "model/error.hpp"
#include "model/names.hpp"
#include "model/oracle/tables.hpp"

namespace mx::oracle {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"mxfp4", "mxfp4_deepseek_v4", "nvfp4", "fp8", "mxfp8", "w4a8"};

}  // namespace

std::span<const std::string_view> oracle_names() { return kNames; }

const OracleTables& tables_of(std::string_view oracle) {
  if (oracle == "mxfp4") return mxfp4_tables();
  if (std::find(kNames.begin(), kNames.end(), oracle) == kNames.end()) throw Error(ErrorCode::usage, unknown_name("oracle", oracle, kNames));
  throw Error(ErrorCode::unsupported, "the oracle " + std::string(oracle) + " has no tables");
}

}  // namespace mx::oracle
