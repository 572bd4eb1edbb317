// The operation `gemm`: products of libraries and kernels, each output one dot product under a contract, cut as the entry says.

#include <fmt/format.h>

#include <array>
#include <numeric>

#include "golden/witness/product_cuts.hpp"
#include "model/families/vllm_cutlass_product.hpp"
#include "model/numerics/f32.hpp"

namespace mx::golden {

namespace {

/// With the rows of a whole launch, the order of the scales must be the one that the kernel takes for it.
void require_order_of_launch(const OpContext& context, Fields& params, ScaleEntry entry) {
  if (!params.has("slots")) return;
  const std::int64_t slots = params.integer("slots", 1, kLargestExtent);
  const families::EpilogueScale order = families::vllm_cutlass::scale_order(slots);
  const bool first = order == families::EpilogueScale::activation_first;
  if (context.entry.profile.build != "cutlass-moe-mm" || entry == (first ? ScaleEntry::total_one_by_one : ScaleEntry::total_b_first)) return;
  throw Unmodelled(fmt::format("scales of {} slots in another order than the kernel's", slots));
}

/// Codes times the powers of two of their scales, each rounded once to 16 bits: `tl.dot_scaled` where there is no such instruction.
struct Upcast {
  const Format* to = nullptr;  ///< null: codes as they are
  bool fast_math = false;
};

/// The k taken first, second, ... by the operand with the narrowest codes. Source: outputs of an H100 (Triton 3.6.0).
struct OrderWord {
  std::string_view word;
  std::int64_t period;
  std::int64_t step;  ///< neighbours k, k mod this in runs of two
};
constexpr OrderWord kOrders[] = {{"ascending", 1, 2}, {"pairs", 32, 4}, {"quads", 64, 8}};

constexpr std::size_t kLongestOrder = 64;
/// The order of that word; it is written into `places`.
std::span<const std::uint8_t> order_of(const OrderWord& word, std::array<std::uint8_t, kLongestOrder>& places) {
  std::size_t count = 0;
  for (std::int64_t pair = 0; pair < word.step; pair += 2) {
    for (std::int64_t k = 0; k < word.period; ++k) {
      if (k % word.step / 2 == pair / 2) places[count++] = static_cast<std::uint8_t>(k);
    }
  }
  return std::span(places).first(count);
}

/// e5m2 without Inf and NaN, as Triton widens it to bf16.
constexpr Format kE5m2Numbers{"e5m2",     Encoding::floating, kE5m2.width, kE5m2.exponent_bits, kE5m2.mantissa_bits,
                              kE5m2.bias, Specials::none,     true,        kE5m2.source};

/// The scale of a byte in the format that it becomes. Byte 0 is a shift that gives zero; 255 is NaN, with fast_math what the shift gives, Inf.
Value shifted_scale(std::uint32_t byte, const Upcast& upcast) {
  constexpr std::uint32_t kNanByte = 0xFF;
  if (byte == kNanByte && !upcast.fast_math) return decode(kF32, f32::kNan);
  const std::uint32_t shifted = to_f32(byte << static_cast<unsigned>(kBf16.mantissa_bits), kBf16);
  return decode(*upcast.to, narrowed(row_of(Contract::f32_sequential), shifted, *upcast.to));
}

Value upcast_value(const Format& format, std::uint32_t code, const Value& scale, const Upcast& upcast) {
  const Format& read = format == kE5m2 && *upcast.to == kBf16 ? kE5m2Numbers : format;
  Flags flags;
  constexpr Conversion kNearest{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, 0x7FFF, 0x7FFF, 0, false};
  return decode(*upcast.to, encode(exact_product(decode(read, code), scale), *upcast.to, kNearest, flags));
}

/// What a product is made with, beside its row.
struct Gemm {
  Product product;
  ScalingWord scaling;
  Cuts cuts;
  Upcast upcast;
  std::optional<LaneSum> lanes;
  std::optional<std::pair<std::uint32_t, std::uint32_t>> alpha_beta;
  std::optional<Conversion> into_codes;  ///< of results of 8 bits
};

void read_upcast(Fields& params, Gemm& gemm, std::array<std::uint8_t, kLongestOrder>& places) {
  if (gemm.product.accum != "upcast16") {
    if (gemm.scaling.in_elements) throw Unmodelled("scaling e8m0_shift with accum " + gemm.product.accum);
    return;
  }
  const Format& to = wide_format_word(params, "upcast");
  if (to.width != 16) throw Unmodelled("upcast to " + std::string(to.name));
  gemm.upcast = {&to, params.has("fast_math") && params.integer("fast_math", 0, 1) == 1};
  gemm.product.row = row_of(to == kBf16 ? Contract::hopper_bf16 : Contract::hopper_fp16);
  gemm.product.row.order = order_of(row_named(kOrders, "order", params.text("order")), places);
}

/// The row without scales of the total, which come after all pieces have met.
ContractRow row_of_sum(const Gemm& gemm) {
  ContractRow row = gemm.product.row;
  if (!scales_chains(row.scales)) row.scales = ScaleEntry::operand;
  return row;
}

void read_row(Fields& params, Gemm& gemm) {
  ContractRow& row = gemm.product.row;
  if (gemm.product.accum != "contract" || gemm.scaling.word != "none") row.scales = gemm.scaling.entry;
  if (params.has("chain")) row.restart = static_cast<int>(params.integer("chain", 0, kLargestExtent));
  if (gemm.scaling.k != 0 && !gemm.scaling.in_elements && !ends_at_scales(row.restart, gemm.scaling.k)) {
    throw Unmodelled(fmt::format("scales of {} along K with accum {}, whose chains do not end there", gemm.scaling.k, params.text("accum")));
  }
}

void read_epilogue(const OpContext& context, Fields& params, Gemm& gemm) {
  constexpr int kF32Digits = 8;
  if (context.entry.inputs.contains("c")) {
    const auto word = [&](const char* key) { return static_cast<std::uint32_t>(params.hex(key, kF32Digits)); };
    gemm.alpha_beta = {word("alpha"), word("beta")};
  }
  const Format& out = *gemm.product.out_format;
  constexpr std::uint32_t kNanCode = 0x7F;
  if (out.width == 8) gemm.into_codes = Conversion{Rounding::nearest_even, overflow_word(params, out), NanRule::fixed, kNanCode, kNanCode, 0, false};
}

/// The rows of one side: values, or cut and prepared.
struct SideRows {
  std::vector<CutOperand> cut;
  std::vector<std::vector<Value>> values;
};

SideRows rows_of_side(const OpContext& context, const Gemm& gemm, Side side, const Scales& scales, const ContractRow& row) {
  const Product& product = gemm.product;
  const Format& format = side == Side::a ? *product.a_format : *product.b_format;
  const std::string name = side == Side::a ? "a" : "b";
  const Tensor tensor = input_of(context, name, code_dtype_of(format), operand_shape(product, side));
  const Matrix matrix = operand_matrix(product, tensor, side, 0);
  std::optional<Tensor> shifts;
  const std::int64_t block = gemm.scaling.k;
  if (gemm.scaling.in_elements && context.entry.inputs.contains("scale_" + name))
    shifts = input_of(context, "scale_" + name, "u8", {matrix.rows, (matrix.k + block - 1) / block});
  SideRows rows;
  std::vector<Value> values(static_cast<std::size_t>(matrix.k));
  const Value one = decode(kF32, f32::kOne);
  for (std::int64_t r = 0; r < matrix.rows; ++r) {
    for (std::int64_t k = 0; k < matrix.k; ++k) {
      Value& value = values[static_cast<std::size_t>(k)];
      const std::uint32_t code = matrix.code(r, k);
      if (gemm.upcast.to == nullptr) {
        value = decode(format, code);
      } else {
        const std::int64_t place = block == 0 ? 0 : r * ((matrix.k + block - 1) / block) + k / block;
        const Value scale = shifts ? shifted_scale(static_cast<std::uint32_t>(shifts->word(place)), gemm.upcast) : one;
        value = upcast_value(format, code, scale, gemm.upcast);
      }
    }
    if (gemm.lanes) {
      rows.values.push_back(values);
      continue;
    }
    const Format& as = gemm.upcast.to == nullptr ? format : *gemm.upcast.to;
    const std::span<const Value> along = scales_chains(row.scales) ? scales.of_row(r) : std::span<const Value>{};
    rows.cut.push_back(cut_operand(row, gemm.cuts, side, {values, &as, along, static_cast<int>(scales.block)}));
  }
  return rows;
}

std::optional<Tensor> optional_input(const OpContext& context, const std::string& name, std::span<const std::string_view> dtypes,
                                     const std::vector<std::int64_t>& shape) {
  const auto spec = context.entry.inputs.find(name);
  if (spec == context.entry.inputs.end()) return std::nullopt;
  for (const std::string_view dtype : dtypes) {
    if (spec->second.dtype->word == dtype) return input_of(context, name, dtype, shape);
  }
  return input_of(context, name, dtypes.front(), shape);
}

std::uint32_t f32_at(const Tensor& tensor, std::int64_t place) {
  return to_f32(static_cast<std::uint32_t>(tensor.word(place)), *tensor.dtype->format);
}

bool in_pieces(const Gemm& gemm) { return gemm.cuts.piece_k > 0 && gemm.cuts.piece_k < gemm.product.k; }

/// alpha * d + beta * c; where k was cut the last addition is the other one's. Source: outputs of an H100 (cuBLAS, `addmm`).
std::uint32_t with_c(const Gemm& gemm, std::uint32_t d, std::uint32_t c) {
  const auto [alpha, beta] = *gemm.alpha_beta;
  if (!in_pieces(gemm)) return f32::fma(alpha, d, f32::mul(beta, c));
  return f32::fma(beta, c, f32::mul(alpha, d));
}

/// Everything behind the sum: scales of the total, bias, C, weights of rows.
struct Epilogue {
  const Scales& scale_a;
  const Scales& scale_b;
  std::optional<Tensor> bias, c, row_weight;

  std::uint32_t of(const Gemm& gemm, const ContractRow& row, std::uint32_t sum, std::int64_t m, std::int64_t n) const {
    const auto scale = [](const Scales& scales, std::int64_t i) { return scales.values.empty() ? f32::kOne : to_f32(scales.of_row(i).front()); };
    Addends addends;
    if (bias) addends.bias = f32_at(*bias, n);
    std::uint32_t d = finished(row, sum, scale(scale_a, m), scale(scale_b, n), addends);
    if (c) d = with_c(gemm, d, f32_at(*c, m * gemm.product.n + n));
    return row_weight ? f32::mul(d, f32_at(*row_weight, m)) : d;
  }
};

constexpr std::array<std::string_view, 3> kWide{"bf16", "fp16", "f32"};
constexpr std::array<std::string_view, 1> kOnlyF32{"f32"};

ModelOutputs codes_of(const Gemm& gemm, std::vector<std::int64_t> shape, const std::vector<std::uint32_t>& results) {
  Tensor values{&dtype_named("u8"), std::move(shape), std::vector<std::uint8_t>(results.size())};
  for (std::size_t i = 0; i < results.size(); ++i) {
    Flags flags;
    values.set_word(static_cast<std::int64_t>(i), encode(decode(kF32, results[i]), *gemm.product.out_format, *gemm.into_codes, flags));
  }
  ModelOutputs outputs;
  outputs.emplace("d", ModelOutput{std::move(values), gemm.product.out_format, false, {}});
  return outputs;
}

/// The inputs that these words ask for. Throws Unmodelled for another, Error(input) for one that is missing.
void require_inputs(const OpContext& context, const Gemm& gemm) {
  const auto& inputs = context.entry.inputs;
  std::string names = "a b";
  if (gemm.scaling.from_inputs && !gemm.scaling.in_elements) names += " scale_a scale_b";
  const auto may_have = [&](const std::string& name) { names += inputs.contains(name) ? " " + name : ""; };
  if (gemm.scaling.in_elements) {
    may_have("scale_a");
    may_have("scale_b");
  }
  for (const char* name : {"bias", "row_weight"}) may_have(name);
  if (gemm.alpha_beta) may_have("c");
  require_names(names, inputs, "input", context.entry.where);
}

}  // namespace

ModelOutputs evaluate_gemm(const OpContext& context) {
  Fields params = params_of(context.entry);
  std::array<std::uint8_t, kLongestOrder> places{};
  Gemm gemm{read_product(params, "gemm"), scaling_word(params), {}, {}, {}, {}, {}};
  const Product& product = gemm.product;
  read_upcast(params, gemm, places);
  read_row(params, gemm);
  gemm.cuts = read_cuts(params, product, gemm.scaling);
  // Nothing is added to a sum of pieces: outputs of an H200, of which a zero keeps the factor's sign.
  if (in_pieces(gemm) && product.row.scales == ScaleEntry::total_product_plus_zero) gemm.product.row.scales = ScaleEntry::total_product;
  if (product.accum == "f32_products") gemm.lanes = read_lanes(params);
  require_order_of_launch(context, params, gemm.scaling.entry);
  const Scales scales_a = of_chains(read_scales(context, params, gemm.scaling, product, Side::a), product.row.restart);
  const Scales scales_b = of_chains(read_scales(context, params, gemm.scaling, product, Side::b), product.row.restart);
  read_epilogue(context, params, gemm);
  params.finish();
  require_inputs(context, gemm);

  const ContractRow row = row_of_sum(gemm);
  const SideRows rows_a = rows_of_side(context, gemm, Side::a, scales_a, row);
  const SideRows rows_b = rows_of_side(context, gemm, Side::b, scales_b, row);
  const bool total = !scales_chains(row.scales);
  const Scales none;
  const Epilogue epilogue{total ? scales_a : none, total ? scales_b : none, optional_input(context, "bias", kWide, {product.n}),
                          optional_input(context, "c", kWide, {product.m, product.n}), optional_input(context, "row_weight", kOnlyF32, {product.m})};
  // Where scales lie is what these recordings show: scales of a tensor are held against a product to which nothing is added.
  ContractRow other = product.row;
  if (other.scales == ScaleEntry::total_product_plus_zero) other.scales = ScaleEntry::total_product;
  std::vector<std::uint32_t> results;
  std::vector<std::uint64_t> rival;
  for (std::int64_t m = 0; m < product.m; ++m) {
    for (std::int64_t n = 0; n < product.n; ++n) {
      const auto i = static_cast<std::size_t>(m);
      const auto j = static_cast<std::size_t>(n);
      const std::uint32_t sum = gemm.lanes ? lane_sum(*gemm.lanes, rows_a.values[i], rows_b.values[j])
                                           : cut_sum(row, gemm.cuts, rows_a.cut[i], rows_b.cut[j], *product.out_format);
      results.push_back(epilogue.of(gemm, product.row, sum, m, n));
      if (!gemm.into_codes && other.scales != product.row.scales)
        rival.push_back(narrowed(other, epilogue.of(gemm, other, sum, m, n), *product.out_format));
    }
  }
  if (gemm.into_codes) return codes_of(gemm, {product.m, product.n}, results);
  ModelOutputs outputs = outputs_of(product, {product.m, product.n}, results);
  outputs.at("d").rival = std::move(rival);
  return outputs;
}

}  // namespace mx::golden
