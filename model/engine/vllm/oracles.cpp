// The engine's oracles by name.

#include <array>

#include "model/column.hpp"
#include "model/engine/vllm/tables.hpp"
#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::oracle {
namespace {

struct OracleRow {
  std::string_view name;
  const OracleTables& (*tables)();
};
constexpr std::array kOracles = {
    OracleRow{"mxfp4", mxfp4_tables}, OracleRow{"mxfp4_deepseek_v4", mxfp4_deepseek_v4_tables},
    OracleRow{"nvfp4", nvfp4_tables}, OracleRow{"fp8", fp8_tables},
    OracleRow{"mxfp8", mxfp8_tables}, OracleRow{"w4a8", w4a8_tables},
};
constexpr std::array kNames = column_of(kOracles, &OracleRow::name);

}  // namespace

std::span<const std::string_view> oracle_names() { return kNames; }

const OracleTables& tables_of(std::string_view oracle) {
  for (const OracleRow& row : kOracles) {
    if (row.name == oracle) return row.tables();
  }
  throw Error(ErrorCode::usage, unknown_name("oracle", oracle, kNames));
}

}  // namespace mx::oracle
