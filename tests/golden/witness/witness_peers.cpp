// Words of the later forms: each states what an implementation does, and what it states must be what the model's row does.

#include "tests/golden/witness/changes.hpp"

namespace mx::tests::witness {
namespace {

std::function<void(Json&)> with(const char* key, const Json& word) {
  return [key, word](Json& entry) { entry["params"][key] = word; };
}
std::function<void(Json&)> without(const char* key) {
  return [key](Json& entry) { entry["params"].erase(key); };
}
std::function<void(Json&)> by(const char* part, const char* word) {
  return [part, word](Json& entry) { entry["profile"][part] = word; };
}
void as_it_is(Json&) {}

TEST_CASE("words about a block's scale are held against the recipe of who ran", "[witness]") {
  check("numerics-peers/block_peers", "f32.mxfp4.floor.torchao",
        {{"as it is", as_it_is, 0, "5032 values"},
         {"the byte itself", with("nan_scale", "0xFF"), 0, "5032 values"},
         {"another byte for Inf", with("infinite_scale", "0xFE"), 5, "'infinite_scale' is \"0xFE\": the model of this profile has \"0xFD\""},
         {"another factor", with("factor", "reciprocal_power"), 5, "'factor' is \"reciprocal_power\""},
         {"another factor of byte 0", with("factor_at_0", "0x00400000"), 5, "'factor_at_0'"},
         {"zeros that lose their sign", with("zero_sign", "positive"), 5, "'zero_sign' is nothing that the model of this profile knows"},
         {"an unknown word", with("mood", "good"), 5, "unknown key 'mood'"},
         {"the commit that came later", by("build", "eager"), 5, "'infinite_scale' is \"as_exponent_255\": the model of this profile has \"0xFF\""},
         {"a release that nobody has", by("build", "eager-9"), 5, "no model of"}});
  check("numerics-peers/block_peers", "bf16.mxfp4.compressed_tensors",
        {{"more bits of mantissa", with("scale_mantissa_bits", 3), 5, "'scale_mantissa_bits' is 3"},
         {"a scale in fp32", with("scale_in_source_type", false), 5, "'scale_in_source_type' is false"},
         {"less said", without("zero_sign"), 0, "5032 values"}});
  check("numerics-peers/block_peers", "f32.mxfp4.mlx_cpu",
        {{"bytes that stay in range", with("scale_wraps", false), 5, "'scale_wraps' is false"},
         {"another search", with("rounding", "first_least_distance"), 5, "no model of"}});
  check("numerics-peers/nvfp4_peers", "f32.nvfp4.amax3.7.mlx_cpu",
        {{"another largest magnitude", with("tensor_amax", "0x40000000"), 1, "codes["}, {"none", without("tensor_amax"), 1, "codes["}});
  check("numerics-peers/quark_mx", "f32.e2m1.even_round.quark",
        {{"another rule", with("scale_rule", "even"), 5, "no model of"}, {"another zero", with("zero_amax", "0x00000000"), 5, "'zero_amax'"}});
  check("numerics-peers/fp8_peers", "f32.row.torchao_float8", {{"another floor", with("amax_floor", "0x00000000"), 5, "'amax_floor'"}});
  check("numerics-peers/dequantize_peers", "f32.mxfp4.modelopt", {{"an exact scale", with("scale_nan", "finite"), 5, "'scale_nan' is \"finite\""}});
}

TEST_CASE("words about a block that say the whole quantizer change what the model does", "[witness]") {
  check("numerics-2/nvfp4_te", "bf16.nvfp4.4over6.mae.448.amax_41000000",
        {{"as it is", as_it_is, 0, "4896 values"},
         {"squares", with("four_over_six_error", "mse"), 1, "codes["},

         {"another largest scale", with("tensor_scale_max", 256), 1, "values differ"},
         {"no largest scale that is known", with("tensor_scale_max", 300), 5, "unknown tensor_scale_max '300'"}});
  const auto as_rules = [](const std::string& format, const std::string& rest) {
    return [=](Json& entry) { entry["params"] = Json{{"source", "f64"}, {"format", format + ",overflow=ieee,infinity=inf" + rest}}; };
  };
  const std::string flags = ",tininess=result,overflow-flag=not-finite-result";
  check("numerics-2/encode_formats", "f64.e3m4.toward_negative",
        {{"all of it as one text", as_rules("e3m4,bias=3,ieee,round=rdn", flags), 0, "0 differ"},
         {"another bias", as_rules("e3m4,bias=4,ieee,round=rdn", flags), 1, "codes["},
         {"another tininess", as_rules("e3m4,bias=3,ieee,round=rdn", ",overflow-flag=not-finite-result"), 1, "flags["},
         {"a text that is wrong", as_rules("e3m4,bias=3,ieee,round=rd", flags), 5, "unknown round 'rd' (did you mean rdn?)"}});
  check("numerics-2/nvfp4_te", "bf16.nvfp4.fast_math_kernel.amax_41000000", {{"a factor in fp32", without("factor_format"), 1, "codes["}});
  check("numerics-2/nvfp4_te", "bf16.nvfp4.4over6.mse.448.amax_7f7fc99e",
        {{"another domain", with("four_over_six_error_domain", "scaled_fp16"), 1, "55 of 4896 values differ"}});
  check("numerics-2/nvfp4_te", "bf16.nvfp4.plain.amax_41000000", {{"zeros with their sign", without("zero_sign"), 1, "codes["}});
  check("numerics-2/nvfp4_te", "bf16.nvfp4.tile16x16.amax_41000000", {{"rows alone", without("block_rows"), 1, "values differ"}});
  check("numerics-2/block_mlx", "f32.nvfp4.amax_3.25", {{"another largest magnitude", with("tensor_amax", "0x40000000"), 1, "values differ"}});
  check(
      "numerics-2/block_ggml", "f32.mxfp4.regular",
      {{"ties to even", with("rounding", "nearest_even"), 5, "no model of"}, {"another rule", with("scale_rule", "round_log2"), 1, "values differ"}});
  check("numerics-2/block_ggml", "dequant.mxfp4", {{"no number for 0xFF", with("scale_nan", "zero"), 1, "values["}});
  check("numerics-2/block_ggml", "dequant.nvfp4", {{"a number for 0x7F", with("scale_nan", "finite"), 1, "values["}});
  check("numerics-2/block_ggml", "memory.mxfp4",
        {{"another memory", with("layout", "ggml_nvfp4"), 5, "ggml_nvfp4 of e2m1 in blocks of 32 under e8m0"}});
  check("numerics-2/layout_ggml", "mxfp4_4x4.64x8x1",
        {{"eight rows", with("layout", "ggml_mxfp4_8x8"), 1, "source["},
         {"rows that do not divide", with("rows", 6), 5, "6 rows of 64 are no whole blocks"}});
  const auto rules = [](std::string_view text) { return with("rules", Json(std::string(text))); };
  check("numerics-2/group_integers", "f32.torchao-uint4",
        {{"by a name", rules("torchao-uint4,block=32"), 0, "0 differ"},
         {"halves away from zero", rules("torchao-uint4,block=32,round=rna"), 1, "codes["},
         {"a quotient", rules("torchao-uint4,block=32,operation=divide"), 1, "codes["},
         {"no rules", rules("torchao-uint4,rule=spam"), 5, "did you mean span"}});
  check("numerics-2/mma_published", "ada.e4m3fn",
        {{"a group of all", with("group", 32), 1, "d["},
         {"more bits", with("alignment_bits", 20), 1, "d["},
         {"another rounding", with("alignment_rounding", "nearest_even"), 5, "alignment_rounding nearest_even"}});
  check("numerics-2/stochastic_peers", "mxdg.e2m1",
        {{"the other end", with("random_from", "low"), 1, "codes["}, {"zeros with their sign", without("zero_sign"), 1, "codes["}});
}

TEST_CASE("words about a conversion change what the model does", "[witness]") {
  check("numerics-peers/encode_peers", "f64.e4m3fn.torch",
        {{"as it is", as_it_is, 0, "497 values"}, {"rounded once", without("through"), 1, "codes["}});
  check("numerics-peers/encode_peers", "f32.e8m0.saturate0.onnxruntime",
        {{"small values rounded up", without("underflow"), 1, "codes["},
         {"an unknown underflow", with("underflow", "zero"), 5, "unknown underflow 'zero'"}});
  check("numerics-peers/encode_peers", "f32.ue5m3.auto_round",
        {{"negative values as NaN", with("negative", "nan"), 1, "codes["},
         {"Inf as NaN", with("infinity", "nan"), 1, "codes["},
         {"no word on negative values", without("negative"), 5, "params has no 'negative'"}});
  check("numerics-peers/encode_peers", "f32.e8m0.quark",
        {{"another least input", with("least_input", "0x00400000"), 1, "codes["}, {"halves up", with("rounding", "nearest_up"), 1, "codes["}});
  check("numerics-2/encode_ieee", "f32.e4m3fn.toward_zero",
        {{"as it is", as_it_is, 0, "equal "},
         {"overflow whatever the direction", with("overflow", "nan"), 1, "codes["},
         {"Inf as the largest number", with("infinity", "max"), 1, "codes["},
         {"overflow as IEEE 754 has it", with("overflow_flag", "ieee"), 1, "flags["},
         {"an unknown tininess", with("tininess", "never"), 5, "unknown tininess 'never'"}});
  check("numerics-2/encode_ieee", "f32.e4m3fn.nearest_even",
        {{"tiny before rounding", with("tininess", "before"), 1, "flags["}, {"tiny after it", with("tininess", "after"), 1, "flags["}});
  check("numerics-2/encode_dialects", "f32.e4m3fn.mxdg.sat",
        {{"zeros with their sign", without("zero_sign"), 1, "codes["}, {"all zeros without", with("zero_sign", "positive"), 1, "codes["}});
  check("numerics-2/encode_dialects", "f32.e8m0.mlx.log2.other",
        {{"magnitudes of negative numbers", with("negative", "abs"), 1, "codes["},
         {"Inf as the largest number", with("infinity", "max"), 1, "codes["}});
  check("numerics-2/encode_dialects", "f32.e8m0.mlx.log2", {{"to the nearest power", with("rounding", "nearest_even"), 1, "codes["}});
  check("numerics-2/encode_dialects", "f32.e4m3fn.onednn", {{"rounded once", without("through"), 1, "codes["}});
  // What an implementation gets wrong in one range is its own: the same words of somebody else mean the rule.
  check("numerics-peers/encode_peers", "f32.e4m3fn.saturate0.onnxruntime",
        {{"as it is", as_it_is, 0, "equal "}, {"somebody else", by("implementation", "mine"), 0, "137 of 5119 values differ"}});
}

}  // namespace
}  // namespace mx::tests::witness
