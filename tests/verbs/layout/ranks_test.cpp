// A layer over tensor parallel ranks: sizes, places and parts of one of them.

#include <string>
#include <vector>

#include "checkpoint/shard.hpp"
#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"
#include "verbs/layout/deployment_choice.hpp"
#include "verbs/layout/subject.hpp"
#include "verbs/layout/where.hpp"

namespace {

using namespace mx::verbs;
using mx::ErrorCode;
using mx::layout::Form;
using mx::layout::Role;
using mx::layout::Sizes;
using mx::layout::SourceOrder;
using mx::layout::WeightFormat;
using mx::tests::refuses;

Subject subject(const std::string& text) { return resolve(query_from(text, {})); }
Sizes sizes_of(const std::string& text) { return std::get<BackendChoice>(subject(text).choice).setting.sizes; }

}  // namespace

TEST_CASE("tp divides a layer as the engine's loader does, and rounds the part up") {
  // gpt-oss-120b: 90 blocks of 32 over 8 ranks are 12 each.
  const std::string gpt_oss = "MARLIN,format=mxfp4,tensor=w13_weight,platform=sm90,shape=128x2880x2880";
  CHECK(sizes_of(gpt_oss + ",tp=8") == Sizes{128, 384, 2880, 32});
  CHECK(sizes_of(gpt_oss + ",tp=2") == Sizes{128, 1440, 2880, 32});
  CHECK(sizes_of(gpt_oss) == Sizes{128, 2880, 2880, 32});
  // A kernel tile of k has 16 elements of all 2 * 384 rows.
  const Subject part = subject(gpt_oss + ",tp=8");
  const auto address = [&](const std::string& coord) { return where_is(part.layout, coordinate_from(coord, part.layout)).pieces.front().address; };
  CHECK(address("K=16") - address("K=0") == 16 * 2 * 384);
  CHECK(address("E=0,half=up,I=103,K=297") == 225159);
  // Every other form has equal parts; FP8 blocks are whole.
  CHECK(sizes_of("TRITON,format=fp8_block,tensor=w2_weight,shape=4x1536x256,tp=3") == Sizes{4, 512, 256, 1});
}

TEST_CASE("a rank's own shape is the same layout, and what a subject is made of says it") {
  const std::string base = "TRITON,format=fp8_channel,tensor=w13_weight,tp=4,";
  const Subject cut = subject(base + "shape=2x512x256"), own = subject(base + "rank-shape=2x128x256");
  CHECK(cut.layout.describe() == own.layout.describe());
  CHECK(spec_of(cut.choice) == spec_of(own.choice));
  CHECK(spec_of(subject(spec_of(cut.choice)).choice) == spec_of(cut.choice));
  CHECK(std::get<BackendChoice>(cut.choice).whole == Sizes{2, 512, 256, 1});
  CHECK(std::get<BackendChoice>(own.choice).whole.experts == 0);
}

TEST_CASE("a layer that does not divide is refused") {
  const auto refused = [](const std::string& part, const std::string& text) { return refuses(ErrorCode::usage, part, [&] { subject(text); }); };
  CHECK(refused("intermediate size 2880 is not divisible by 7", "MARLIN,format=mxfp4,tensor=w13_weight,shape=2880x2880,tp=7"));
  CHECK(refused("is not a whole number of scale groups of 128", "TRITON,format=fp8_block,tensor=w13_weight,shape=264x256,tp=8"));
  CHECK(refused("say one of them", "TRITON,format=fp8_block,tensor=w13_weight,shape=512x256,rank-shape=128x256,tp=4"));
}

TEST_CASE("a rank's layer is its part, zeros behind the last one's") {
  const Form form(WeightFormat::mxfp4, SourceOrder::gpt_oss);
  mx::layout::CanonicalLayer whole{{1, 320, 64, 32}, form, {}};
  for (const Role role : mx::layout::kAllRoles) {
    if (mx::layout::has_role(form.format, role)) whole[role].resize(static_cast<std::size_t>(mx::layout::canonical(role, whole.sizes, form).bytes()));
  }
  // Each row of w13 holds its number, in 32 bytes; gate and up by turns.
  for (std::size_t i = 0; i < whole[Role::w13_weight].size(); ++i) whole[Role::w13_weight][i] = static_cast<std::uint8_t>(i / 32 / 2 % 251);
  CHECK(mx::checkpoint::rank_sizes(whole.sizes, form, 4).intermediate == 96);
  for (int rank = 0; rank < 4; ++rank) {
    const mx::layout::CanonicalLayer part = mx::checkpoint::shard(whole, {rank, 4, 96});
    REQUIRE(part[Role::w13_weight].size() == 2U * 96 * 32);
    for (std::size_t row = 0; row < 96; ++row) {
      const std::size_t of_whole = 96U * static_cast<std::size_t>(rank) + row;
      const int wanted = of_whole < 320 ? static_cast<int>(of_whole % 251) : 0;
      REQUIRE(int{part[Role::w13_weight][64 * row]} == wanted);
      REQUIRE(int{part[Role::w13_weight][64 * row + 63]} == wanted);
    }
  }
  CHECK(refuses(ErrorCode::usage, "rank 4 is not in 0..3", [&] { mx::checkpoint::shard(whole, {4, 4, 96}); }));
}

TEST_CASE("a deployment says all of it") {
  const mx::support::DeploymentFile file = mx::support::parse_deployment_file(
      "platform SM90 parallel { tp 8 } layer { experts 128 top_k 4 hidden 2880 intermediate 2880 activation SWIGLUOAI bias true }", "test", "mxfp4");
  LayoutQuery query{"MARLIN", choices_on(file, "MARLIN")};
  query.fields.push_back({"tensor", "w13_weight"});
  const BackendChoice choice = std::get<BackendChoice>(choice_of(query));
  CHECK(choice.setting.sizes == Sizes{128, 384, 2880, 32});
  CHECK(choice.setting.tp_size == 8);
  CHECK(choice.setting.arch == mx::families::Arch::sm90);
  CHECK(choice.setting.form == Form(WeightFormat::mxfp4, SourceOrder::gpt_oss));
  const mx::support::DeploymentFile fp8 = mx::support::parse_deployment_file(
      "platform gfx942 weight_key kFp8Static128BlockSym parallel { tp 2 } layer { experts 8 top_k 2 hidden 256 intermediate 512 activation SILU bias "
      "false }",
      "test", "fp8");
  LayoutQuery blocks{"TRITON", choices_on(fp8, "TRITON")};
  blocks.fields.push_back({"tensor", "w2_weight_scale"});
  const BackendChoice triton = std::get<BackendChoice>(choice_of(blocks));
  CHECK(triton.setting.sizes == Sizes{8, 256, 256, 1});
  CHECK(triton.setting.arch == mx::families::Arch::gfx942);
  CHECK_FALSE(triton.setting.has_bias);
}

TEST_CASE("an element of the weights stands for its scale") {
  struct Case {
    std::string scale;
    std::string element;
    mx::layout::Coord coord;
  };
  const std::string at = ",shape=2x512x512,tensor=";
  for (const Case& c : std::vector<Case>{{"XPU,format=mxfp4" + at + "w13_weight_scale", "E=1,half=up,I=5,K=70", {1, 1, 5, 2}},
                                         {"XPU,format=mxfp4" + at + "w2_weight_scale", "N=5,K=31", {0, 5, 0}},
                                         {"TRITON,format=fp8_block" + at + "w13_weight_scale", "half=up,I=200,K=130", {0, 1, 1, 1}},
                                         {"TRITON,format=fp8_block" + at + "w2_weight_scale", "N=511,KB=2", {0, 3, 2}},
                                         {"TRITON,format=fp8_channel" + at + "w2_weight_scale", "N=7,K=500", {0, 7}},
                                         {"TRITON,format=fp8_tensor" + at + "w13_weight_scale", "E=1,half=up,I=7,K=500", {1}}}) {
    INFO(c.scale << " " << c.element);
    const Subject scale = subject(c.scale);
    CHECK(coordinate_from(c.element, scale.layout, covered_axes(scale.choice)) == c.coord);
  }
  const Subject scale = subject("XPU,format=mxfp4,shape=64x64,tensor=w13_weight_scale");
  const auto refused = [&](const std::string& part, const std::string& text) {
    return refuses(ErrorCode::usage, part, [&] { coordinate_from(text, scale.layout, covered_axes(scale.choice)); });
  };
  CHECK(refused("'64' is not a whole number in 0..63", "K=64"));
  CHECK(refused("axis G is given twice", "G=1,K=5"));
  CHECK(refused("unknown axis 'J'", "J=1"));
  CHECK(covered_axes(subject("XPU,format=mxfp4,shape=64x64,tensor=w13_weight").choice).empty());
}
