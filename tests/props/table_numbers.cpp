// Changes of the tables of recipes and dequantizers, and the exams that say whether a change alters any output.

#include <array>
#include <sstream>

#include "model/numerics/profile.hpp"
#include "tests/props/table_mutants.hpp"

namespace mx::tests {
namespace {

using Random = Draws;

/// fp32 patterns at which rules part ways: ends, specials, and a few of each binade around powers of two and thirds of them.
std::vector<std::uint32_t> amax_patterns(int block = 0) {
  std::vector<std::uint32_t> patterns{0,           1,           2,           0x003FFFFFU, 0x00400000U, 0x00400001U,
                                      0x007FFFFFU, 0x7F7FFFFFU, 0x7F800000U, 0x7F800001U, 0x7FC00000U};
  const std::uint32_t step = block > 1024 ? 60 : block > 32 ? 12 : 3;
  for (std::uint32_t exponent = 1; exponent < 255; ++exponent) {
    const bool end = block <= 32 && (exponent < 16 || exponent > 240 || (exponent > 100 && exponent < 150));
    if (!end && exponent % step != 0) continue;
    for (std::uint32_t mantissa :
         {0x0U, 0x1U, 0x200000U, 0x3FFFFFU, 0x400000U, 0x400001U, 0x5FFFFFU, 0x600000U, 0x600001U, 0x700000U, 0x780001U, 0x7FFFFFU})
      patterns.push_back(exponent << 23U | mantissa);
  }
  return patterns;
}

std::uint32_t pattern_below(std::uint32_t amax, Random& random) {
  const std::uint32_t sign = random() % 2 << 31U;
  switch (random() % 16) {
    case 0: return sign;
    case 1: return sign | 0x7FC00000U;
    case 2: return sign | 0x7F800000U;
    case 3: return sign | random() % 0x00800000U;
    default: break;
  }
  const std::uint32_t down = random() % 8 << 23U;
  const std::uint32_t near = amax > down ? amax - down : amax;
  return sign | (random() % 3 == 0 ? near & 0xFFE00000U : near - random() % std::max(near / 16, 1U));
}

std::uint32_t in_format(std::uint32_t f32, const Format& source) {
  if (source == kF32) return f32;
  if (source == kBf16) return f32 >> 16U;
  return f32 >> 16U & 0xFFFFU;  // any fp16 pattern does
}

std::vector<std::vector<std::uint32_t>> exam_blocks(int length) {
  Random random(11);
  std::vector<std::vector<std::uint32_t>> blocks;
  for (const std::uint32_t amax : amax_patterns(length)) {
    for (int kind = 0; kind < 2; ++kind) {
      std::vector<std::uint32_t> block(static_cast<std::size_t>(length == 0 ? 16 : length));
      for (std::uint32_t& x : block) {
        x = pattern_below(amax, random);
        if (kind == 0 && (x & 0x7F800000U) == 0x7F800000U) x &= 0x80000000U;
      }
      block[random() % block.size()] = amax;
      blocks.push_back(std::move(block));
    }
  }
  // Nothing but NaNs, and zeros of both signs.
  blocks.push_back(std::vector<std::uint32_t>(static_cast<std::size_t>(length == 0 ? 16 : length), 0x7FC00000U));
  blocks.push_back(std::vector<std::uint32_t>(static_cast<std::size_t>(length == 0 ? 16 : length), 0xFFC00000U));
  blocks.push_back(std::vector<std::uint32_t>(static_cast<std::size_t>(length == 0 ? 16 : length), 0x80000000U));
  return blocks;
}

std::string quantized(const Recipe& recipe, const std::vector<std::uint32_t>& block, const Format& source, const TensorScale& tensor) {
  return told([&](std::ostream& out) {
    if (!gives_codes(recipe)) {
      out << block_scale(block, source, recipe, tensor);
      return;
    }
    const QuantizedBlock made = quantize_block(block, source, recipe, tensor);
    out << made.scale;
    for (const std::uint32_t code : made.codes) out << ' ' << code;
  });
}

std::string different_block(const Recipe& own, const Recipe& changed) {
  constexpr std::array<const Format*, 3> kSources{&kF32, &kBf16, &kFp16};
  const std::array<TensorScale, 6> kTensors{{{},
                                             {.encode = 0x45000000U, .decode = {}},
                                             {.encode = {}, .decode = 0x3A123456U},
                                             {.encode = 0x43654321U, .decode = 0x3B8F1234U},
                                             {.encode = {}, .decode = {}, .amax_bound = 0x3F812345U},
                                             {.encode = {}, .decode = 0x00012345U}}};
  const std::vector<std::vector<std::uint32_t>> blocks = exam_blocks(own.format->block);
  for (const Format* source : kSources) {
    for (const TensorScale& tensor : kTensors) {
      for (const std::vector<std::uint32_t>& f32 : blocks) {
        std::vector<std::uint32_t> block;
        for (const std::uint32_t x : f32) block.push_back(in_format(x, *source));
        const std::string mine = quantized(own, block, *source, tensor);
        if (mine != quantized(changed, block, *source, tensor)) {
          std::ostringstream text;
          text << source->name << std::hex;
          for (const std::uint32_t x : block) text << " 0x" << x;
          return text.str();
        }
        if (mine == "refused") break;  // for the type or the tensor's numbers, whatever is in the block
      }
    }
  }
  return {};
}

/// Every choice of a conversion that the formats allow.
template <typename Row, typename Member>
void change_conversion(Changes<Row>& changes, const std::string& name, Member member) {
  changes.choice(
      name + ".rounding", [=](Row& row) -> Rounding& { return member(row).rounding; }, 6);
  changes.choice(
      name + ".overflow", [=](Row& row) -> Overflow& { return member(row).overflow; }, 6);
  changes.choice(
      name + ".nan_rule", [=](Row& row) -> NanRule& { return member(row).nan_rule; }, 4);
  changes.code(name + ".nan_positive", [=](Row& row) -> std::uint32_t& { return member(row).nan_positive; });
  changes.code(name + ".nan_negative", [=](Row& row) -> std::uint32_t& { return member(row).nan_negative; });
  changes.choice(
      name + ".flush", [=](Row& row) -> Flush& { return member(row).flush; }, 4);
}

template <typename Member>
void change_step(Changes<Recipe>& changes, Member member) {
  changes.choice(
      "operation", [=](Recipe& row) -> ElementOperation& { return member(row).operation; }, 3);
  changes.choice(
      "nan_sign", [=](Recipe& row) -> NanSign& { return member(row).nan_sign; }, 3);
  changes.choice(
      "zero_sign", [=](Recipe& row) -> ZeroSign& { return member(row).zero_sign; }, 4);
  changes.flag("flush_subnormals", [=](Recipe& row) -> bool& { return member(row).flush_subnormals; });
  changes.flag("half_is_added", [=](Recipe& row) -> bool& { return member(row).half_is_added; });
  changes.flag("unit_by_log2", [=](Recipe& row) -> bool& { return member(row).unit_by_log2; });
  changes.flag("step.in_source_type", [=](Recipe& row) -> bool& { return member(row).in_source_type; });
  change_conversion(changes, "encode", [=](Recipe& row) -> Conversion& { return member(row).encode; });
}

template <typename How>
void change_sources(Changes<Recipe>& changes) {
  changes.flag("sources.f32", [](Recipe& row) -> bool& { return std::get<How>(row.how).sources.f32; });
  changes.flag("sources.bf16", [](Recipe& row) -> bool& { return std::get<How>(row.how).sources.bf16; });
  changes.flag("sources.fp16", [](Recipe& row) -> bool& { return std::get<How>(row.how).sources.fp16; });
}

void change_mx(Changes<Recipe>& changes) {
  const auto scale = [](Recipe& row) -> MxScale& { return std::get<MxRecipe>(row.how).scale; };
  changes.choice(
      "scale.rule", [=](Recipe& row) -> ScaleRule& { return scale(row).rule; }, 15);
  changes.choice(
      "scale.quotient", [=](Recipe& row) -> AmaxQuotient& { return scale(row).quotient; }, 3);
  changes.choice(
      "scale.bump", [=](Recipe& row) -> SubnormalBump& { return scale(row).bump; }, 2);
  changes.choice(
      "scale.amax_nan", [=](Recipe& row) -> AmaxNan& { return scale(row).amax_nan; }, 2);
  changes.flag("scale.flush_subnormals", [=](Recipe& row) -> bool& { return scale(row).flush_subnormals; });
  changes.bits("scale.zero_amax", [=](Recipe& row) -> std::uint32_t& { return scale(row).zero_amax; });
  changes.bits("scale.least_amax", [=](Recipe& row) -> std::uint32_t& { return scale(row).least_amax; });
  changes.code("scale.nan_code", [=](Recipe& row) -> std::uint32_t& { return scale(row).nan_code; });
  changes.code("scale.infinite_code", [=](Recipe& row) -> std::uint32_t& { return scale(row).infinite_code; });
  changes.code("scale.overflow_code", [=](Recipe& row) -> std::uint32_t& { return scale(row).overflow_code; });
  changes.code("scale.zero_code", [=](Recipe& row) -> std::uint32_t& { return scale(row).zero_code; });
  changes.flag("scale.in_source_type", [=](Recipe& row) -> bool& { return scale(row).in_source_type; });
  changes.choice(
      "scale.below", [=](Recipe& row) -> BelowBytes& { return scale(row).below; }, 3);
  changes.bits("scale.lost_power", [=](Recipe& row) -> std::uint32_t& { return scale(row).lost_power; });
  change_sources<MxRecipe>(changes);
  const MxRecipe& how = std::get<MxRecipe>(changes.row().how);
  changes.add(
      "scale.mantissa_bits 2", [=](Recipe& row) -> std::optional<int>& { return scale(row).mantissa_bits; }, std::optional<int>(2));
  changes.add(
      "scale.lost_code 5", [=](Recipe& row) -> std::optional<std::uint32_t>& { return scale(row).lost_code; }, std::optional<std::uint32_t>(5));
  if (!how.elements) return;
  const auto elements = [](Recipe& row) -> MxElements& { return *std::get<MxRecipe>(row.how).elements; };
  change_step(changes, [=](Recipe& row) -> ElementStep& { return elements(row).step; });
  changes.flag("factor.in_source_type", [=](Recipe& row) -> bool& { return elements(row).factor.in_source_type; });
  using Optional = std::optional<std::uint32_t>;
  const auto optional = [&](const std::string& name, auto member) {
    Recipe own = changes.row();
    const Optional value = member(own);
    if (value) changes.add(name + " dropped", member, Optional());
    changes.add(name + (value ? " ^ 0x00800000" : " 1.0"), member, Optional(value ? *value ^ 0x00800000U : 0x3F800000U));
  };
  optional("factor.at_0", [=](Recipe& row) -> Optional& { return elements(row).factor.at_0; });
  optional("factor.at_254", [=](Recipe& row) -> Optional& { return elements(row).factor.at_254; });
  optional("factor.at_255", [=](Recipe& row) -> Optional& { return elements(row).factor.at_255; });
  optional("factor.at_infinite_amax", [=](Recipe& row) -> Optional& { return elements(row).factor.at_infinite_amax; });
  optional("factor.at_nan_amax", [=](Recipe& row) -> Optional& { return elements(row).factor.at_nan_amax; });
  changes.flag("finite_products", [=](Recipe& row) -> bool& { return elements(row).finite_products; });
  if (how.elements->nan_block_code) {
    changes.add(
        "nan_block_code dropped", [=](Recipe& row) -> Optional& { return elements(row).nan_block_code; }, Optional());
    changes.add(
        "nan_block_code ^ 1", [=](Recipe& row) -> Optional& { return elements(row).nan_block_code; }, Optional(*how.elements->nan_block_code ^ 1U));
  }
}

void change_group(Changes<Recipe>& changes) {
  const auto how = [](Recipe& row) -> GroupRecipe& { return std::get<GroupRecipe>(row.how); };
  changes.choice(
      "rule", [=](Recipe& row) -> GroupRule& { return how(row).rule; }, 3);
  changes.flag("divides", [=](Recipe& row) -> bool& { return how(row).divides; });
  changes.choice(
      "amax_nan", [=](Recipe& row) -> AmaxNan& { return how(row).amax_nan; }, 2);
  changes.bits("amax_floor", [=](Recipe& row) -> std::uint32_t& { return how(row).amax_floor; });
  changes.bits("least_scale", [=](Recipe& row) -> std::uint32_t& { return how(row).least_scale; });
  changes.flag("scale_in_fp16", [=](Recipe& row) -> bool& { return how(row).scale_in_fp16; });
  change_step(changes, [=](Recipe& row) -> ElementStep& { return how(row).step; });
  change_sources<GroupRecipe>(changes);
}

void change_nvfp4(Changes<Recipe>& changes) {
  const auto how = [](Recipe& row) -> Nvfp4Recipe& { return std::get<Nvfp4Recipe>(row.how); };
  changes.choice(
      "rule", [=](Recipe& row) -> Nvfp4Scale& { return how(row).rule; }, 6);
  changes.choice(
      "multiplier", [=](Recipe& row) -> Nvfp4Multiplier& { return how(row).multiplier; }, 7);
  change_conversion(changes, "scale", [=](Recipe& row) -> Conversion& { return how(row).scale; });
  change_conversion(changes, "element", [=](Recipe& row) -> Conversion& { return how(row).element; });
  changes.flag("amax_ignores_nan", [=](Recipe& row) -> bool& { return how(row).amax_ignores_nan; });
  changes.bits("least_scale", [=](Recipe& row) -> std::uint32_t& { return how(row).least_scale; });
  changes.bits("multiplier_of_zero", [=](Recipe& row) -> std::uint32_t& { return how(row).multiplier_of_zero; });
  changes.bits("largest_multiplier", [=](Recipe& row) -> std::uint32_t& { return how(row).largest_multiplier; });
  changes.flag("zero_block_multiplies_by_zero", [=](Recipe& row) -> bool& { return how(row).zero_block_multiplies_by_zero; });
  changes.flag("approximate_reciprocal", [=](Recipe& row) -> bool& { return how(row).approximate_reciprocal; });
  changes.flag("flush_subnormals", [=](Recipe& row) -> bool& { return how(row).flush_subnormals; });
  changes.flag("drops_zero_sign", [=](Recipe& row) -> bool& { return how(row).drops_zero_sign; });
  changes.flag("in_source_type", [=](Recipe& row) -> bool& { return how(row).in_source_type; });
  changes.flag("encode_may_be_missing", [=](Recipe& row) -> bool& { return how(row).encode_may_be_missing; });
  changes.bits("zero_wanted", [=](Recipe& row) -> std::uint32_t& { return how(row).zero_wanted; });
  changes.code("zero_scale_code", [=](Recipe& row) -> std::uint32_t& { return how(row).zero_scale_code; });
  changes.bits("zero_scale_value", [=](Recipe& row) -> std::uint32_t& { return how(row).zero_scale_value; });
  change_sources<Nvfp4Recipe>(changes);
}

void change_fp8(Changes<Recipe>& changes) {
  const auto how = [](Recipe& row) -> Fp8Recipe& { return std::get<Fp8Recipe>(row.how); };
  changes.choice(
      "rule", [=](Recipe& row) -> Fp8Scale& { return how(row).rule; }, 4);
  changes.choice(
      "scaling", [=](Recipe& row) -> Fp8Scaling& { return how(row).scaling; }, 2);
  change_conversion(changes, "element", [=](Recipe& row) -> Conversion& { return how(row).element; });
  changes.flag("amax_ignores_nan", [=](Recipe& row) -> bool& { return how(row).amax_ignores_nan; });
  changes.flag("takes_amax_bound", [=](Recipe& row) -> bool& { return how(row).takes_amax_bound; });
  changes.bits("least_amax", [=](Recipe& row) -> std::uint32_t& { return how(row).least_amax; });
  changes.bits("least_scale", [=](Recipe& row) -> std::uint32_t& { return how(row).least_scale; });
  changes.flag("at_source_width", [=](Recipe& row) -> bool& { return how(row).at_source_width; });
  changes.flag("invalid_nan_is_negative", [=](Recipe& row) -> bool& { return how(row).invalid_nan_is_negative; });
  changes.flag("zero_scale_is_epsilon", [=](Recipe& row) -> bool& { return how(row).zero_scale_is_epsilon; });
  changes.flag("drops_zero_sign", [=](Recipe& row) -> bool& { return how(row).drops_zero_sign; });
  changes.bits("largest_factor", [=](Recipe& row) -> std::uint32_t& { return how(row).largest_factor; });
  changes.flag("factor_is_power", [=](Recipe& row) -> bool& { return how(row).factor_is_power; });
  changes.flag("returns_factor", [=](Recipe& row) -> bool& { return how(row).returns_factor; });
  change_sources<Fp8Recipe>(changes);
}

std::vector<Changes<Recipe>::Change> changes_of(const Recipe& recipe) {
  Changes<Recipe> changes(recipe);
  if (std::holds_alternative<MxRecipe>(recipe.how)) change_mx(changes);
  if (std::holds_alternative<GroupRecipe>(recipe.how)) change_group(changes);
  if (std::holds_alternative<Nvfp4Recipe>(recipe.how)) change_nvfp4(changes);
  if (std::holds_alternative<Fp8Recipe>(recipe.how)) change_fp8(changes);
  return changes.all();
}

/// All profiles with another row in one of them, kept together.
struct ProfileRows {
  std::vector<Profile> profiles;
  std::vector<Recipe> recipes;
  std::vector<Dequantizer> dequantizers;
};
std::shared_ptr<ProfileRows> profile_rows() {
  const std::span<const Profile> all = all_profiles();
  return std::make_shared<ProfileRows>(ProfileRows{{all.begin(), all.end()}, {}, {}});
}
std::shared_ptr<const void> first_of(const std::shared_ptr<ProfileRows>& rows) { return {rows, rows->profiles.data()}; }

std::string dequantized(std::uint32_t code, std::uint32_t scale, const Dequantizer& how, const TensorScale& tensor) {
  return told([&](std::ostream& out) { out << dequantize(code, scale, how, tensor); });
}

std::string different_product(const Dequantizer& own, const Dequantizer& changed) {
  std::vector<std::uint32_t> scales;
  for (std::uint32_t byte = 0; byte < 256; ++byte) scales.push_back(byte);
  if (*own.format->scale == kF32) scales = amax_patterns();
  const std::array<TensorScale, 3> kTensors{{{}, {.encode = 0x45000000U, .decode = {}}, {.encode = {}, .decode = 0x3A123456U}}};
  for (const std::uint32_t scale : scales) {
    for (std::uint32_t code = 0; code < 1U << own.format->element->width; ++code) {
      for (const TensorScale& tensor : kTensors) {
        if (dequantized(code, scale, own, tensor) != dequantized(code, scale, changed, tensor))
          return "code " + std::to_string(code) + " scale " + std::to_string(scale);
      }
    }
  }
  return {};
}

constexpr std::array<const Format*, 4> kWide{nullptr, &kF32, &kBf16, &kFp16};
bool same_format(const Format* a, const Format* b) { return a == b || (a != nullptr && b != nullptr && *a == *b); }

}  // namespace

std::vector<TableMutant> recipe_mutants() {
  std::vector<TableMutant> all;
  const std::span<const Profile> profiles = all_profiles();
  for (std::size_t p = 0; p < profiles.size(); ++p) {
    for (std::size_t r = 0; r < profiles[p].recipes.size(); ++r) {
      const Recipe own = profiles[p].recipes[r];
      for (const auto& change : changes_of(own)) {
        const std::shared_ptr<ProfileRows> rows = profile_rows();
        rows->recipes.assign(profiles[p].recipes.begin(), profiles[p].recipes.end());
        rows->recipes[r] = change.row;
        rows->profiles[p].recipes = rows->recipes;
        all.push_back({"recipes", std::string(profiles[p].name) + " " + std::string(own.format->name), change.name, std::string(profiles[p].name),
                       fault::Table::profiles, first_of(rows), profiles.size(),
                       [own, changed = change.row] { return different_block(own, changed); }});
      }
    }
  }
  return all;
}

std::vector<TableMutant> dequantizer_mutants() {
  std::vector<TableMutant> all;
  const std::span<const Profile> profiles = all_profiles();
  for (std::size_t p = 0; p < profiles.size(); ++p) {
    for (std::size_t r = 0; r < profiles[p].dequantizers.size(); ++r) {
      const Dequantizer own = profiles[p].dequantizers[r];
      Changes<Dequantizer> changes(own);
      changes.choice(
          "reading", [](Dequantizer& row) -> ScaleReading& { return row.reading; }, 3);
      for (const Format* format : kWide) {
        if (!same_format(format, own.arithmetic))
          changes.add(
              std::string("arithmetic ") + (format == nullptr ? "exact" : std::string(format->name)),
              [](Dequantizer& row) -> const Format*& { return row.arithmetic; }, format);
      }
      changes.choice(
          "range", [](Dequantizer& row) -> ProductRange& { return row.range; }, 3);
      changes.flag("nan_scale_wins", [](Dequantizer& row) -> bool& { return row.nan_scale_wins; });
      changes.flag("drops_zero_sign", [](Dequantizer& row) -> bool& { return row.drops_zero_sign; });
      changes.choice(
          "tensor", [](Dequantizer& row) -> TensorUse& { return row.tensor; }, 3);
      for (const auto& change : changes.all()) {
        const std::shared_ptr<ProfileRows> rows = profile_rows();
        rows->dequantizers.assign(profiles[p].dequantizers.begin(), profiles[p].dequantizers.end());
        rows->dequantizers[r] = change.row;
        rows->profiles[p].dequantizers = rows->dequantizers;
        all.push_back({"dequantizers", std::string(profiles[p].name) + " " + std::string(own.format->name) + " to " + std::string(own.target->name),
                       change.name, std::string(profiles[p].name), fault::Table::profiles, first_of(rows), profiles.size(),
                       [own, changed = change.row] { return different_product(own, changed); }});
      }
    }
  }
  return all;
}

}  // namespace mx::tests
