// The engine's oracles by name.

#include <array>
#include <string>
#include <vector>

#include "model/column.hpp"
#include "model/engine/vllm/tables.hpp"
#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::oracle {
namespace {

struct OracleRow {
  Engine engine;
  std::string_view name;
  const OracleTables& (*tables)();
};
constexpr std::array kOracles = {
    OracleRow{kVllm2026_05, "mxfp4", mxfp4_tables},
    OracleRow{kVllm2026_05, "mxfp4_deepseek_v4", mxfp4_deepseek_v4_tables},
    OracleRow{kVllm2026_05, "nvfp4", nvfp4_tables},
    OracleRow{kVllm2026_05, "fp8", fp8_tables},
    OracleRow{kVllm2026_05, "mxfp8", mxfp8_tables},
    OracleRow{kVllm2026_05, "w4a8", w4a8_tables},
};
constexpr std::array kNames = column_of(kOracles, &OracleRow::name);

}  // namespace

std::span<const std::string_view> oracle_names() { return kNames; }

const OracleTables* find_tables(Engine engine, std::string_view oracle) {
  for (const OracleRow& row : kOracles) {
    if (row.engine == engine && row.name == oracle) return &row.tables();
  }
  return nullptr;
}

const OracleTables& tables_of(Engine engine, std::string_view oracle) {
  if (const OracleTables* const found = find_tables(engine, oracle)) return *found;
  std::vector<Engine> with;
  for (const OracleRow& row : kOracles) {
    if (row.name == oracle) with.push_back(row.engine);
  }
  if (with.empty()) throw Error(ErrorCode::usage, unknown_name("oracle", oracle, kNames));
  no_tables(engine, with, "oracle " + std::string(oracle));
}

}  // namespace mx::oracle
