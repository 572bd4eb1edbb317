// decode, encode, encode_stochastic, sweep_digest: operations whose parameters say everything, so that who ran does not matter.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include "golden/witness/block_tensors.hpp"
#include "kernels/sweep/encode.hpp"
#include "model/numerics/further_formats.hpp"
#include "model/numerics/wide_source.hpp"

namespace mx::golden {

namespace {

struct FormatRow {
  std::string_view word;
  const Format* format;
};
constexpr FormatRow kFormats[] = {
    {"e4m3fn", &kE4m3fn}, {"e5m2", &kE5m2},   {"e4m3fnuz", &kE4m3fnuz}, {"e5m2fnuz", &kE5m2fnuz}, {"e2m3", &kE2m3},
    {"e3m2", &kE3m2},     {"e2m1", &kE2m1},   {"e8m0", &kE8m0},         {"mxint8", &kMxint8},     {"bf16", &kBf16},
    {"fp16", &kFp16},     {"ue4m3", &kUe4m3}, {"ue5m3", &kUe5m3},       {"e3m4ieee", &kE3m4},     {"e4m3ieee", &kE4m3Ieee},
};
constexpr FormatRow kWideFormats[] = {{"f32", &kF32}, {"bf16", &kBf16}, {"fp16", &kFp16}};

struct RoundingRow {
  std::string_view word;
  Rounding rounding;
  bool only_e8m0;
};
constexpr RoundingRow kRoundings[] = {
    {"nearest_even", Rounding::nearest_even, false},
    {"nearest_away", Rounding::nearest_away, false},
    {"nearest_toward_zero", Rounding::nearest_toward_zero, false},
    {"toward_zero", Rounding::toward_zero, false},
    {"toward_positive", Rounding::toward_positive, false},
    {"toward_negative", Rounding::toward_negative, false},
    {"nearest_up", Rounding::nearest_up, true},
    {"magnitude_up", Rounding::magnitude_up, true},
    {"nearest_log2_even", Rounding::nearest_log2_even, true},
    {"nearest_even_code", Rounding::nearest_even_code, true},
    {"interpreter_nearest", Rounding::interpreter_nearest, false},
    {"interpreter_cut", Rounding::interpreter_cut, false},
    {"float_pkg_nearest", Rounding::float_pkg_nearest, false},
    {"first_least_distance", Rounding::first_least_distance, false},
    {"first_least_distance_signed", Rounding::first_least_distance_signed, false},
};

/// How a word of `random` becomes the number of n bits that a rounding draws.
enum class RandomPlace { high_bits, low_bits };
struct StochasticRow {
  std::string_view word;
  Rounding rounding;
  RandomPlace place;
};
constexpr StochasticRow kStochastic[] = {
    {"stochastic_compare", Rounding::stochastic_floor, RandomPlace::high_bits},
    {"stochastic_add", Rounding::stochastic_add, RandomPlace::low_bits},
};

/// The end of the 32-bit word that holds them, where an entry says so.
struct RandomFrom {
  std::string_view word;
  RandomPlace place;
};
constexpr RandomFrom kRandomPlaces[] = {{"top", RandomPlace::high_bits}, {"low", RandomPlace::low_bits}};

enum class Needs { nothing, nan, inf };
struct OverflowRow {
  std::string_view word;
  Overflow overflow;
  Needs needs;
};
constexpr OverflowRow kOverflows[] = {
    {"saturate", Overflow::saturate, Needs::nothing},
    {"nan", Overflow::nan, Needs::nan},
    {"inf", Overflow::inf, Needs::inf},
    {"nan_unrounded", Overflow::nan_unrounded, Needs::nan},
    {"inf_unrounded", Overflow::inf_unrounded, Needs::inf},
    {"ieee", Overflow::ieee, Needs::inf},
};

struct NanRuleRow {
  std::string_view word;
  NanRule rule;
};
constexpr NanRuleRow kNanRules[] = {{"keep_payload", NanRule::keep_payload}, {"quiet_payload", NanRule::quiet_payload}};

/// What a format without a sign makes of negative values: NaN, their magnitude, or what a lower bound of the input makes of them.
enum class Bound { none, zero, least_input };
struct NegativeRow {
  std::string_view word;
  bool is_nan;
  Bound bound;
};
constexpr NegativeRow kNegatives[] = {
    {"abs", false, Bound::none}, {"nan", true, Bound::none}, {"zero", false, Bound::zero}, {"least_input", false, Bound::least_input}};

/// What an Inf gives apart from a finite overflow, where the overflow rule gives the same.
struct InfinityRow {
  std::string_view word;
  std::array<Overflow, 3> rules;
};
constexpr InfinityRow kInfinities[] = {{"max", {Overflow::saturate, Overflow::saturate, Overflow::saturate}},
                                       {"nan", {Overflow::nan, Overflow::nan_unrounded, Overflow::nan}},
                                       {"inf", {Overflow::inf, Overflow::inf_unrounded, Overflow::ieee}}};

struct UnderflowRow {
  std::string_view word;
};
constexpr UnderflowRow kUnderflows[] = {{"nan"}};

bool provides(const Format& format, Needs needs) {
  switch (needs) {
    case Needs::nothing: return true;
    case Needs::nan: return has_nan(format);
    case Needs::inf: return has_inf(format);
  }
  return false;
}

int code_digits(const Format& format) { return format.width > 16 ? 8 : format.width > 8 ? 4 : 2; }

std::uint32_t code_word(Fields& params, std::string_view key, const Format& format) {
  const std::uint64_t code = params.hex(key, code_digits(format));
  if (code >> static_cast<unsigned>(format.width) != 0) throw Unmodelled(fmt::format("{} 0x{:X} is no code of {}", key, code, format.name));
  return static_cast<std::uint32_t>(code);
}

void read_nan_rule(Fields& params, EncodeParams& encode) {
  if (params.has("nan_rule")) {
    const bool widens = encode.from == &kFp16 && encode.to == &kF32;
    if (!widens && (encode.from != &kF32 || encode.to != &kFp16)) throw Unmodelled("nan_rule speaks of fp32 -> fp16 and back alone");
    encode.how.nan_rule = row_named(kNanRules, "nan_rule", params.text("nan_rule")).rule;
    encode.nan_stated = true;
    return;
  }
  if (!params.has("nan_pos") && !params.has("nan_neg")) return;
  encode.how.nan_positive = code_word(params, "nan_pos", *encode.to);
  encode.how.nan_negative = code_word(params, "nan_neg", *encode.to);
  encode.nan_stated = true;
}

const StochasticRow& stochastic_word(Fields& params) { return row_named(kStochastic, "stochastic rounding", params.text("rounding")); }

std::uint32_t drawn(std::uint64_t word, int bits, RandomPlace place) {
  if (place == RandomPlace::high_bits) return static_cast<std::uint32_t>(word >> (32 - bits));
  return static_cast<std::uint32_t>(word & ((std::uint64_t{1} << bits) - 1));
}

const Dtype& code_dtype(const Format& format) { return dtype_named(format.width > 8 ? format.name : "u8"); }

// An entry that states no code for NaN has none among its inputs, or skips them.
void require_no_nan(const OpContext& context, const Tensor& x, const Format& source) {
  const auto skip = context.entry.skips.find("codes");
  if (skip != context.entry.skips.end() && skip->second.input_nan) return;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    if (decode_source(source, x.word(i)).cls == ValueClass::nan)
      throw Unmodelled("the entry does not say what becomes of " + element_text("x", x, i));
  }
}

// Nearest even, beyond the range Inf, and a quiet NaN with the sign of the code.
Conversion into_target(const Format& target) {
  const std::uint32_t nan = max_finite_code(target) + 1U + (1U << static_cast<unsigned>(target.mantissa_bits - 1));
  const std::uint32_t sign = 1U << static_cast<unsigned>(target.width - 1);
  return {Rounding::nearest_even, Overflow::ieee, NanRule::fixed, nan, nan | sign, 0, false};
}

std::string conversion_key(const EncodeParams& encode) {
  const Conversion& how = encode.how;
  return fmt::format("{} {} {} {} {:X} {:X} {:X} {}", encode.to->name, static_cast<int>(how.rounding), static_cast<int>(how.overflow),
                     static_cast<int>(how.nan_rule), how.nan_positive, how.nan_negative, how.zero_code, how.negative_is_nan);
}

std::int64_t sweeps_among(std::span<const Entry> entries) {
  return std::count_if(entries.begin(), entries.end(), [](const Entry& entry) { return entry.op == "sweep_digest"; });
}

constexpr std::int64_t kPatterns = std::int64_t{1} << 32;
constexpr std::int64_t kChunk = std::int64_t{1} << 24;
constexpr unsigned kChunkBits = 24;

const std::vector<std::uint64_t>& swept(const OpContext& context, const EncodeParams& encode) {
  const std::string key = conversion_key(encode);
  const auto known = context.sweeps.find(key);
  if (known != context.sweeps.end()) return known->second;
  if (!context.options.sweeps) throw NotRun("sweeps over all 2^32 inputs are switched off");
  if (context.options.progress) {
    const std::span<const Entry> entries = context.manifest.entries;
    const auto before = static_cast<std::size_t>(&context.entry - entries.data());
    context.options.progress({context.manifest.set, context.entry.id, sweeps_among(entries.first(before)), sweeps_among(entries)});
  }
  return context.sweeps.emplace(key, kernels::sweep_digests(*encode.to, encode.how)).first->second;
}

}  // namespace

Fields params_of(const Entry& entry) { return {entry.params, "params", entry.where, Missing::unmodelled}; }

const Format& format_word(Fields& params, std::string_view key) { return *row_named(kFormats, key, params.text(key)).format; }

const Format& wide_format_word(Fields& params, std::string_view key) { return *row_named(kWideFormats, key, params.text(key)).format; }

Rounding rounding_word(Fields& params, const Format& to) {
  const RoundingRow& row = row_named(kRoundings, "rounding", params.text("rounding"));
  if (row.only_e8m0 && &to != &kE8m0) throw Unmodelled(fmt::format("rounding {} is for e8m0 alone, not {}", row.word, to.name));
  return row.rounding;
}

Overflow overflow_word(Fields& params, const Format& to) {
  const OverflowRow& row = row_named(kOverflows, "overflow", params.text("overflow"));
  if (!provides(to, row.needs)) throw Unmodelled(fmt::format("overflow {} asks for what {} does not have", row.word, to.name));
  return row.overflow;
}

namespace {

/// What happens before the rounding, and at zero and below it.
void read_preparation(Fields& params, EncodeParams& encode) {
  Conversion& how = encode.how;
  if (params.has("through")) how.before.through = &wide_format_word(params, "through");
  if (params.has("infinity")) {
    const InfinityRow& row = row_named(kInfinities, "infinity", params.text("infinity"));
    if (std::ranges::find(row.rules, how.overflow) == row.rules.end())
      throw Unmodelled(fmt::format("infinity {} where a finite overflow is another", row.word));
  }
  if (params.has("underflow")) {
    row_named(kUnderflows, "underflow", params.text("underflow"));
    how.before.tiny_is_nan = true;
  }
  if (encode.to->has_sign) return;
  if (encode.to == &kE8m0 && !params.has("least_input")) how.zero_code = code_word(params, "zero", *encode.to);
  const NegativeRow& negative = row_named(kNegatives, "negative", params.text("negative"));
  how.negative_is_nan = negative.is_nan;
  if (negative.bound == Bound::zero) how.before.least_input = 0;
  if (negative.bound == Bound::least_input) how.before.least_input = static_cast<std::uint32_t>(params.hex("least_input", 8));
}

/// Format of the source, wide ones included, and formats of codes.
const Format& source_word(Fields& params) {
  const std::string word = params.text("source");
  for (const Format& wide : wide_sources()) {
    if (wide.name == word) return wide;
  }
  if (word == "f32") return kF32;
  return format_word(params, "source");
}

/// Format of the result, fp32 where codes are widened.
const Format& target_word(Fields& params) { return params.text("format") == "f32" ? kF32 : format_word(params, "format"); }

/// The conversion of who ran where it is the entry's with a range of its own, which no parameter states; else the entry's.
Conversion with_own_range(const Entry& entry, const EncodeParams& encode) {
  for (const Profile& profile : all_profiles()) {
    const Conversion* own = has_run(profile, entry) ? find_conversion(profile, *encode.from, *encode.to) : nullptr;
    if (own == nullptr || !own->before.range) continue;
    Conversion without = *own;
    without.before.range = std::nullopt;
    if (without == encode.how) return *own;
  }
  return encode.how;
}

}  // namespace

EncodeParams read_encode(Fields& params) {
  EncodeParams encode{&source_word(params), &target_word(params), {}, false};
  encode.how.rounding = rounding_word(params, *encode.to);
  encode.how.overflow = overflow_word(params, *encode.to);
  encode.how.nan_rule = NanRule::fixed;
  read_nan_rule(params, encode);
  read_preparation(params, encode);
  return encode;
}

EncodeParams read_encode_stochastic(Fields& params) {
  EncodeParams encode{&wide_format_word(params, "source"), &format_word(params, "format"), {}, false};
  if (encode.to == &kE8m0) throw Unmodelled("a stochastic rounding into e8m0: nothing says what becomes of its zeros and signs");
  encode.how.rounding = stochastic_word(params).rounding;
  encode.how.random_bits = static_cast<int>(params.integer("random_bits", 1, 32));
  encode.how.overflow = overflow_word(params, *encode.to);
  encode.how.nan_rule = NanRule::fixed;
  read_nan_rule(params, encode);
  return encode;
}

void require_dtype(const Tensor& tensor, std::string_view word, std::string_view name, const std::string& where) {
  if (tensor.dtype->word != word) broken(fmt::format("'{}' is {}, the parameters say {}", name, tensor.dtype->word, word), where);
}

std::string element_text(std::string_view name, const Tensor& tensor, std::int64_t index) {
  return fmt::format("{} = {}", element_name(name, tensor.shape, index), value_text(tensor.word(index), *tensor.dtype, nullptr, false));
}

namespace {

/// What a reader takes the codes above the largest finite one for.
struct SpecialsWord {
  std::string_view word;
};
constexpr SpecialsWord kSpecials[] = {{"as_numbers"}};

/// The format, without Inf and NaN where the entry says that they are numbers.
Format read_codes(Fields& params) {
  Format format = format_word(params, "format");
  if (!params.has("inf_nan")) return format;
  row_named(kSpecials, "inf_nan", params.text("inf_nan"));
  if (format.specials != Specials::ieee) throw Unmodelled(fmt::format("inf_nan as_numbers of {}", format.name));
  format.specials = Specials::none;
  return format;
}

}  // namespace

ModelOutputs evaluate_decode(const OpContext& context) {
  Fields params = params_of(context.entry);
  const Format format = read_codes(params);
  const Format& target = wide_format_word(params, "target");
  params.finish();
  const std::string_view recorded = context.entry.outputs.at("values").dtype->word;
  if (recorded != target.name) throw Unmodelled(fmt::format("values in {}, recorded as {}", target.name, recorded));
  const auto codes = std::make_shared<const Tensor>(context.input("codes"));
  if (8 * codes->dtype->bytes < format.width)
    broken(fmt::format("codes are {}, too narrow for {}", codes->dtype->word, format.name), context.entry.where);
  const Dtype& dtype = dtype_named(target.name);
  const Conversion into = into_target(target);
  Tensor values{&dtype, codes->shape, std::vector<std::uint8_t>(static_cast<std::size_t>(codes->size() * dtype.bytes))};
  for (std::int64_t i = 0; i < codes->size(); ++i) {
    const std::uint64_t code = codes->word(i);
    if (code >> static_cast<unsigned>(format.width) != 0) broken(fmt::format("code 0x{:X} is no code of {}", code, format.name), context.entry.where);
    Flags flags;
    values.set_word(i, encode(decode(format, static_cast<std::uint32_t>(code)), target, into, flags));
  }
  const auto origin = [codes, format](std::int64_t i) { return fmt::format("{} code 0x{:02X}", format.name, codes->word(i)); };
  ModelOutputs outputs;
  outputs.emplace("values", ModelOutput{std::move(values), nullptr, false, origin});
  return outputs;
}

namespace {

/// The codes of x; `random` gives the random number of element i.
ModelOutputs encoded(const OpContext& context, const EncodeParams& encode, const std::function<Random(std::int64_t)>& random) {
  const auto x = std::make_shared<const Tensor>(context.input("x"));
  require_dtype(*x, code_dtype(*encode.from).word, "x", context.entry.where);
  if (!encode.nan_stated) require_no_nan(context, *x, *encode.from);
  const Dtype& dtype = code_dtype(*encode.to);
  Tensor codes{&dtype, x->shape, std::vector<std::uint8_t>(static_cast<std::size_t>(x->size() * dtype.bytes))};
  for (std::int64_t i = 0; i < x->size(); ++i) {
    Flags flags;
    codes.set_word(i, convert_source(x->word(i), *encode.from, *encode.to, encode.how, flags, random(i)));
  }
  ModelOutputs outputs;
  outputs.emplace("codes", ModelOutput{std::move(codes), encode.to, false, [x](std::int64_t i) { return element_text("x", *x, i); }});
  return outputs;
}

}  // namespace

ModelOutputs evaluate_encode(const OpContext& context) {
  if (is_composed(context.entry)) return evaluate_composition(context);
  Fields params = params_of(context.entry);
  EncodeParams encode = read_encode(params);
  params.finish();
  encode.how = with_own_range(context.entry, encode);
  return encoded(context, encode, [](std::int64_t) { return Random{}; });
}

ModelOutputs evaluate_encode_stochastic(const OpContext& context) {
  Fields params = params_of(context.entry);
  EncodeParams encode = read_encode_stochastic(params);
  const RandomPlace place =
      params.has("random_from") ? row_named(kRandomPlaces, "random_from", params.text("random_from")).place : stochastic_word(params).place;
  encode.how.fine.zero_sign = zero_sign_word(params);
  params.finish();
  const Tensor random = context.input("random");
  require_dtype(random, "u32", "random", context.entry.where);
  if (random.shape != context.entry.inputs.at("x").shape) broken("'random' has another shape than 'x'", context.entry.where);
  return encoded(context, encode, [&](std::int64_t i) { return drawn(random.word(i), encode.how.random_bits, place); });
}

ModelOutputs evaluate_sweep(const OpContext& context) {
  Fields params = params_of(context.entry);
  const EncodeParams encode = read_encode(params);
  const std::string digest = params.text("digest");
  if (digest != "mix64_sum") throw Unmodelled("unknown digest '" + digest + "'");
  if (params.integer("chunk_inputs") != kChunk) throw Unmodelled("digests of chunks other than 2^24 inputs");
  params.finish();
  const TensorSpec& x = context.entry.inputs.at("x");
  if (*encode.from != kF32 || x.dtype->word != "f32" || x.generate != "iota" || x.elements != kPatterns)
    throw Unmodelled("a sweep over other inputs than all 2^32 fp32 patterns in order");
  if (!encode.nan_stated) throw Unmodelled("the entry does not say what becomes of a NaN");
  if (!kernels::has_encode(*encode.to, encode.how)) throw Unmodelled("no fast conversion of this kind: 2^32 inputs would take minutes");

  const std::vector<std::uint64_t>& words = swept(context, encode);
  Tensor digests{&dtype_named("u64"), {static_cast<std::int64_t>(words.size())}, std::vector<std::uint8_t>(words.size() * 8)};
  for (std::size_t i = 0; i < words.size(); ++i) digests.set_word(static_cast<std::int64_t>(i), words[i]);
  const auto origin = [](std::int64_t chunk) {
    const auto first = static_cast<std::uint64_t>(chunk) << kChunkBits;
    return fmt::format("fp32 patterns 0x{:08X} to 0x{:08X}", first, first + static_cast<std::uint64_t>(kChunk) - 1);
  };
  ModelOutputs outputs;
  outputs.emplace("digests", ModelOutput{std::move(digests), nullptr, false, origin});
  return outputs;
}

}  // namespace mx::golden
