// mxact encode and mxact decode: single values, with everything about them.

#include <memory>

#include "cli/document.hpp"
#include "cli/numbers.hpp"
#include "cli/typed_values.hpp"
#include "cli/verbs.hpp"
#include "verbs/numbers/codes_document.hpp"

namespace mx::cli {
namespace {

struct Encode {
  verbs::EncodeRequest asked;
  DocumentOptions out;
};

struct Decode {
  verbs::DecodeRequest asked;
  DocumentOptions out;
};

}  // namespace

void add_encode(Verb app, Action& action) {
  const Verb verb = app.add_verb("encode", "codes of values: mxact encode e4m3fn 1.7 -0.01 0x7f800000");
  const auto options = std::make_shared<Encode>();
  verb.add_option("FORMAT", options->asked.format, "target format (mxact formats lists them)").required();
  verb.add_option("VALUE", options->asked.values, "decimal value, or bits as 0x..; or a .npy file of them (default: standard input)")
      .transform(trimmed);
  verb.add_option("--from", options->asked.source, "source format: f32 (default), bf16, fp16, any other, or f64, i64, i32");
  verb.add_option("--profile", options->asked.profile, "named rounding, overflow and NaN rule (default ocp)");
  verb.add_option("--rounding", options->asked.rounding, "refuse a profile that rounds in another way");
  verb.add_option("--overflow", options->asked.overflow, "refuse a profile that overflows in another way");
  verb.add_option("--random", options->asked.random, "random bits of a stochastic rounding: one number, or one for each value, with commas").listed();
  verb.add_option("--random-words", options->asked.random_words,
                  "words of 32 bits in its place, each for 4 values, 2 of 16 bits, as PTX's cvt.rs shares it: one for each such group, with commas")
      .listed();
  add_json_option(verb, options->out);
  verb.callback([&action, options] {
    action = [options] {
      options->asked.values = typed_values(options->asked.values, Elements::values, options->asked.source);
      return show(verbs::encode_document(options->asked), options->out);
    };
  });
}

void add_decode(Verb app, Action& action) {
  const Verb verb = app.add_verb("decode", "values of codes: mxact decode e4m3fn 0x7e 0x01; mxact decode mxfp4 --scale 0x80 7");
  const auto options = std::make_shared<Decode>();
  verb.add_option("FORMAT", options->asked.format, "format of the codes (mxact formats lists them); with --scale a block format").required();
  verb.add_option("CODE", options->asked.codes, "code as 0x.. or a whole number; or a .npy file of unsigned integers (default: standard input)")
      .transform(trimmed);
  verb.add_option("--scale", options->asked.scale,
                  "scale of the block that the codes stand in: a code, or for fp32 scales a decimal value or bits as 0x..");
  verb.add_option("--profile", options->asked.profile, "whose dequantization of blocks (default: the exact product)");
  verb.add_option("--to", options->asked.target, "what blocks are dequantized to: f32 (default), bf16, fp16");
  verb.add_option("--global-scale", options->asked.global_scale, "encode scale g of the tensor, for profiles that take it");
  verb.add_option("--tensor-scale", options->asked.tensor_scale, "decode scale 1/g of the tensor, for profiles that take it");
  add_json_option(verb, options->out);
  verb.callback([&action, options] {
    action = [options] {
      options->asked.codes = typed_values(options->asked.codes, Elements::codes, options->asked.format);
      return show(verbs::decode_document(options->asked), options->out);
    };
  });
}

}  // namespace mx::cli
