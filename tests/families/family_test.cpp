// The record of each family: what families.cpp lists and how the tables are joined.

#include "model/families/family.hpp"

#include <set>
#include <string>

#include "model/families/arithmetic.hpp"
#include "model/families/building_block.hpp"
#include "model/families/memory.hpp"
#include "model/families/setting_keys.hpp"
#include "tests/catch.hpp"

namespace mx::tests {
namespace {

using families::all_families;
using families::Family;
using families::FamilyTable;

/// Families that say which place their rows have, each place once and none left out: ids and lists count by them.
template <class Row>
void check_places(FamilyTable<Row> Family::*table, int count) {
  std::set<int> places;
  for (const Family* family : all_families()) {
    const FamilyTable<Row>& one = family->*table;
    if (one.place == FamilyTable<Row>{}.place) continue;
    INFO(family->name << " at " << one.place);
    CHECK(one.rows != nullptr);
    CHECK(places.insert(one.place).second);
  }
  REQUIRE(places.size() == static_cast<std::size_t>(count));
  CHECK(*places.begin() == 0);
  CHECK(*places.rbegin() == count - 1);
}

}  // namespace

TEST_CASE("a family's name is that of its rows, and no two have the same") {
  std::set<std::string_view> names;
  for (const Family* family : all_families()) {
    INFO(family->name);
    CHECK(names.insert(family->name).second);
    // A family of blocks alone is no backend's.
    CHECK((family->needs.rows != nullptr || (family->layouts.rows == nullptr && family->blocks.rows != nullptr)));
    if (family->layouts.rows == nullptr) continue;
    for (const families::BackendLayout& row : *family->layouts.rows) CHECK(row.family == family->name);
  }
  CHECK(names.size() == 19);
}

TEST_CASE("families that have a place in a joined table have it alone") {
  check_places(&Family::layouts, 14);
  check_places(&Family::blocks, 10);
  check_places(&Family::executions, 15);
  check_places(&Family::setting_keys, 7);
}

}  // namespace mx::tests
