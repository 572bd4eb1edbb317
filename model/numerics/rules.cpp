#include "model/numerics/rules.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <vector>

#include "model/error.hpp"
#include "model/names.hpp"
#include "model/numerics/block_rules.hpp"
#include "model/numerics/further_formats.hpp"
#include "model/numerics/kept_texts.hpp"
#include "model/numerics/rule_words.hpp"

namespace mx {
namespace {

constexpr std::array kFurther{kTf32, kE4m3Ieee, kE3m4, kE4m3b11fnuz};

constexpr std::string_view kOwn = "rules";      // Profile::implementation
constexpr std::int32_t kFirstBlocks = 1 << 20;  // numbers from here on are of profiles of block rules
constexpr std::string_view kOwnSource = "rules that their user wrote";

// IEEE 754 leaves the sign of a NaN, and one of two tests for what is tiny, to who implements it: the positive quiet NaN, after rounding.
constexpr std::string_view kIeeeSource = "IEEE 754-2019 sections 4.3.1, 7.4, 7.5";
constexpr std::string_view kRiscvSource = "RISC-V F, Zfhmin, Zfbfmin, Zvfofp8min: the NaN of both formats of OFP8 is 0x7F";
constexpr std::string_view kX86Source = "Intel SDM: VCVTPS2PH, VCVTNEPS2BF16 (subnormal inputs are zeros)";
constexpr std::string_view kArmSource = "Arm ARM A1.5.5, FPMR.OSC = 0; FCVT and BFCVT with FPCR.DN = 0";
constexpr std::string_view kArmSatSource = "Arm ARM A1.5.5, FPMR.OSC = 1";
constexpr std::string_view kPtxSource = "PTX ISA 9.1 cvt.rn.satfinite; cvt.rp.satfinite.ue8m0; cvt.rn of fp16 and bf16";

constexpr std::string_view kScalarSource = "ml_dtypes 0.6.0, a Python float in a constructor, a list or an assignment; recorded";
constexpr std::string_view kBitstringSource =
    "bitstring 5.0.0, tibs 2.0.2: e4m3mxfp_saturate, e5m2mxfp_saturate, e3m2mxfp, e2m3mxfp, e2m1mxfp; recorded";
constexpr std::string_view kBitstringOverflow =
    "bitstring 5.0.0, tibs 2.0.2: e4m3mxfp_overflow, e5m2mxfp_overflow; recorded. Not followed: the sign of e4m3fn's NaN of what fp32 does not hold";
constexpr std::string_view kGfloatSource = "gfloat 0.5.2 round_float(TiesToEven, sat=False), encode_float; recorded. Below 1.5 * 2^-128 is a NaN";
constexpr std::string_view kTinygradSource = "tinygrad 0.14.0, DEV=PYTHON, Tensor.cast and Tensor(list, dtype=..); recorded";
constexpr std::string_view kTinygradCpuSource =
    "tinygrad 0.14.0, DEV=CPU, a cast that a kernel stores; recorded, C by clang 18. Into e5m2fnuz no rule";
constexpr std::string_view kTinygradLlvmSource =
    "tinygrad 0.14.0, DEV=CPU:LLVM, a cast that a kernel stores; recorded, without vectors. Into e5m2 and e5m2fnuz no rule";
constexpr std::string_view kPtxRsSource =
    "PTX ISA 9.1 cvt.rs, in fp8, fp6 and fp4 with satfinite: random bits as shared_random.hpp takes them off a word";

constexpr std::string_view kGgmlSource = "ggml d99724f2 src/ggml-quants.c quantize_row_mxfp4_ref, quantize_row_nvfp4_ref; recorded";
constexpr std::string_view kMlxSource = "mlx 846d1762 mlx/backend/metal/kernels/fp_quantized.h fp_quantize; recorded, without NaNs";
constexpr std::string_view kTePythonSource = "TransformerEngine d0067d0d reference_nvfp4.py; recorded, without NaNs";
constexpr std::string_view kTeTestSource = "TransformerEngine d0067d0d test_cast_nvfp4_transpose.cu; stated again and recorded";
constexpr std::string_view kTeKernelSource = "TransformerEngine d0067d0d quantize_transpose_nvfp4_tuned_1D.cuh; stated again and recorded";

constexpr std::array kNamedRules{
    NamedRules{"ieee", "round=rne,overflow=ieee,tininess=after", kIeeeSource},
    NamedRules{"riscv", "e5m2,round=rne,overflow=ieee,nan=7f,tininess=after", kRiscvSource},
    NamedRules{"riscv", "round=rne,overflow=ieee,tininess=after", kRiscvSource},
    NamedRules{"x86", "f32,round=rne,overflow=ieee,nan=quiet,tininess=after", kX86Source},
    NamedRules{"x86", "fp16,round=rne,overflow=ieee,nan=quiet,tininess=after", kX86Source},
    NamedRules{"x86", "bf16,round=rne,overflow=ieee,nan=quiet,flush=source,tininess=after", kX86Source},
    NamedRules{"arm", "e4m3fn,round=rne,overflow=nan,nan=7f,overflow-flag=infinite-too", kArmSource},
    NamedRules{"arm", "e5m2,round=rne,overflow=inf,nan=7e,overflow-flag=infinite-too", kArmSource},
    NamedRules{"arm", "f32,round=rne,overflow=ieee,nan=quiet", kArmSource},
    NamedRules{"arm", "fp16,round=rne,overflow=ieee,nan=quiet", kArmSource},
    NamedRules{"arm", "bf16,round=rne,overflow=ieee,nan=quiet", kArmSource},
    NamedRules{"arm-sat", "e4m3fn,round=rne,overflow=saturate,nan=7f,overflow-flag=infinite-too", kArmSatSource},
    NamedRules{"arm-sat", "e5m2,round=rne,overflow=saturate,nan=7e,overflow-flag=infinite-too", kArmSatSource},
    NamedRules{"ptx", "e4m3fn,round=rne,overflow=saturate,nan=7f", kPtxSource},
    NamedRules{"ptx", "e5m2,round=rne,overflow=saturate,nan=7f", kPtxSource},
    NamedRules{"ptx", "e2m3,round=rne,overflow=saturate,nan=1f", kPtxSource},
    NamedRules{"ptx", "e3m2,round=rne,overflow=saturate,nan=1f", kPtxSource},
    NamedRules{"ptx", "e2m1,round=rne,overflow=saturate,nan=7", kPtxSource},
    NamedRules{"ptx", "s2f6,round=rne,overflow=saturate,nan=7f", kPtxSource},
    NamedRules{"ptx", "e8m0,round=magnitude-up,overflow=saturate,nan=ff,zero-code=00,negative=magnitude", kPtxSource},
    NamedRules{"ptx", "bf16,round=rne,overflow=ieee,nan=7fff", kPtxSource},
    NamedRules{"ptx", "fp16,round=rne,overflow=ieee,nan=7fff", kPtxSource},
    NamedRules{"ml_dtypes-scalar", "e4m3fn,round=rne,overflow=nan,nan=7f/ff", kScalarSource},
    NamedRules{"ml_dtypes-scalar", "e5m2,round=rne,overflow=inf,nan=7e/fe", kScalarSource},
    NamedRules{"ml_dtypes-scalar", "e4m3fnuz,round=rne,overflow=nan,nan=80", kScalarSource},
    NamedRules{"ml_dtypes-scalar", "e5m2fnuz,round=rne,overflow=nan,nan=80", kScalarSource},
    NamedRules{"ml_dtypes-scalar", "e2m3,round=rne,overflow=saturate,nan=20/00", kScalarSource},
    NamedRules{"ml_dtypes-scalar", "e3m2,round=rne,overflow=saturate,nan=20/00", kScalarSource},
    NamedRules{"ml_dtypes-scalar", "e2m1,round=rne,overflow=saturate,nan=8/0", kScalarSource},
    NamedRules{"ml_dtypes-scalar", "e8m0,round=nearest-up,overflow=nan,nan=ff,zero-code=ff,negative=nan", kScalarSource},
    NamedRules{"ml_dtypes-scalar", "bf16,round=rne,overflow=ieee,nan=7fc0/ffc0,through=f32", kScalarSource},
    NamedRules{"bitstring-saturate", "e4m3fn,round=rne,overflow=saturate,nan=ff", kBitstringSource},
    NamedRules{"bitstring-saturate", "e5m2,round=rne,overflow=saturate,nan=ff", kBitstringSource},
    NamedRules{"bitstring-saturate", "e3m2,round=rne,overflow=saturate,nan=refused", kBitstringSource},
    NamedRules{"bitstring-saturate", "e2m3,round=rne,overflow=saturate,nan=refused", kBitstringSource},
    NamedRules{"bitstring-saturate", "e2m1,round=rne,overflow=saturate,nan=refused", kBitstringSource},
    NamedRules{"bitstring-overflow", "e5m2,round=rne,overflow=inf,nan=ff", kBitstringOverflow},
    NamedRules{"bitstring-overflow", "e4m3fn,round=rne,overflow=nan,infinity=as-nan,nan=ff,range=43e80001..7f7fffff:ff", kBitstringOverflow},
    NamedRules{"gfloat-e8m0", "e8m0,round=nearest-even-code,overflow=nan,nan=ff,zero-code=ff,negative=nan,range=00000000..00300000:ff",
               kGfloatSource},
    NamedRules{"tinygrad-python", "e4m3fn,round=rne,overflow=saturate,infinity=as-nan,nan=7f", kTinygradSource},
    NamedRules{"tinygrad-python", "e5m2,round=rne,overflow=saturate,infinity=inf,nan=7f", kTinygradSource},
    NamedRules{"tinygrad-python", "e4m3fnuz,round=rne,overflow=saturate,infinity=nan,nan=80", kTinygradSource},
    NamedRules{"tinygrad-python", "e5m2fnuz,round=rne,overflow=saturate,infinity=nan,nan=80", kTinygradSource},
    NamedRules{"tinygrad-cpu", "e4m3fn,round=rne,overflow=saturate,nan=7f/ff,through=fp16,range=00000000..3c800000:00", kTinygradCpuSource},
    NamedRules{"tinygrad-cpu", "e5m2,round=rne,overflow=saturate,nan=quiet,through=fp16,range=00000000..38800000:00", kTinygradCpuSource},
    NamedRules{"tinygrad-cpu", "e4m3fnuz,round=rne,overflow=saturate,nan=80,through=fp16,range=00000000..3c000000:00", kTinygradCpuSource},
    NamedRules{"tinygrad-llvm", "e4m3fn,round=rne,overflow=saturate,nan=7f/ff,range=00000000..3c800000:00", kTinygradLlvmSource},
    NamedRules{"tinygrad-llvm", "e4m3fnuz,round=rne,overflow=saturate,nan=80,range=00000000..3c000000:00", kTinygradLlvmSource},
    NamedRules{"ptx-rs", "e4m3fn,round=stochastic-floor,random=16,overflow=saturate,nan=7f", kPtxRsSource},
    NamedRules{"ptx-rs", "e5m2,round=stochastic-floor,random=16,overflow=saturate,nan=7f", kPtxRsSource},
    NamedRules{"ptx-rs", "e2m3,round=stochastic-floor,random=16,overflow=saturate,nan=1f", kPtxRsSource},
    NamedRules{"ptx-rs", "e3m2,round=stochastic-floor,random=16,overflow=saturate,nan=1f", kPtxRsSource},
    NamedRules{"ptx-rs", "e2m1,round=stochastic-floor,random=16,overflow=saturate,nan=7", kPtxRsSource},
    NamedRules{"ptx-rs", "bf16,round=stochastic-floor,random=16,overflow=ieee,nan=7fff", kPtxRsSource},
    NamedRules{"ptx-rs", "fp16,round=stochastic-floor,random=13,overflow=ieee,nan=7fff", kPtxRsSource},
    NamedRules{"ggml",
               "block=32,element=(e2m1,round=rnz,overflow=saturate,nan=0,zero-sign=positive),"
               "scale=e8m0,rule=floor-log2-wrapping,factor=none",
               kGgmlSource},
    NamedRules{"ggml",
               "block=16,element=(e2m1,round=rnz,overflow=saturate,nan=0,zero-sign=positive),"
               "scale=ue4m3,rule=ggml-ue4m3,factor=none",
               kGgmlSource},
    NamedRules{"mlx-metal",
               "block=32,element=(e2m1,round=rne,overflow=saturate,nan=7),"
               "scale=e8m0,rule=nearest-log2,factor=reciprocal",
               kMlxSource},
    NamedRules{"mlx-metal",
               "block=32,element=(e4m3fn,round=rne,overflow=saturate,nan=7e/fe),"
               "scale=e8m0,rule=nearest-log2,factor=reciprocal",
               kMlxSource},
    NamedRules{"mlx-metal",
               "block=16,element=(e2m1,round=rne,overflow=saturate,nan=7),"
               "scale=e4m3fn,rule=quotient,factor=quotient",
               kMlxSource},
    NamedRules{"mlx-metal-global",
               "block=16,element=(e2m1,round=rne,overflow=saturate,nan=7),"
               "scale=e4m3fn,rule=quotient,factor=quotient,takes-encode=yes",
               kMlxSource},
    NamedRules{"te-nvfp4",
               "block=16,element=(e2m1,round=rne,overflow=saturate,nan=refused,zero-sign=positive-if-zero),"
               "scale=e4m3fn,rule=product,factor=reciprocal-of-product,factor-of-zero=7f7fffff,largest-factor=7f7fffff,takes-encode=yes",
               kTePythonSource},
    NamedRules{"te-nvfp4-test",
               "block=16,element=(e2m1,round=rne,overflow=saturate,nan=refused),"
               "scale=e4m3fn,rule=product,factor=reciprocal-of-product,largest-factor=7f7fffff,takes-encode=yes",
               kTeTestSource},
    NamedRules{"te-nvfp4-fast",
               "block=16,element=(e2m1,round=rne,overflow=saturate,nan=refused),"
               "scale=e4m3fn,rule=product,factor=quotient,factor-of-zero=7f7fffff,largest-factor=7f7fffff,factor-in-bf16=yes,takes-encode=yes",
               kTeKernelSource},
    NamedRules{"te-nvfp4-fast-test",
               "block=16,element=(e2m1,round=rne,overflow=saturate,nan=refused),"
               "scale=e4m3fn,rule=product,factor=reciprocal-of-product,largest-factor=7f7fffff,factor-in-bf16=yes,takes-encode=yes",
               kTeTestSource},
    NamedRules{"te-nvfp4-4over6",
               "block=16,element=(e2m1,round=rne,overflow=saturate,nan=refused,zero-sign=positive-if-zero),"
               "scale=e4m3fn,rule=two-candidates,factor=reciprocal-of-product,factor-of-zero=7f7fffff,largest-factor=7f7fffff",
               kTePythonSource},
};

/// The bits of a format, without its name.
bool same_bits(const Format& a, const Format& b) {
  Format other = b;
  other.name = a.name;
  other.source = a.source;
  return a == other;
}

/// Rules for one format, or for all.
struct Part {
  std::string text;
  std::optional<Format> only;
  rules::Draft draft;
};

struct OwnProfile {
  std::string name;
  std::vector<Part> parts;
  Profile profile;
  std::deque<std::pair<Format, Conversion>> made;  ///< for targets that were asked for
};

struct OwnFormat {
  std::string name;
  Format format;
  const Profile* rules;  ///< null: none
};

void check_text(std::string_view text) {
  constexpr std::size_t kLongest = 4096;
  if (text.size() > kLongest)
    throw Error(ErrorCode::usage, "rules of " + std::to_string(text.size()) + " characters, allowed are " + std::to_string(kLongest));
  const auto wrong = std::ranges::find_if_not(text, [](char c) { return c >= ' ' && c < '\x7F'; });
  if (wrong != text.end())
    throw Error(ErrorCode::usage, "rules have a byte " + std::to_string(static_cast<unsigned char>(*wrong)) + " at " +
                                      std::to_string(wrong - text.begin()) + ": words between commas, in ASCII");
}

rules::Draft read_draft(std::string_view text, std::span<const std::string_view> parts) {
  rules::Draft draft;
  std::vector<std::string_view> keys;
  for (const rules::Field& field : rules::fields()) keys.push_back(field.say.key);
  std::vector<const rules::Field*> said;
  for (const std::string_view part : parts) {
    const std::string_view key = part.substr(0, part.find('='));
    const auto field = std::ranges::find_if(rules::fields(), [&](const rules::Field& f) { return same_name(f.say.key, key); });
    if (field == rules::fields().end()) rules::refuse_word(text, "word", key, keys);
    if (std::ranges::find(said, &*field) != said.end()) rules::refuse(text, std::string(field->say.key) + " is said twice");
    said.push_back(&*field);
    std::string_view value = part.substr(part.find('=') + 1);
    while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    field->read(draft, text, value);
  }
  rules::require_one_overflow(text, draft);
  return draft;
}

Part read_part(std::string_view text, rules::Range range = rules::Range::of_f32) {
  check_text(text);
  std::vector<std::string_view> parts = rules::parts_of(text);
  Part part{{}, rules::read_format(text, parts, range), read_draft(text, parts)};
  if (!part.only) {
    // Whether a rule can be had shows with a target; that it is said does not.
    if (!part.draft.rounding || !(part.draft.overflow || part.draft.saturation)) rules::conversion_of(text, part.draft, kF32);
    constexpr int kLeastDigits = 2;
    part.text = rules::text_of(part.draft, kLeastDigits).substr(1);
    return part;
  }
  const Format* named = rules::same_format(*part.only);
  Format shown = *part.only;
  const std::string format_text = text_of(shown);
  shown.name = named == nullptr ? std::string_view(format_text) : named->name;
  part.text = parts.empty() ? format_text : text_of(shown, rules::conversion_of(text, part.draft, shown));
  return part;
}

class Own {
 public:
  const Format& format(std::string_view text, rules::Range range) {
    Part part = read_part(text, range);
    if (!part.only) rules::refuse(text, "a format is named: it is the first word, as e4m3,bias=7,fn");
    const bool has_rules = part.draft.rounding.has_value();
    if (!has_rules) {
      if (const Format* named = rules::same_format(*part.only)) return *named;
    }
    const Profile* within = has_rules ? &profile(part) : nullptr;
    const std::scoped_lock lock(mutex_);
    if (const OwnFormat* found = formats_.find(part.text)) return found->format;
    return keep(part.text, *part.only, kOwnSource, within);
  }

  const Profile& profile(const Part& part) {
    const std::scoped_lock lock(mutex_);
    if (const OwnProfile* found = profiles_.find(part.text)) return found->profile;
    return keep(part.text, {part}, kOwnSource);
  }

  const Profile* named(std::string_view name) {
    if (const Profile* blocks = find_named_block_rules(name)) return blocks;
    std::vector<Part> parts;
    std::string_view source, spelled;
    for (const NamedRules& row : kNamedRules) {
      if (!same_name(row.name, name)) continue;
      spelled = row.name;
      source = row.source;
    }
    if (spelled.empty()) return nullptr;
    const std::scoped_lock lock(mutex_);
    if (const OwnProfile* found = profiles_.find(spelled)) return &found->profile;
    for (const NamedRules& row : kNamedRules) {
      if (row.name == spelled) parts.push_back(read_part(row.text));
    }
    return &keep(std::string(spelled), std::move(parts), source);
  }

  const Conversion& conversion(const Profile& asked, const Format& to) {
    const std::scoped_lock lock(mutex_);
    OwnProfile& own = *profiles_.find(asked.name);
    for (const auto& [format, how] : own.made) {
      if (format == to) return how;
    }
    const auto part = std::ranges::find_if(own.parts, [&](const Part& p) { return !p.only || same_bits(*p.only, to); });
    if (part == own.parts.end()) {
      std::string known;
      for (const Part& p : own.parts) known += " " + text_of(*p.only);
      throw Error(ErrorCode::usage,
                  "profile '" + own.name + "' does not define a conversion into " + std::string(to.name) + "; it does into" + known);
    }
    const Conversion how = rules::conversion_of(own.name, part->draft, to);
    return own.made.emplace_back(to, how).second;
  }

  const Profile* within(std::string_view name) const {
    const std::scoped_lock lock(mutex_);
    const OwnFormat* const found = formats_.find(name);
    return found == nullptr ? nullptr : found->rules;
  }

  std::optional<std::int32_t> number(const Format& format) {
    const std::scoped_lock lock(mutex_);
    const bool in_no_table = std::ranges::find(kFurther, format) != kFurther.end() && format != kTf32;
    if (in_no_table && !formats_.number(format.name)) keep(std::string(format.name), format, format.source, nullptr);
    return formats_.number(format.name);
  }
  std::optional<std::int32_t> number(const Profile& profile) const {
    const std::scoped_lock lock(mutex_);
    return profiles_.number(profile.name);
  }
  const Format* format(std::int32_t number) const {
    const std::scoped_lock lock(mutex_);
    const OwnFormat* const row = formats_.at(number);
    return row == nullptr ? nullptr : &row->format;
  }
  const Profile* profile(std::int32_t number) const {
    const std::scoped_lock lock(mutex_);
    const OwnProfile* const row = profiles_.at(number);
    return row == nullptr ? nullptr : &row->profile;
  }

 private:
  const Format& keep(std::string name, const Format& format, std::string_view source, const Profile* within) {
    OwnFormat& kept = formats_.add({std::move(name), format, within});
    kept.format.name = kept.name;
    kept.format.source = source;
    return kept.format;
  }

  const Profile& keep(std::string name, std::vector<Part> parts, std::string_view source) {
    OwnProfile& kept = profiles_.add({std::move(name), std::move(parts), {}, {}});
    kept.profile = {kept.name, kOwn, "as it says", "any", "any", source, {}, {}, {}, {}};
    return kept.profile;
  }

  mutable std::mutex mutex_;
  rules::KeptTexts<OwnFormat> formats_{"texts of formats"};
  rules::KeptTexts<OwnProfile> profiles_{"texts of rules"};
};

Own& own() {
  static Own kept;
  return kept;
}

}  // namespace

std::span<const Format> further_formats() { return kFurther; }

std::span<const RuleWord> rule_words() {
  static const std::vector<RuleWord> kWords = [] {
    std::vector<RuleWord> words{
        {"eEmM", "a format: exponent and mantissa bits, with a sign; ueEmM without; sIfF: two's complement", "or the name of one, as e4m3fn"},
        {"binaryKpP[su][ef]", "a format of IEEE P3109: K bits, precision P, signed or unsigned, extended or finite", "binary8p3se"},
        {"ieee, fn, fnuz, inf-top, finite", "its last codes: Inf and NaN; one NaN; NaN for -0; Inf the largest, NaN for -0; numbers alone", ""},
        {"no-zero", "powers of two alone, without zero", ""},
        {"bias", "exponent bias; 2^(E-1) - 1 where nothing is said, 2^(E-1) of fnuz and inf-top", "a whole number"}};
    for (const rules::Field& field : rules::fields()) words.push_back(field.say);
    return words;
  }();
  return kWords;
}

bool is_rules(std::string_view text) { return text.find_first_of(",=") != std::string_view::npos || rules::is_shape(text); }

const Format& format_of_text(std::string_view text) { return own().format(text, rules::Range::of_f32); }
const Format& any_format_of_text(std::string_view text) { return own().format(text, rules::Range::any); }
const Profile& profile_of_text(std::string_view text) {
  if (is_block_rules(text)) return block_profile_of_text(text);
  const Part part = read_part(text);
  if (!part.draft.rounding) rules::conversion_of(text, part.draft, kF32);  // says what is missing
  return own().profile(part);
}

std::span<const NamedRules> named_rules() { return kNamedRules; }
const Profile* find_named_rules(std::string_view name) { return own().named(name); }

bool is_of_rules(const Profile& profile) { return profile.implementation == kOwn; }
const Conversion& conversion_by_rules(const Profile& profile, const Format& to) { return own().conversion(profile, to); }

const Profile* rules_within(const Format& to) { return to.name.find('=') == std::string_view::npos ? nullptr : own().within(to.name); }

const Profile& profile_for(const Profile& profile, const Format& to) {
  const Profile* within = rules_within(to);
  if (within == nullptr || &profile == within) return profile;
  if (profile.name == kOcp) return *within;
  throw Error(ErrorCode::usage,
              "format '" + std::string(to.name) + "' says its own rules, and profile '" + std::string(profile.name) + "' others: give one of them");
}

std::optional<std::int32_t> number_of_own(const Format& format) { return own().number(format); }
std::optional<std::int32_t> number_of_own(const Profile& profile) {
  const auto blocks = number_of_own_blocks(profile);
  return blocks ? std::optional(kFirstBlocks + *blocks) : own().number(profile);
}
const Format* own_format(std::int32_t number) { return own().format(number); }
const Profile* own_profile(std::int32_t number) { return number >= kFirstBlocks ? own_block_profile(number - kFirstBlocks) : own().profile(number); }

}  // namespace mx
