#include "props/layout/laws.hpp"

#include <array>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "model/families/building_block.hpp"
#include "model/families/memory.hpp"

namespace mx::props {
namespace {

constexpr std::array<Law, 10> kPrograms{{
    {"L1/programs", "Of any view program at, inverse, is_padding and gather agree; image and padding fill the allocation", law_addresses},
    {"L1/pieces", "An address map read in pieces is the whole map", law_map_in_pieces},
    {"L1/digits", "A digit normal form computes what the interpreter does; carry-free programs have one", law_digits_agree},
    {"L1/normal-form", "Two carry-free layouts are equal exactly when their digits are; steps that do nothing leave the digits alone",
     law_digits_are_normal},
    {"L1/is-bijection", "is_bijection says what counting says", law_bijection_test},
    {"L7/powers-of-two", "Where a backend's scales are powers of two, codes and scales are those of blocks quantized anew, no scale is cut",
     law_powers_of_two},
    {"L2/fnuz",
     "Where a device's FP8 is e4m3fnuz, every backend that reads what is stored is handed the same codes and scales, which the method made",
     law_one_fnuz},
    {"L2/takes", "A converter takes the layers that the documents say it takes, and refuses the others for the check that fails first", law_takes},
    {"L9/padding", "The matrices of w13 and w2 that a conversion makes have the sizes that its row's padding gives, which are those of the documents",
     law_sizes_are_padded},
    {"L7/apply", "Through any two layouts and back every byte is the same", law_apply_undone},
}};

/// A law that each library of building blocks, or each family of backends, has.
struct LawOfMany {
  std::string_view number;
  std::string_view statement;
  Outcome (*run)(const Law& law);
};

constexpr std::array<LawOfMany, 2> kOfLibraries{{
    {"L1/blocks/", "Of every building block at, inverse, gather and digits agree; image and padding fill the allocation", law_block_addresses},
    {"L2/blocks/", "Building blocks lie where their documents' formulas have them, and refuse what those do not cover", law_block_formulas},
}};

constexpr std::array<LawOfMany, 9> kOfFamilies{{
    {"L1/", "Every element has one address, image and padding fill an allocation of the documented size, and digits are the program",
     law_backend_addresses},
    {"L2/", "Every unit of the checkpoint lies at the address of the documents' formula, cast as they say; padding holds what they say",
     law_tags_arrive},
    {"L3/", "Weights and scales that a kernel finds at the documented places dequantize to the checkpoint's numbers", law_dequantize_commutes},
    {"L4/", "Whatever lies where the formulas have padding (0x00, 0x7F, 0xFF, random), restoring gives the same checkpoint", law_padding_is_ignored},
    {"L6/", "The experts of one rank lie alone as they lie among all", law_experts_apart},
    {"L6/cut/",
     "Of a layer cut over tensor parallel ranks as the engine's loaders cut it, every unit lies packed on the rank whose part it is, zeros behind",
     law_ranks_cut},
    {"L7/", "restore(convert(x)) = x but for what is reported lost, and what is packed for one backend is refused by every other",
     law_restore_converts_back},
    {"L8/", "A kernel multiplies gate row i with up row i, except where a recorded hazard says otherwise", law_gate_meets_up},
    {"L10/", "One changed bit anywhere in a packed tensor is one difference, at its place", law_compare_sees_every_change},
}};

/// Ids are made from the tables: a row that is added has laws at once.
std::vector<Law> joined() {
  static std::deque<std::string> ids;
  std::vector<Law> laws(kPrograms.begin(), kPrograms.end());
  const auto add = [&](const LawOfMany& law, std::string_view name) {
    laws.push_back({ids.emplace_back(std::string(law.number) + std::string(name)), law.statement, law.run});
  };
  std::set<std::string_view> libraries;
  for (const families::BuildingBlock& block : families::all_building_blocks()) libraries.insert(block_library(block.name));
  std::set<std::string_view> families;
  for (const families::BackendLayout& row : families::all_backend_layouts()) families.insert(row.family);
  for (const LawOfMany& law : kOfLibraries) {
    for (std::string_view library : libraries) add(law, library);
  }
  for (const LawOfMany& law : kOfFamilies) {
    for (std::string_view family : families) add(law, family);
  }
  return laws;
}

}  // namespace

std::span<const Law> layout_laws() {
  static const std::vector<Law> laws = joined();
  return laws;
}

}  // namespace mx::props
