// Files of vectors in every view, the first byte says which: what is read is what the view writes of it.

#include "golden/vectors/files/views.hpp"

#include "tests/fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Columns of one lane and of several, of whole bytes and of none.
  static const std::vector<mx::golden::Column> columns{{"a", 1, 4}, {"b", 3, 8}, {"c", 1, 16}, {"d", 2, 32}};
  if (size == 0) return 0;
  const std::span<const mx::golden::VectorView> views = mx::golden::all_vector_views();
  const mx::golden::VectorView& view = views[data[0] % views.size()];
  const std::span<const std::uint8_t> bytes(data + 1, size - 1);
  mx::tests::expect_answer([&] {
    const mx::golden::VectorTable table{{}, columns, view.read(bytes, columns, "input")};
    mx::tests::require(table.lanes.size() % table.row_lanes() == 0, "rows are whole");
    mx::tests::require(view.read(view.write(table), columns, "again") == table.lanes, "what is written is read back");
  });
  return 0;
}
