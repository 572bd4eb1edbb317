// The engine's oracles by name.

#include <array>
#include <map>
#include <string>
#include <vector>

#include "model/column.hpp"
#include "model/engine/vllm/tables.hpp"
#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::engine {
namespace {

struct OracleRow {
  std::string_view name;
  const OracleTables& (*tables)(deployment::Engine engine);
  deployment::Versions versions;
};
constexpr std::array kOracles = {
    OracleRow{"mxfp4", mxfp4_tables, kAlways},
    OracleRow{"mxfp4_deepseek_v4", mxfp4_deepseek_v4_tables, kAlways},
    OracleRow{"nvfp4", nvfp4_tables, kAlways},
    OracleRow{"fp8", fp8_tables, kAlways},
    OracleRow{"mxfp8", mxfp8_tables, kAlways},
    OracleRow{"w4a8", w4a8_tables, kAlways},
    OracleRow{"unquantized", unquantized_tables, kSinceAugust},
    OracleRow{"int_wna16", int_wna16_tables, kSinceAugust},
    OracleRow{"int8", int8_tables, kSinceAugust},
    OracleRow{"w4a8_int8", w4a8_int8_tables, kSinceAugust},
};
constexpr std::array kNames = column_of(kOracles, &OracleRow::name);

std::vector<std::string_view> names_in(deployment::Engine engine) {
  std::vector<std::string_view> names;
  for (const OracleRow& row : kOracles) {
    if (row.versions.has(engine)) names.push_back(row.name);
  }
  return names;
}

}  // namespace

std::span<const std::string_view> oracle_names() { return kNames; }

std::span<const std::string_view> oracle_names(deployment::Engine engine) {
  static const std::map<deployment::Engine, std::vector<std::string_view>> all = [] {
    std::map<deployment::Engine, std::vector<std::string_view>> names;
    for (deployment::Engine known : deployment::known_engines()) names[known] = names_in(known);
    return names;
  }();
  return all.at(engine);
}

const OracleTables* find_tables(deployment::Engine engine, std::string_view oracle) {
  for (const OracleRow& row : kOracles) {
    if (row.versions.has(engine) && row.name == oracle) return &row.tables(engine);
  }
  return nullptr;
}

const OracleTables& tables_of(deployment::Engine engine, std::string_view oracle) {
  if (const OracleTables* const found = find_tables(engine, oracle)) return *found;
  std::vector<deployment::Engine> with;
  for (const OracleRow& row : kOracles) {
    if (row.name != oracle) continue;
    for (deployment::Engine known : deployment::known_engines()) {
      if (row.versions.has(known)) with.push_back(known);
    }
  }
  if (with.empty()) throw Error(ErrorCode::usage, unknown_name("oracle", oracle, kNames));
  deployment::no_tables(engine, with, "oracle " + std::string(oracle));
}

}  // namespace mx::engine
