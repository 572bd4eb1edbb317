#pragma once
// A family of kernels as a record: everything that its folder says, in one struct. families.cpp has the array of all of them.

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace mx::families {

struct BackendLayout;
struct BlockInput;
struct BuildingBlock;
struct ExecutionRow;
struct KernelClassFacts;
struct KernelFormRow;
struct NeedTable;
struct SettingKey;
struct SettingVariable;
struct ValueBlock;

/// Rows of one kind. The span itself stands in another file: its address is a constant before any code runs.
template <class Row>
struct FamilyTable {
  const std::span<const Row>* rows = nullptr;  ///< null: the family has none
  /// Among the families where the rows of all are joined, since ids, lists and recordings count rows in that order; without a place: behind those
  /// that have one, in the order of all_families().
  int place = std::numeric_limits<int>::max();
};

/// What a family is; what it has not stays empty.
struct Family {
  std::string_view name;                       ///< the folder's
  FamilyTable<BackendLayout> layouts = {};     ///< memory.hpp
  FamilyTable<BuildingBlock> blocks = {};      ///< building_block.hpp
  FamilyTable<ValueBlock> value_blocks = {};   ///< value_block.hpp
  FamilyTable<BlockInput> inputs = {};         ///< block_input.hpp
  FamilyTable<NeedTable> needs = {};           ///< needs.hpp
  FamilyTable<KernelClassFacts> classes = {};  ///< kernel_class.hpp
  FamilyTable<ExecutionRow> executions = {};   ///< arithmetic.hpp
  FamilyTable<KernelFormRow> forms = {};       ///< kernel_form.hpp
  FamilyTable<SettingKey> setting_keys = {};   ///< setting_keys.hpp
  FamilyTable<SettingVariable> setting_variables = {};
};

/// Every family.
std::span<const Family* const> all_families();

/// The rows of all families in one table, in the order of their places.
template <class Row>
std::vector<Row> joined(FamilyTable<Row> Family::*table) {
  std::vector<FamilyTable<Row>> tables;
  for (const Family* family : all_families()) {
    if ((family->*table).rows != nullptr) tables.push_back(family->*table);
  }
  std::ranges::stable_sort(tables, {}, &FamilyTable<Row>::place);
  std::vector<Row> rows;
  for (const FamilyTable<Row>& one : tables) rows.insert(rows.end(), one.rows->begin(), one.rows->end());
  return rows;
}

}  // namespace mx::families
