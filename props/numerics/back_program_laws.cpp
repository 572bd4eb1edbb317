// N4 for every dequantizer there is: every code under every scale byte (of fp32 scales those at which roundings part ways) against the program that
// its implementation runs, for each way of giving the tensor's numbers.

#include <algorithm>
#include <array>

#include "model/error.hpp"
#include "model/numerics/profile.hpp"
#include "props/numerics/back_programs.hpp"
#include "props/numerics/laws.hpp"
#include "props/numerics/program_tools.hpp"

namespace mx::props::numerics {
namespace {

/// Ends, specials, and of each fourth binade a power of two, its neighbour and mantissas of many bits.
std::vector<std::uint32_t> fp32_scales() {
  std::vector<std::uint32_t> scales{0, 0x80000000U, 1, 0x00400000U, 0x007FFFFFU, 0x7F7FFFFFU, 0x7F800000U, 0xFF800000U, 0x7FC00000U, 0xFFC00000U};
  for (std::uint32_t exponent = 1; exponent < 255; exponent += 4) {
    for (const std::uint32_t mantissa : {0x0U, 0x1U, 0x2AAAABU, 0x5B6DB7U, 0x7FFFFFU}) scales.push_back(exponent << 23U | mantissa);
  }
  return scales;
}

std::vector<std::uint32_t> scales_of(const BlockFormat& format) {
  if (*format.scale == kF32) return fp32_scales();
  std::vector<std::uint32_t> codes;
  for (std::uint32_t code = 0; code < 256; ++code) codes.push_back(code);
  return codes;
}

bool takes(const BackProgram& program, const TensorScale& tensor) {
  return fits(program.encode, tensor.encode) && fits(program.decode, tensor.decode) && !tensor.amax_bound;
}

std::optional<std::uint32_t> made(std::uint32_t code, std::uint32_t scale, const Dequantizer& row, const TensorScale& tensor) {
  try {
    return dequantize(code, scale, row, tensor);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string text_of(const std::optional<std::uint32_t>& code) { return code ? hex(*code) : "a refusal"; }

std::string mistake_of_call(const BackProgram& program, const Dequantizer& row, const TensorScale& tensor, std::uint64_t& cases) {
  const Grid& grid = grid_of(row.format->element->name);
  const SourceType target = type_named(row.target->name);
  const bool taken = takes(program, tensor);
  for (const std::uint32_t scale : scales_of(*row.format)) {
    for (std::uint32_t code = 0; code < 1U << row.format->element->width; ++code) {
      std::optional<std::uint32_t> expected;
      if (taken) expected = program.run({element_number(grid, code), scale, target, numbers_of(tensor)});
      const std::optional<std::uint32_t> got = made(code, scale, row, tensor);
      ++cases;
      if (got != expected) {
        return std::string(program.profile) + " " + std::string(row.format->name) + " to " + std::string(row.target->name) + ": code " + hex(code) +
               " under scale " + hex(scale) + text_of_tensor(tensor) + " is " + text_of(got) + ", not " + text_of(expected);
      }
      if (!taken) return {};  // a refusal does not look at the numbers
    }
  }
  return {};
}

}  // namespace

std::string back_program_mistake(std::string_view profile, std::uint64_t& cases) {
  const std::span<const BackProgram> programs = back_programs();
  const auto program = std::ranges::find(programs, profile, &BackProgram::profile);
  if (program == programs.end()) return std::string(profile) + " has dequantizers and no program";
  const std::span<const Dequantizer> rows = profile_named(profile).dequantizers;
  std::size_t expected = 0;
  for (const std::string& format : words_of(program->formats)) {
    for (const std::string& target : words_of(program->targets)) {
      ++expected;
      const auto row = std::ranges::find_if(rows, [&](const Dequantizer& d) { return d.format->name == format && d.target->name == target; });
      if (row == rows.end()) return std::string(profile) + " has no dequantizer of " + format + " to " + target;
      for (const TensorScale& tensor : tensor_scales()) {
        if (std::string mistake = mistake_of_call(*program, *row, tensor, cases); !mistake.empty()) return mistake;
      }
    }
  }
  return expected == rows.size() ? std::string() : std::string(profile) + " has a dequantizer that the program does not have";
}

Outcome dequantizers_are_programs(const Law& law) {
  return profiles_are_programs(law, &Profile::dequantizers, back_programs(), back_program_mistake);
}

}  // namespace mx::props::numerics
