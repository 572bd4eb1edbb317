// Block quantizers as text: every row of every profile is said and read back the same, numbers from the documents hold what the words mean, and what
// cannot be is told with its rule.

#include "model/numerics/block_rules.hpp"

#include <set>

#include "model/error.hpp"
#include "model/numerics/block_rule_meanings.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/rules.hpp"
#include "tests/catch.hpp"

namespace {

using namespace mx;

constexpr std::string_view kMx = "block=4,element=(e2m1,round=rne,overflow=saturate,nan=7),scale=e8m0,rule=floor";

std::string message(std::string_view text) {
  try {
    return "read as " + std::string(profile_named(text).name);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::usage);
    return error.what();
  }
}

const Recipe& only(std::string_view text) { return profile_named(text).recipes.front(); }

/// Four fp32 numbers under the rules.
QuantizedBlock quantized(std::string_view text, const std::vector<std::uint32_t>& x, const TensorScale& tensor = {}) {
  return quantize_block(x, kF32, only(text), tensor);
}

/// A refused NaN has no code.
Conversion without_codes_of_refused(Conversion how) {
  if (how.nan_rule == NanRule::refused) how.nan_positive = how.nan_negative = 0;
  return how;
}

/// What a text cannot tell apart: codes of NaNs that are refused.
Recipe told(Recipe recipe) {
  if (auto* mx = std::get_if<MxRecipe>(&recipe.how); mx != nullptr && mx->elements)
    mx->elements->step.encode = without_codes_of_refused(mx->elements->step.encode);
  if (auto* group = std::get_if<GroupRecipe>(&recipe.how)) group->step.encode = without_codes_of_refused(group->step.encode);
  if (auto* two = std::get_if<Nvfp4Recipe>(&recipe.how)) two->element = without_codes_of_refused(two->element);
  if (auto* fp8 = std::get_if<Fp8Recipe>(&recipe.how)) fp8->element = without_codes_of_refused(fp8->element);
  return recipe;
}

constexpr std::uint32_t kOne = 0x3F800000, kThree = 0x40400000, kSix = 0x40C00000, kSeven = 0x40E00000, kTwelve = 0x41400000;

}  // namespace

TEST_CASE("the recipe of every profile is said whole and read back the same") {
  int recipes = 0;
  for (const Profile& profile : all_profiles()) {
    for (const Recipe& row : profile.recipes) {
      const std::string text = text_of(row);
      INFO(profile.name << ": " << text);
      const Profile& read = profile_named(text);
      CHECK(read.name == text);
      REQUIRE(read.recipes.size() == 1);
      CHECK(read.recipes.front().format->name == row.format->name);
      CHECK(told(read.recipes.front()).how == told(row).how);
      ++recipes;
    }
  }
  CHECK(recipes > 100);
}

TEST_CASE("named rules of blocks are read, said, and read back the same") {
  int named = 0;
  for (const NamedRules& row : named_rules()) {
    if (!is_block_rules(row.text)) continue;
    const Profile& profile = profile_named(row.name);
    CHECK(profile.name == row.name);
    CHECK(profile.source == row.source);
    for (const Recipe& recipe : profile.recipes) {
      CHECK(only(text_of(recipe)).how == recipe.how);
      CHECK(find_recipe(profile, *recipe.format) == &recipe);
    }
    ++named;
  }
  CHECK(named == 11);
}

TEST_CASE("block formats are said, and those of tables keep their names") {
  for (const BlockFormat& format : all_block_formats()) CHECK(&block_format_named(text_of(format)) == &format);
  CHECK(&block_format_named("block=16, element=e2m1, scale=e4m3fn") == &block_format_named("nvfp4"));
  const BlockFormat& own = block_format_named("block=64,element=(e3m2,finite),scale=ue5m3");
  CHECK(own.name == "block=64,element=e3m2,scale=ue5m3");
  CHECK(&block_format_named(own.name) == &own);
  CHECK(own.block == 64);
  CHECK(block_format_named("block=2x8,element=e2m1,scale=e8m0").block_rows == 2);
}

TEST_CASE("a shape of no table quantizes as MX 1.0 says") {
  // amax 12: 2^(floor(log2 12) - 2) = 2, byte 128; 12 / 2 = 6, 1 / 2 = 0.5, 3 / 2 = 1.5, -7 / 2 = -3.5 (a tie: -4).
  const QuantizedBlock block = quantized(kMx, {kTwelve, kOne, kThree, kSeven | f32::kSign});
  CHECK(block.scale == 128);
  CHECK(block.codes == std::vector<std::uint32_t>{0x7, 0x1, 0x3, 0xE});
  // The same with an element of three exponent bits, bias 3, two of mantissa: largest 28 = 2^4 * 1.75, so byte 127 + 3 - 4 = 126 and 12 / 0.5 = 24.
  const QuantizedBlock wide = quantized("block=4,element=(e3m2,bias=3,finite,round=rne,overflow=saturate,nan=0),scale=e8m0,rule=floor",
                                        {kTwelve, kOne, kThree, kSeven | f32::kSign});
  CHECK(wide.scale == 126);
  CHECK(wide.codes == std::vector<std::uint32_t>{0x1E, 0x10, 0x16, 0x3B});  // 24, 2, 6, -14
}

TEST_CASE("each word changes what it names") {
  const std::string mx(kMx);
  const std::vector<std::uint32_t> with_nan{kTwelve, 0x7FC00000, kOne, kOne}, zeros(4), x{kTwelve, kSeven, kSeven, kOne};
  CHECK(quantized(kMx, with_nan).scale == 0xFF);
  CHECK(quantized(mx + ",amax-nan=ignored", with_nan).scale == 128);
  CHECK(quantized(mx + ",nan-scale=fe", with_nan).scale == 0xFE);
  CHECK(quantized(kMx, zeros).scale == 0);
  CHECK(quantized(mx + ",zero-scale=7f", zeros).scale == 0x7F);
  CHECK(quantized(mx + ",least-amax=41000000", zeros).scale == 128);                                                      // 8 / 4
  CHECK(quantized("block=4,element=(e2m1,round=rnz,overflow=saturate,nan=7),scale=e8m0,rule=floor", x).codes[1] == 0x5);  // the tie goes to 3
  CHECK(quantized("block=4,element=(e2m1,round=rne,overflow=saturate,nan=7),scale=e8m0,rule=ceil", x).scale == 129);
  // 7 / 6 is 1.1666666 in fp32, which elements meet, and 1 + 171 / 1024 in fp16; 2^16 is Inf there.
  const std::string group = "block=4,element=(e2m1,round=rne,overflow=saturate,nan=7),scale=f32,rule=group-amax,divides=yes,operation=divide";
  CHECK(quantized(group, {kSeven, kOne, kOne, kOne}).scale == 0x3F955555U);
  CHECK(quantized(group + ",scale-in-fp16=yes", {kSeven, kOne, kOne, kOne}).scale == 0x3F956000U);
  CHECK(quantized(group + ",scale-in-fp16=yes", {kSeven, 0x403AB021U, kOne, kOne}).codes[1] == 0x5);  // 2.917 / 1.16667 is above 2.5
  CHECK(quantized(group + ",scale-in-fp16=yes,least-scale=47800000", zeros).scale == 0x7F800000U);
  // amax / 6 into UE5M3: 2 is 0x80, (16 << 3).
  constexpr std::string_view kUe5 = "block=4,element=(e2m1,round=rne,overflow=saturate,nan=7),scale=ue5m3,rule=quotient,factor=quotient";
  CHECK(quantized(kUe5, x).scale == 0x80);
  CHECK(quantized(kUe5, x).codes == std::vector<std::uint32_t>{0x7, 0x6, 0x6, 0x1});
  // g = 0.5: amax / 6 * g = 1, elements times 0.5 / 1.
  const std::string given = std::string(kUe5) + ",takes-encode=yes";
  CHECK(quantized(given, x, {.encode = 0x3F000000, .decode = {}}).scale == 0x78);
  CHECK(quantized(given, x, {.encode = 0x3F000000, .decode = {}}).codes == quantized(kUe5, x).codes);
  CHECK_THROWS_AS(quantized(given, x), Error);
  CHECK_THROWS_AS(quantized(kUe5, x, {.encode = 0x3F000000, .decode = {}}), Error);
}

TEST_CASE("a name is followed by what stands in place of its words") {
  CHECK(only("te-nvfp4-4over6,tensor-amax=41000000,block=4").format->block == 4);
  CHECK(std::get<BlockComposition>(only("te-nvfp4,tensor-amax=41000000").how).tensor_amax == 0x41000000U);
  CHECK(message("mlx-metal,nan-scale=0") ==
        "rules 'mlx-metal,nan-scale=0': mlx-metal are rules of several block formats: what they say stands in mxact formats --rules");
  // With 6 the largest magnitude g is 448; without one there is nothing to decode a candidate with.
  const std::vector<std::uint32_t> x{kSix, kOne, kThree, kSeven};
  CHECK_THROWS_AS(quantized("te-nvfp4-4over6,block=4", x), Error);
  CHECK(quantized("te-nvfp4-4over6,block=4,tensor-amax=40c00000", {kSix, kSix, kSix, kSix}).codes[0] == 0x7);
}

TEST_CASE("flags of a searched element are those of its last step") {
  const std::string text =
      "block=4,element=(e2m1,round=rnz,overflow=saturate,nan=0,zero-sign=positive),scale=e8m0,rule=floor-log2-wrapping,factor=none";
  // amax 7.9: byte 127; 7.9 is above 6 by more than half a step of 2, 7 is the middle, 0.25 of half of the least: 0, tiny.
  const QuantizedBlock block = quantized(text, {0x40FCCCCD, kSeven, 0x3E800000, kSix});
  CHECK(block.scale == 127);
  CHECK(block.codes == std::vector<std::uint32_t>{0x7, 0x7, 0x0, 0x7});
  CHECK(block.flags[0].overflow);
  CHECK(block.flags[0].inexact);
  CHECK_FALSE(block.flags[1].overflow);
  CHECK(block.flags[1].inexact);
  CHECK(block.flags[2].underflow);
  CHECK_FALSE(block.flags[3].inexact);
}

TEST_CASE("every scale rule and every multiplier has one meaning") {
  std::set<std::string> values, meant;
  for (const BlockRuleWord& word : block_rule_words()) {
    if (word.family.empty() || (word.key != "rule" && word.key != "multiplier")) continue;
    for (std::size_t first = 0; first < word.values.size();) {
      const std::size_t end = std::min(word.values.find(", ", first), word.values.size());
      values.insert(word.family + " " + std::string(word.key) + "=" + word.values.substr(first, end - first));
      first = end + 2;
    }
  }
  for (const rules::ValueMeaning& value : rules::kValueMeanings) {
    CHECK(meant.insert(std::string(value.family) + " " + std::string(value.word)).second);
    CHECK_FALSE(value.meaning.empty());
  }
  CHECK(values == meant);
  CHECK(values.size() == 42);
}

TEST_CASE("what no recipe holds is refused with its rule") {
  const auto says = [](std::string_view text, std::string_view part) {
    const std::string said = message(text);
    INFO(said);
    CHECK(said.find(part) != std::string::npos);
  };
  says("block=0,element=e2m1,scale=e8m0,rule=floor", "block=0: a whole number from 1 to");
  says("block=32,scale=e8m0,rule=floor", "does not say element");
  says("block=32,element=bf16,scale=e8m0,rule=floor", "elements have up to 8 bits");
  says("block=5,element=e2m1,scale=e8m0,rule=floor", "share a byte");
  says("block=row,element=e2m1,scale=f32,rule=floor", "share a byte");
  says("block=32,element=e8m0,scale=e8m0,rule=floor", "elements have up to 8 bits, and a zero");
  says("block=32,element=(e2m1,round=rne,overflow=saturate),scale=e4m3fn,rule=floor", "powers of two: scale=e8m0, or f32");
  says("block=32,element=(e2m1,round=rne,overflow=saturate),scale=e8m0,rule=flor", "did you mean floor");
  says("block=32,element=(e2m1,round=rne,overflow=saturate),scale=e8m0,rule=floor,nan-scales=0", "did you mean nan-scale");
  says("block=32,element=(e2m1,round=rne,overflow=saturate),scale=e8m0,rule=floor,nan-scale=100", "is a byte");
  says("block=32,element=(e2m1,round=rne,overflow=saturate),scale=e8m0,rule=rceil", "rceil divides");
  says("block=16,element=(e2m1,round=rne,overflow=saturate),scale=e4m3fn,rule=nvfp4,multiplier=reciprocal-of-product", "scale does not say");
  says("block=16,element=(e2m1,round=rne,overflow=saturate),scale=(e4m3fn,round=rne,overflow=saturate),rule=nvfp4", "does not say multiplier");
  says(
      "block=16,element=(e2m1,round=rne,overflow=saturate),scale=(e4m3fn,round=rne,overflow=saturate),rule=nvfp4-direct,multiplier=divided-by-"
      "product",
      "takes the tensor's decode scale");
  says("block=16,element=(e2m1,round=stochastic-floor,random=8,overflow=saturate),scale=e8m0,rule=floor", "no random bits");
  says("block=16,element=e2m1,scale=e4m3fn,rule=quotient,factor=quotient", "element does not say how elements are rounded");
  says(std::string(kMx) + ",least-amax=bf800000", "least-amax=bf800000: fp32 bits without a sign, and of no NaN");
  says(std::string(kMx) + ",zero-amax=7fc00000", "zero-amax=7fc00000: fp32 bits without a sign");
  says("block=16,block=16,element=e2m1,scale=e8m0,rule=floor", "block is said twice");
  says("block=16,element=(e2m1,scale=e8m0,rule=floor", "without its ')'");
  CHECK_THROWS_AS(block_format_named(kMx), Error);
}
