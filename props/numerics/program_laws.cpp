// N6 for every recipe there is: whole blocks against the program that its implementation runs, for each element type and each way of giving the
// tensor's numbers.

#include <algorithm>
#include <array>
#include <random>
#include <stdexcept>

#include "model/error.hpp"
#include "model/numerics/profile.hpp"
#include "props/numerics/laws.hpp"
#include "props/numerics/program_tools.hpp"
#include "props/numerics/programs.hpp"

namespace mx::props::numerics {
namespace {

constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kInfinity = 0x7F800000U;

struct Type {
  SourceType type;
  const Format* format;
};
constexpr std::array<Type, 3> kTypes{{{SourceType::f32, &kF32}, {SourceType::bf16, &kBf16}, {SourceType::fp16, &kFp16}}};

bool has(std::string_view words, std::string_view word) {
  const std::vector<std::string> all = words_of(words);
  return std::ranges::find(all, word) != all.end();
}

/// Largest magnitudes: ends and specials, and mantissas at which rules part ways: some in every binade, all in the binades where scales leave their
/// format or logarithms come near a whole number, and in every third of the others; fewer for long blocks.
std::vector<std::uint32_t> amax_patterns(int block) {
  std::vector<std::uint32_t> patterns{0,           1,           2,         0x003FFFFFU,    0x00400000U, 0x00400001U,
                                      0x007FFFFFU, 0x7F7FFFFFU, kInfinity, kInfinity + 1U, 0x7FC00000U};
  const bool is_short = block <= 32;
  const std::uint32_t step = block > 1024 ? 60 : is_short ? 3 : 12;
  for (std::uint32_t exponent = 1; exponent < 255; ++exponent) {
    const bool whole = exponent % step == 0 || (is_short && (exponent < 16 || exponent > 240 || (exponent > 100 && exponent < 150)));
    const std::vector<std::uint32_t> mantissas = whole ? std::vector<std::uint32_t>{0x0,      0x1,      0x200000, 0x3FFFFF, 0x400000, 0x400001,
                                                                                    0x5FFFFF, 0x600000, 0x600001, 0x700000, 0x780001, 0x7FFFFF}
                                                       : std::vector<std::uint32_t>{0x0, 0x200000, 0x600000, 0x7FFFFF};
    if (!whole && !is_short) continue;
    for (const std::uint32_t mantissa : mantissas) patterns.push_back(exponent << 23U | mantissa);
  }
  return patterns;
}

/// A number whose quotient by a scale that takes the magnitude to a format's largest number lies at a tie of few bits, or next to one.
std::uint32_t near_tie(std::uint32_t amax, std::mt19937& random) {
  constexpr std::array kOddParts{3.0F, 7.0F, 15.0F, 127.0F};  // of the largest numbers: 6, 28 and 448 and 57344, 7.5, 127
  const float odd = static_cast<float>(random() % 32 * 2 + 1);
  float x = number_of(amax) / kOddParts[random() % kOddParts.size()];
  while (x * odd > number_of(amax)) x /= 2;
  return bits_of(x * odd);
}

/// A number of at most that magnitude: at times a special one, often one of few bits, which is a tie of some format, or next to one.
std::uint32_t below(std::uint32_t amax, bool specials, std::mt19937& random) {
  const std::uint32_t sign = random() % 2 == 0 ? 0 : kSign;
  const std::uint32_t kind = static_cast<std::uint32_t>(random() % 20);
  if (kind == 0) return sign;
  if (kind == 1) return sign | static_cast<std::uint32_t>(random() % 0x00800000U);
  if (specials && kind == 2) return sign | 0x7FC00000U;
  if (specials && kind == 3) return sign | kInfinity;
  if (amax >= kInfinity) return sign | static_cast<std::uint32_t>(random() % kInfinity);
  const std::uint32_t down = static_cast<std::uint32_t>(random() % 12) << 23U;
  const std::uint32_t near = amax > down ? amax - down : amax;
  const std::uint32_t cut = near & (0xFFF00000U << (random() % 3));
  if (kind < 12) return sign | cut;
  if (kind < 14) return sign | (cut + 1U);
  if (kind < 16) return sign | (cut == 0 ? 0U : cut - 1U);
  if (kind < 18) return sign | near_tie(amax, random);
  return sign | (near - static_cast<std::uint32_t>(random() % std::max(near / 16, 1U)));
}

/// fp32 patterns of whole blocks; of fp32 numbers the upper halves are bf16's, and serve as any patterns of fp16.
std::vector<std::vector<std::uint32_t>> blocks_of(int block) {
  const auto length = static_cast<std::size_t>(block == 0 ? 16 : block);
  std::mt19937 random(7);
  std::vector<std::vector<std::uint32_t>> blocks;
  for (const std::uint32_t amax : amax_patterns(block)) {
    for (const bool specials : {false, true}) {
      std::vector<std::uint32_t> x(length);
      for (std::uint32_t& bits : x) bits = below(amax, specials && random() % 4 == 0, random);
      x[random() % length] = amax;
      blocks.push_back(std::move(x));
    }
  }
  for (const std::uint32_t all : {0x7FC00000U, 0xFFC00000U, 0x80000000U, 0x00000000U, 0x7F800000U}) blocks.emplace_back(length, all);
  return blocks;
}

const std::vector<std::vector<std::uint32_t>>& kept_blocks(int block) {
  static std::array<std::pair<int, std::vector<std::vector<std::uint32_t>>>, 8> kept;
  for (auto& [length, blocks] : kept) {
    if (blocks.empty()) {
      length = block;
      blocks = blocks_of(block);
    }
    if (length == block) return blocks;
  }
  throw std::logic_error("more lengths of blocks than places");
}

std::uint32_t in_type(std::uint32_t f32, const Type& type) { return type.type == SourceType::f32 ? f32 : f32 >> 16U; }

float value_of(std::uint32_t bits, SourceType type) {
  if (type == SourceType::f32) return number_of(bits);
  if (type == SourceType::bf16) return number_of(bits << 16U);
  const std::uint32_t magnitude = bits & 0x7FFFU;
  const std::uint32_t sign = (bits & 0x8000U) << 16U;
  const Grid& grid = grid_of("fp16");
  const std::uint32_t f32 = magnitude < grid.values.size() ? grid.values[magnitude] : magnitude == 0x7C00U ? kInfinity : 0x7FC00000U;
  return number_of(sign | f32);
}

bool takes(const Program& program, const Type& type, const TensorScale& tensor) {
  return has(program.sources, type.format->name) && fits(program.encode, tensor.encode) && fits(program.decode, tensor.decode) &&
         fits(program.amax_bound, tensor.amax_bound);
}

/// What the model makes of a block; none where it refuses.
std::optional<ProgramOutput> made(const std::vector<std::uint32_t>& x, const Type& type, const Recipe& recipe, const TensorScale& tensor) {
  try {
    if (!gives_codes(recipe)) return ProgramOutput{block_scale(x, *type.format, recipe, tensor), {}};
    QuantizedBlock block = quantize_block(x, *type.format, recipe, tensor);
    return ProgramOutput{block.scale, std::move(block.codes)};
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string text_of(const std::optional<ProgramOutput>& output) {
  if (!output) return "a refusal";
  std::string text = "scale " + hex(output->scale);
  if (!output->codes.empty()) text += " codes";
  for (const std::uint32_t code : output->codes) text += " " + hex(code);
  return text;
}

/// Looks at one way of calling a recipe; "" where the model does as the program says.
std::string mistake_of_call(const Program& program, const Recipe& recipe, const Type& type, const TensorScale& tensor, std::uint64_t& cases) {
  const Grid& grid = grid_of(recipe.format->element->name);
  const bool taken = takes(program, type, tensor);
  for (const std::vector<std::uint32_t>& f32 : kept_blocks(recipe.format->block)) {
    std::vector<std::uint32_t> x;
    for (const std::uint32_t bits : f32) x.push_back(in_type(bits, type));
    ProgramInput in{{}, type.type, &grid, numbers_of(tensor)};
    for (const std::uint32_t bits : x) in.x.push_back(value_of(bits, type.type));
    const std::optional<ProgramOutput> expected = taken ? std::optional(program.run(in)) : std::nullopt;
    const std::optional<ProgramOutput> got = made(x, type, recipe, tensor);
    ++cases;
    if (got != expected) {
      std::string text = std::string(program.profile) + " " + std::string(recipe.format->name) + " of " + std::string(type.format->name);
      for (const std::uint32_t bits : x) text += " " + hex(bits);
      return text + text_of_tensor(tensor) + ": " + text_of(got) + ", not " + text_of(expected);
    }
    if (!taken) break;  // a refusal does not look at the numbers
  }
  return {};
}

}  // namespace

std::vector<Program> all_programs() {
  std::vector<Program> all(mx_programs().begin(), mx_programs().end());
  all.insert(all.end(), scaled_programs().begin(), scaled_programs().end());
  all.insert(all.end(), library_programs().begin(), library_programs().end());
  all.insert(all.end(), bridge_programs().begin(), bridge_programs().end());
  return all;
}

std::string program_mistake(std::string_view profile, std::uint64_t& cases) {
  const std::vector<Program> programs = all_programs();
  const auto program = std::ranges::find(programs, profile, &Program::profile);
  if (program == programs.end()) return std::string(profile) + " has recipes and no program";
  std::vector<std::string> formats = words_of(program->formats);
  for (const Recipe& recipe : profile_named(profile).recipes) {
    if (std::erase(formats, std::string(recipe.format->name)) != 1)
      return std::string(profile) + " has a recipe for " + std::string(recipe.format->name) + " which the program does not have";
    for (const Type& type : kTypes) {
      for (const TensorScale& tensor : tensor_scales()) {
        if (std::string mistake = mistake_of_call(*program, recipe, type, tensor, cases); !mistake.empty()) return mistake;
      }
    }
  }
  return formats.empty() ? std::string() : std::string(profile) + " has no recipe for " + formats.front();
}

Outcome recipes_are_programs(const Law& law) { return profiles_are_programs(law, &Profile::recipes, all_programs(), program_mistake); }

}  // namespace mx::props::numerics
