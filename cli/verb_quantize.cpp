// mxact quantize: blocks of values into a scale and codes.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/document.hpp"
#include "cli/numbers.hpp"
#include "cli/tensor_scales.hpp"
#include "cli/typed_values.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "model/numerics/affine.hpp"
#include "model/numerics/block_rules.hpp"
#include "model/numerics/profile.hpp"
#include "verbs/numbers/numbers.hpp"
#include "verbs/quantize/affine_document.hpp"
#include "verbs/quantize/quantize_document.hpp"

namespace mx::cli {
namespace {

struct QuantizeOptions {
  std::string format;
  std::vector<std::string> values;
  std::string source = "f32";
  std::string profile = std::string(kOcp);
  std::int64_t rows = 1;
  std::optional<std::int64_t> block;
  std::string global_scale;
  std::string scale;
  std::string amax_bound;
  std::string layout = "linear";
  DocumentOptions out;
};

std::optional<std::uint32_t> scale_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return verbs::parse_code(text, kF32);
}

/// Integers with a scale and a zero point: the format says all rules.
int quantize_integers(const QuantizeOptions& options) {
  const bool given = options.profile != kOcp || options.source != kF32.name || options.block || !options.global_scale.empty() ||
                     !options.scale.empty() || !options.amax_bound.empty() || options.layout != "linear" || !options.out.picture.empty();
  if (given) throw Error(ErrorCode::usage, "integers with a scale and a zero point take --rows alone: '" + options.format + "' says everything else");
  const std::vector<std::string> values = typed_values(options.values, Elements::values, options.source);
  return show(verbs::affine_document(options.format, options.rows, values), options.out);
}

/// A name has to be a block format's: integers by name are nearest names too.
void require_known(const std::string& name) {
  if (is_block_rules(name)) return;
  std::vector<std::string_view> known;
  for (const BlockFormat& format : all_block_formats()) known.push_back(format.name);
  for (const AffineRow& integers : named_affine_rules()) known.push_back(integers.name);
  if (std::ranges::none_of(known, [&](std::string_view one) { return same_name(one, name); }))
    throw Error(ErrorCode::usage, unknown_name("block format", name, known));
}

int quantize_values(const QuantizeOptions& options) {
  require_outputs(options.out);
  if (is_affine(options.format)) return quantize_integers(options);
  require_known(options.format);
  verbs::QuantizeRequest request;
  request.format = &block_format_named(options.format);
  request.profile = &profile_named(options.profile);
  request.source = &format_named(options.source);
  const Recipe& how = recipe(*request.profile, *request.format, *request.source);
  const verbs::ScaleLayout& layout = verbs::scale_layout_named(options.layout);
  request.rows = options.rows;
  request.block = options.block;
  request.tensor.encode = scale_of(options.global_scale);
  request.tensor.decode = scale_of(options.scale);
  request.tensor.amax_bound = scale_of(options.amax_bound);
  require_tensor_scales(*request.profile, how, request.tensor);
  return show(verbs::quantize_document(request, typed_values(options.values, Elements::values, options.source), layout), options.out);
}

}  // namespace

void add_quantize(Verb app, Action& action) {
  const Verb verb = app.add_verb("quantize", "block quantization: whole blocks of values, as arguments or on standard input");
  const auto options = std::make_shared<QuantizeOptions>();
  verb.add_option("FORMAT", options->format,
                  "block format (mxact formats lists them), or rules of integers with a zero point (mxact formats --rules)")
      .required();
  verb.add_option("VALUE", options->values, "decimal value, or bits as 0x..").transform(trimmed);
  verb.add_option("--from", options->source, "source format: f32 (default), bf16, fp16");
  verb.add_option("--profile", options->profile, "named scale rule, rounding, overflow and NaN rule (default ocp)");
  constexpr std::int64_t kMost = 1 << 20;
  verb.add_option("--rows", options->rows, "the values are this many rows of equal length (default 1); tiles of 128x128 take whole tiles of rows")
      .check(whole_number_in(1, kMost));
  verb.add_option("--block", options->block, "elements that share a scale, where the format leaves it open (default: a row)")
      .check(whole_number_in(1, kMost));
  verb.add_option("--global-scale", options->global_scale, "encode scale g of the tensor, for two-level recipes that take it");
  verb.add_option("--scale", options->scale, "decode scale 1/g of the tensor, or the scale of a static recipe");
  verb.add_option("--amax-bound", options->amax_bound, "upper bound on the largest magnitude, for recipes that take it");
  verb.add_option("--scale-layout", options->layout, "where the scales lie: linear (default), 128x4, 8x4");
  add_picture_option(verb, options->out, "writes a picture, FILE.svg, instead: each element beside what its code stands for");
  verb.add_flag("--force", options->out.force, "overwrite the file");
  add_json_option(verb, options->out);
  verb.callback([&action, options] { action = [options] { return quantize_values(*options); }; });
}

}  // namespace mx::cli
