#include "verbs/layout/difference.hpp"

#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"
#include "tests/verbs/layout/formulas.hpp"

namespace {

using namespace mx::verbs;

Subject subject(const std::string& text) { return resolve(query_from(text, {})); }

Subject of_layout(mx::layout::Layout layout) {
  Subject any = subject("sf_128x4,shape=4x4");
  any.layout = std::move(layout);
  return any;
}

}  // namespace

TEST_CASE("two statements of one layout are equal") {
  const LayoutDifference found = difference(subject("sf_128x4,shape=100x6"), subject("sf_128x4.cutlass_atom,shape=100x6"), 8);
  CHECK(found.equal());
  CHECK(found.addresses == 1024);
}

TEST_CASE("differing addresses are counted as the formulas count them, in runs") {
  constexpr std::int64_t kRows = 64;
  constexpr std::int64_t kCols = 8;
  std::int64_t rows = 0;
  for (std::int64_t r = 0; r < kRows; ++r) rows += mx::tests::shuffled_from(r) != r ? 1 : 0;
  const Subject plain = of_layout(mx::layout::Layout({{"batch", 1}, {"rows", kRows}, {"cols", kCols}}, 8));
  const LayoutDifference found = difference(subject("trtllm.shuffle_matrix_a,shape=64x8"), plain, 3);
  CHECK(found.differing == rows * kCols);
  REQUIRE(found.first.size() == 3);
  CHECK(found.first[0].address == kCols);  // row 0 stays, row 1 holds row 4
  CHECK(found.first[0].count == kCols);
  CHECK(found.first[0].a == "batch=0 rows=4 cols=0");
  CHECK(found.first[0].b == "batch=0 rows=1 cols=0");
  CHECK_FALSE(found.only_a.empty());
  CHECK(difference(subject("trtllm.shuffle_matrix_a,shape=64x8"), plain, 0).first.empty());
}

TEST_CASE("layouts of different grain are compared at the finer one") {
  mx::layout::Layout nibbles({{"row", 2}, {"col", 3}}, 8);
  nibbles.explode(4, "nibble");
  const mx::layout::Layout bytes({{"row", 2}, {"col", 3}}, 8);
  CHECK(difference(of_layout(nibbles), of_layout(bytes), 8).equal());
  mx::layout::Layout swapped({{"row", 2}, {"col", 3}}, 8);
  swapped.explode(4, "nibble").flip("nibble");
  const LayoutDifference found = difference(of_layout(swapped), of_layout(bytes), 8);
  CHECK(found.grain_bits == 4);
  CHECK(found.differing == 12);
}

TEST_CASE("a longer memory differs behind the end of the shorter one") {
  mx::layout::Layout padded({{"row", 2}, {"col", 3}}, 8);
  padded.pad("row", 3, mx::layout::PadContent::unwritten);
  const LayoutDifference found = difference(of_layout(padded), of_layout(mx::layout::Layout({{"row", 2}, {"col", 3}}, 8)), 8);
  CHECK(found.differing == 3);
  REQUIRE(found.first.size() == 1);
  CHECK(found.first[0].address == 6);
  CHECK(found.first[0].count == 3);
  CHECK(found.first[0].a == "padding, never written");
  CHECK(found.first[0].b == "behind the end");
}

TEST_CASE("stacks of parts are counted as their addresses are, whatever the parts' sizes and padding") {
  using mx::layout::PadContent;
  // Experts of thousands of addresses: whole pieces of them are told apart by the expert alone.
  const auto tensor = [] { return mx::layout::Layout({{"E", 7}, {"row", 60}, {"col", 90}}, 8); };
  std::vector<mx::layout::Layout> layouts{tensor(), tensor().permute({"E", "col", "row"}), tensor().flip("row"),
                                          tensor().permute({"row", "E", "col"})};
  for (const PadContent content : {PadContent::zero, PadContent::neutral, PadContent::unwritten}) {
    layouts.push_back(tensor().pad("row", 64, content));
    layouts.push_back(tensor().pad("row", 64, content).permute({"E", "col", "row"}));
    layouts.push_back(tensor().pad("col", 97, content));
    layouts.push_back(tensor().slice("row", 3, 50).pad("col", 95, content));
  }
  for (const mx::layout::Layout& a : layouts) {
    for (const mx::layout::Layout& b : layouts) {
      const std::vector<std::int64_t> held_a = a.gather(), held_b = b.gather();
      const std::size_t both = std::min(held_a.size(), held_b.size());
      std::int64_t expected = std::abs(std::ssize(held_a) - std::ssize(held_b));
      for (std::size_t i = 0; i < both; ++i) expected += held_a[i] != held_b[i] ? 1 : 0;
      INFO(a.describe() << "\n" << b.describe());
      for (const std::size_t most : {std::size_t{0}, std::size_t{2}, std::size_t{50}}) {
        CHECK(difference(of_layout(a), of_layout(b), most).differing == expected);
      }
    }
  }
}

TEST_CASE("a change of values is a difference, other tensors are refused") {
  const std::string bias = ",format=mxfp4,tensor=w2_bias,shape=256x256";
  const LayoutDifference found = difference(subject("FLASHINFER_TRTLLM_MXFP4_BF16" + bias), subject("XPU" + bias), 8);
  CHECK_FALSE(found.equal());
  CHECK(found.values.find("bf16_to_f32") != std::string::npos);
  CHECK(mx::tests::refuses(mx::ErrorCode::usage, "they take different tensors: [batch 1, rows 4, cols 4] and [batch 1, rows 4, cols 8]",
                           [] { difference(subject("sf_128x4,shape=4x4"), subject("sf_128x4,shape=4x8"), 8); }));
}
