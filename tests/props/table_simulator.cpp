// Changes of the tables of deployments: exchanges, loaders and matrix units, with the questions that say whether a change alters any answer.

#include <algorithm>

#include "tests/props/restated_deployments.hpp"
#include "tests/props/table_mutants.hpp"

namespace mx::tests {
namespace {

using checkpoint::LoaderRow;
using families::UnitRow;
using sim::ExchangeRow;

/// Collects the changes of one table.
template <typename Row>
class TableOf {
 public:
  TableOf(std::string name, fault::Table where, std::span<const Row> own, std::string (*differs)(std::span<const Row>))
      : name_(std::move(name)), where_(where), own_(own), differs_(differs) {}

  void add(std::size_t r, const std::string& change, std::vector<Row> changed) {
    const auto rows = std::make_shared<std::vector<Row>>(std::move(changed));
    all_.push_back({name_, "row " + std::to_string(r), change, "", where_, {rows, rows->data()}, rows->size(), [rows, differs = differs_] {
                      return differs(*rows);
                    }});
  }
  void add(std::size_t r, const Changes<Row>& changes) {
    for (const auto& change : changes.all()) add(r, change.name, *with_row(own_, r, change.row));
  }
  /// The row behind the next one, and the table without it.
  void move(std::size_t r) {
    std::vector<Row> without(own_.begin(), own_.end());
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(r));
    add(r, "left out", without);
    if (r + 1 == own_.size()) return;
    std::vector<Row> moved(own_.begin(), own_.end());
    std::swap(moved[r], moved[r + 1]);
    add(r, "behind its neighbour", moved);
  }

  std::span<const Row> own() const { return own_; }
  std::vector<TableMutant> all() const { return all_; }

 private:
  std::string name_;
  fault::Table where_;
  std::span<const Row> own_;
  std::string (*differs_)(std::span<const Row>);
  std::vector<TableMutant> all_;
};

std::vector<TableMutant> exchange_mutants() {
  TableOf<ExchangeRow> table("exchanges", fault::Table::exchanges, sim::exchange_rows(), different_exchange);
  for (std::size_t r = 0; r < table.own().size(); ++r) {
    Changes<ExchangeRow> changes(table.own()[r]);
    changes.choice(
        "quantize", [](ExchangeRow& row) -> sim::QuantizeTime& { return row.quantize; }, 4);
    changes.choice(
        "swizzle", [](ExchangeRow& row) -> sim::SwizzleRule& { return row.swizzle; }, 3);
    changes.choice(
        "reach", [](ExchangeRow& row) -> sim::Reach& { return row.reach; }, 4);
    changes.choice(
        "sum", [](ExchangeRow& row) -> sim::RankSum& { return row.sum; }, 3);
    table.add(r, changes);
    table.move(r);
  }
  return table.all();
}

std::vector<TableMutant> loader_mutants() {
  TableOf<LoaderRow> table("loaders", fault::Table::loaders, checkpoint::loader_rows(), different_loader);
  for (std::size_t r = 0; r < table.own().size(); ++r) {
    Changes<LoaderRow> changes(table.own()[r]);
    for (const LoaderRow& other : table.own()) {
      if (other.cut == table.own()[r].cut) continue;
      changes.add(
          "cut as " + std::string(other.name), [](LoaderRow& row) -> auto& { return row.cut; }, other.cut);
      changes.add(
          "takes as " + std::string(other.name), [](LoaderRow& row) -> auto& { return row.takes; }, other.takes);
    }
    changes.flag("floors_experts", [](LoaderRow& row) -> bool& { return row.floors_experts; });
    table.add(r, changes);
    table.move(r);
  }
  return table.all();
}

std::vector<TableMutant> unit_mutants() {
  TableOf<UnitRow> table("units", fault::Table::units, families::unit_rows(), different_unit);
  for (std::size_t r = 0; r < table.own().size(); ++r) {
    Changes<UnitRow> changes(table.own()[r]);
    changes.choice(
        "unit", [](UnitRow& row) -> families::MatrixUnit& { return row.unit; }, 8);
    changes.choice(
        "contract", [](UnitRow& row) -> Contract& { return row.contract; }, static_cast<int>(Contract::hopper_mma_fp8) + 1);
    for (std::size_t other = 0; other < table.own().size(); ++other) {
      const auto on = table.own()[other].on;
      const bool named_before = std::ranges::find(table.own().first(other), on, &UnitRow::on) != table.own().first(other).end();
      if (on != table.own()[r].on && !named_before)
        changes.add(
            "on as row " + std::to_string(other), [](UnitRow& row) -> auto& { return row.on; }, on);
    }
    table.add(r, changes);
    table.move(r);
  }
  return table.all();
}

}  // namespace

std::vector<TableMutant> simulator_mutants() {
  std::vector<TableMutant> all;
  for (const auto part : {exchange_mutants, loader_mutants, unit_mutants}) {
    const std::vector<TableMutant> of_part = part();
    all.insert(all.end(), of_part.begin(), of_part.end());
  }
  return all;
}

}  // namespace mx::tests
