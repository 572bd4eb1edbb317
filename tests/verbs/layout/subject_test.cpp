#include "verbs/layout/subject.hpp"

#include <string>
#include <vector>

#include "model/families/setting_keys.hpp"
#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"
#include "tests/verbs/layout/formulas.hpp"
#include "verbs/layout/facts.hpp"
#include "verbs/layout/where.hpp"

namespace {

using namespace mx::verbs;
using mx::ErrorCode;
using mx::tests::refuses;

Subject subject(const std::string& text) { return resolve(query_from(text, {})); }

}  // namespace

TEST_CASE("a building block's shape, by numbers and by names, gives the published offsets") {
  for (const char* shape : {"100x6", "1x100x6"}) {
    const Subject tiles = subject("sf_128x4,shape=" + std::string(shape));
    CHECK(tiles.layout.cosize() == 1024);
    for (std::int64_t row = 0; row < 100; ++row) {
      for (std::int64_t col = 0; col < 6; ++col)
        REQUIRE(tiles.layout.at(std::vector<std::int64_t>{0, row, col}) == mx::tests::offset_128x4(row, col, 6));
    }
  }
  const Subject named = resolve({"sf_128x4", {{"shape", "rows=100,cols=6"}}});
  CHECK(spec_of(named.choice) == spec_of(subject("sf_128x4,shape=1x100x6").choice));
}

TEST_CASE("what a subject is made of makes it again") {
  for (const char* text : {"sf_128x4,shape=100x6,unit-bits=16", "trtllm.shuffle_matrix_a,shape=64x8,epilogue_tile_m=64",
                           "FLASHINFER_TRTLLM_MXFP4_BF16,tensor=w13_weight,shape=2x128x256,engine=2026-08,source-order=standard",
                           "XPU,format=mxfp4,tensor=w2_bias,shape=64x32,padded=96x64"}) {
    INFO(text);
    const Subject one = subject(text);
    const Subject again = subject(spec_of(one.choice));
    CHECK(one.layout.describe() == again.layout.describe());
    CHECK(spec_of(one.choice) == spec_of(again.choice));
  }
}

TEST_CASE("the last value of a key holds, and keys are forgiven their dashes") {
  CHECK(subject("sf_128x4,shape=1x1,shape=100x6").layout.size() == 600);
  CHECK(subject("sf_128x4,shape=4x4,UNIT_BITS=32").layout.unit_bits() == 32);
}

TEST_CASE("sizes are rounded up as the engine rounds MXFP4, unless they are said") {
  // vLLM mxfp4_round_up_hidden_size_and_intermediate_size: TRT-LLM rounds both to 256, the later engine I to 128.
  const std::string base = "FLASHINFER_TRTLLM_MXFP4_BF16,tensor=w2_weight,shape=128x384";
  CHECK(subject(base + ",engine=2026-05").layout.cosize() == 512 * 256);
  CHECK(subject(base + ",padded=128x384").layout.cosize() == 384 * 128);
  CHECK(subject(base).layout.cosize() == 512 * 128);
}

TEST_CASE("wrong choices are named with what is known") {
  struct Case {
    const char* text;
    const char* part;
  };
  const std::vector<Case> cases{
      {"sf_128x5,shape=4x4", "did you mean sf_128x4"},
      {"sf_128x4", "--shape is missing"},
      {"sf_128x4,shape=4", "'4' is neither rowsxcols"},
      {"sf_128x4,shape=4x0", "'0' is not a whole number in 1.."},
      {"sf_128x4,shape=4x4x4x4", "is neither"},
      {"sf_128x4,shape=4xa", "'a' is not a whole number"},
      {"sf_128x4,shape=4x99999999", "is not a whole number in 1..1048576"},
      {"sf_128x4,shape=4x4,engine=2026-05", "unknown choice 'engine'"},
      {"sf_128x4,shape=4x4,version=flashinfer-2026-09", "did you mean flashinfer-2026-08"},
      {"sf_128x4,shape=4x4,unit-bits=65", "1..64"},
      {"sf_128x4,shape=4x4,nonsense", "'nonsense' is not key=value"},
      {"trtllm.shuffle_matrix_a,shape=64x8,epilogue_tile=64", "did you mean epilogue_tile_m"},
      {"trtllm.shuffle_matrix_sf_a,shape=100x6",
       "rows = 100 is not a multiple of 128: scales lie in tiles of 128 rows; the next sizes that it takes are --shape 128x6"},
      {"XPU,format=mxfp4,shape=64x64", "--tensor is missing"},
      {"XPU,tensor=w2_weight,shape=64x64", "--format is missing: it converts mxfp4"},
      {"XPU,format=mxfp4,shape=64x64,tensor=w13_wieght", "did you mean w13_weight"},
      {"XPU,format=mxfp4,shape=64x33,tensor=w2_weight", "the next sizes that are: --shape 1x64x64"},
      {"XPU,format=mxfp4,shape=64x64,tensor=w2_weight,engine=newest", "'newest' is no version of an engine"},
      {"XPU,format=mxfp4,shape=64x64,tensor=w2_weight,platform=sm101", "unknown platform 'sm101'"},
      {"XPU,format=mxfp4,shape=64x64,tensor=w2_weight,source-order=standard,engine=2026-05",
       "checkpoints in standard order are not converted by engine vllm@2026-05"},
      {"XPU,format=mxfp4,shape=64x64,tensor=w2_weight,padded=32x64", "do not hold"},
      {"XPU,format=mxfp4,shape=64x64,tensor=w2_weight,a8w4=maybe", "'maybe' is neither yes nor no"},
      {"XPU,format=mxfp4,shape=64x64,tensor=w2_weight,tp=0", "'0' is not a whole number in 1.."},
      {"XPU,format=mxfp4,shape=64x64,tensor=w2_global_scale", "mxfp4 has no w2_global_scale"},
      {"FLASHINFER_TRTLLM_MXFP4_BF16,tensor=w2_weight,shape=160x128,padded=160x128", "2I = 320 is not a multiple of 128"},
      {"FLASHINFER_TRTLLM_MXFP4_BF16,tensor=w2_weight,shape=160x128,padded=160x128", "the next sizes that it takes are --padded 256x128"},
      {"CUTLASS,format=int4,tensor=w2_weight,shape=128x384", "the next sizes that it takes are --shape 256x512"},
  };
  for (const Case& one : cases) {
    INFO(one.text);
    CHECK(refuses(ErrorCode::usage, one.part, [&] { subject(one.text); }));
  }
}

TEST_CASE("every field of a setting is set and read back by its key") {
  mx::families::Setting setting{.sizes = {1, 32, 32}, .padded = {1, 32, 32}, .form = {}};
  for (const mx::families::SettingKey& key : mx::families::setting_keys()) {
    for (std::string_view value : key.trials) {
      INFO(key.key << "=" << value);
      key.set(setting, value);
      CHECK(key.get(setting) == value);
    }
  }
}

TEST_CASE("where an element lies and what lies there agree, over every address of padded and of exploded layouts") {
  for (const char* text : {"sf_128x4,shape=2x100x6", "FLASHINFER_TRTLLM_MXFP4_BF16,tensor=w13_weight,shape=32x64"}) {
    const Subject one = subject(text);
    std::int64_t elements = 0;
    for (std::int64_t address = 0; address < one.layout.cosize(); ++address) {
      const mx::layout::Place place = one.layout.inverse(address);
      if (!place.coord) {
        REQUIRE(content_text(one.layout, address) == "padding, zero");
        continue;
      }
      ++elements;
      const ElementPlace back = where_is(one.layout, *place.coord);
      REQUIRE(back.pieces.size() == 1);
      REQUIRE(back.pieces[0].address == address);
      REQUIRE(back.pieces[0].byte * 8 + back.pieces[0].bit == address * one.layout.grain_bits());
      REQUIRE(coordinate_from(content_text(one.layout, address), one.layout) == *place.coord);
    }
    CHECK(elements == one.layout.size());
  }
}

TEST_CASE("an element whose parts go separate ways has a piece for each") {
  // Bits 4..7 of every unit first, then bits 0..3.
  mx::layout::Layout layout({{"row", 2}, {"col", 3}}, 8);
  layout.explode(4, "nibble").flip("nibble").permute({"nibble", "row", "col"});
  const ElementPlace place = where_is(layout, {1, 2});
  REQUIRE(place.pieces.size() == 2);
  CHECK(place.pieces[0].from_bit == 0);
  CHECK(place.pieces[0].address == 11);
  CHECK(place.pieces[1].from_bit == 4);
  CHECK(place.pieces[1].address == 5);
  CHECK(place.pieces[1].byte == 2);
  CHECK(place.pieces[1].bit == 4);
  CHECK(content_text(layout, 5) == "row=1 col=2 bits 4..7");
  // Addresses count 4 bits: 11 is the high half of byte 5, 5 that of byte 2.
  const std::vector<std::uint8_t> memory{0, 0, 0xA1, 0, 0, 0xB2};
  CHECK(read_element(layout, place, memory) == 0xAB);
  CHECK(refuses(ErrorCode::usage, "7 bytes where the layout has 6", [&] { read_element(layout, place, std::vector<std::uint8_t>(7)); }));
}

TEST_CASE("copies of an element are all found, and one that is cut off has no place") {
  mx::layout::Layout copies({{"row", 3}}, 8);
  copies.repeat("row", 2);
  const ElementPlace twice = where_is(copies, {1});
  REQUIRE(twice.pieces.size() == 2);
  CHECK(twice.pieces[0].address == 2);
  CHECK(twice.pieces[1].address == 3);
  CHECK(read_element(copies, twice, std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5}) == 3);
  mx::layout::Layout cut({{"row", 3}}, 8);
  cut.slice("row", 0, 2);
  CHECK(where_is(cut, {2}).pieces.empty());
  CHECK(refuses(ErrorCode::usage, "cut off", [&] { read_element(cut, where_is(cut, {2}), std::vector<std::uint8_t>(2)); }));
}

TEST_CASE("wrong coordinates are named") {
  const Subject one = subject("XPU,format=mxfp4,tensor=w13_weight,shape=64x64");
  for (const auto& [text, part] : std::vector<std::pair<const char*, const char*>>{{"E=5", "'5' is not a whole number in 0..0"},
                                                                                   {"half=left", "half is 'left', must be gate, up, 0 or 1"},
                                                                                   {"J=1", "unknown axis 'J'"},
                                                                                   {"K=1,K=2", "axis K is given twice"},
                                                                                   {"K", "'K' is not AXIS=INDEX"},
                                                                                   {"K=64", "'64' is not a whole number in 0..63"},
                                                                                   {"K=-1", "'-1' is not a whole number"}}) {
    INFO(text);
    CHECK(refuses(ErrorCode::usage, part, [&, &typed = text] { coordinate_from(typed, one.layout); }));
  }
  CHECK(coordinate_from("half=up,K=3", one.layout) == mx::layout::Coord{0, 1, 0, 3});
}

TEST_CASE("every row of the tables has facts") {
  for (const mx::families::BuildingBlock& block : mx::families::all_building_blocks()) {
    INFO(block.name);
    CHECK(facts_of(block).way_back != "unknown");
  }
  for (const mx::families::BackendLayout& row : mx::families::all_backend_layouts()) {
    for (mx::layout::Role role : roles_of(row)) {
      INFO(row.backend << " " << mx::layout::name_of(role));
      CHECK(facts_of(row, role).way_back != "unknown");
    }
  }
  CHECK(facts_of(mx::families::building_block_named("sf_128x4")).padding == "zero");
  CHECK(facts_of(mx::families::building_block_named("trtllm.shuffle_matrix_a")).padding == "none");
}

TEST_CASE("a padded layout is described by the digits of the next sizes that have some") {
  const Subject padded = subject("sf_128x4,shape=100x6");
  CHECK_FALSE(padded.layout.digits().has_value());
  const std::optional<Tiles> tiles = tiles_of(padded);
  REQUIRE(tiles.has_value());
  CHECK(tiles->of == "128x8");
  CHECK(tiles->digits == *subject("sf_128x4,shape=128x8").layout.digits());
}
