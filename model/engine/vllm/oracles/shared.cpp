#include "model/engine/vllm/oracles/shared.hpp"

namespace mx::engine {

std::map<deployment::Engine, OracleRows> tables_of_all(const OracleSource& source, OracleTables (*rest)(deployment::Engine engine)) {
  std::map<deployment::Engine, OracleRows> all;
  for (deployment::Engine engine : deployment::known_engines()) {
    OracleRows& rows = all[engine];
    rows.backends = rows_of(engine, source.backends);
    rows.user_names = rows_of(engine, source.user_names);
    for (const PriorityRow& row : rows_of(engine, source.priority)) rows.priority.push_back(row.backend);
    rows.moves = rows_of(engine, source.moves);
    rows.steps = rows_of(engine, source.steps);
    if (source.rounded != Rounded::nothing) rows.roundings = roundings_of(engine, source.rounded);
    rows.tables = rest(engine);
    rows.tables.engine = engine;
    if (rows.tables.classes.empty()) rows.tables.classes = kernel_classes(engine);
    rows.tables.backends = rows.backends;
    rows.tables.user_names = rows.user_names;
    rows.tables.priority = rows.priority;
    rows.tables.to_front = rows.moves;
    rows.tables.steps = rows.steps;
    rows.tables.roundings = rows.roundings;
  }
  return all;
}

}  // namespace mx::engine
