// DeepGEMM with MXFP4 and with FP8 in blocks. Source: spec layouts 4, 4.1 and row 4 of section 14. What becomes of the numbers is power_law.cpp's.

#include <array>

#include "props/families/deepgemm/family.hpp"
#include "props/families/memory_formula.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using families::Arch;
using families::Setting;
using layout::Role;
using layout::WeightFormat;

bool upcasts(const Setting& setting) { return setting.engine == deployment::kVllm2026_05; }

Matrix mxfp4_matrix(Role role, const Setting& setting) {
  return layout::is_scale(role) && upcasts(setting) ? loaded_matrix(role, setting, 32) : loaded_matrix(role, setting);
}

Memory mxfp4_place(Role role, const Setting& setting, const Matrix& sizes) {
  return layout::is_scale(role) && !upcasts(setting) ? block_memory("deepgemm.sf_packed_ue8m0", sizes, 8) : kept(sizes);
}

std::uint64_t mxfp4_cast(Role role, const Setting& setting, std::uint64_t unit) {
  return layout::is_scale(role) && upcasts(setting) ? unit << 23 : unit;
}

bool packs(const Setting& setting) { return setting.arch == Arch::sm100 && setting.of<families::DeepgemmParameters>().e8m0; }

/// Scales of blocks of 128 rows become one e8m0 code for every row.
Matrix fp8_matrix(Role role, const Setting& setting) {
  if (!layout::is_scale(role) || !packs(setting)) return loaded_matrix(role, setting);
  const Matrix blocks = loaded_matrix(role, setting, 8);
  return with_rows(blocks, 128 * blocks.rows, [](std::int64_t r) { return r / 128; });
}

Memory fp8_place(Role role, const Setting& setting, const Matrix& sizes) {
  return layout::is_scale(role) && packs(setting) ? block_memory("deepgemm.sf_packed_ue8m0", sizes, 8) : kept(sizes);
}

/// The shift makes an fp32 of every code, whose zero and infinity still tell codes 0 and 255.
double shifted_scale(const Setting&, std::uint64_t unit, double) { return e8m0_number(unit >> 23); }
double exponent_scale(const Setting&, std::uint64_t unit, double) { return e8m0_number(unit); }

Reading mxfp4_reading(const Setting& setting) {
  Reading reading = checkpoint_reading(WeightFormat::mxfp4);
  if (upcasts(setting)) reading.scale = shifted_scale;
  return reading;
}
Reading fp8_reading(const Setting& setting) {
  Reading reading = checkpoint_reading(WeightFormat::fp8_block);
  if (packs(setting)) reading.scale = exponent_scale;
  return reading;
}

/// Scales that are e8m0 already: as they are where they are packed, else fp32 with the same exponent.
Matrix e8m0_matrix(Role role, const Setting& setting) {
  return layout::is_scale(role) && !packs(setting) ? loaded_matrix(role, setting, 32) : fp8_matrix(role, setting);
}
std::uint64_t e8m0_cast(Role role, const Setting& setting, std::uint64_t unit) {
  return layout::is_scale(role) && !packs(setting) ? unit << 23 : unit;
}
Reading e8m0_reading(const Setting& setting) {
  Reading reading = checkpoint_reading(WeightFormat::fp8_block_e8m0);
  if (!packs(setting)) reading.scale = shifted_scale;
  return reading;
}

void draw_fp8(Setting& setting) {
  setting.arch = pick(0, 2) == 0 ? Arch::sm90 : Arch::sm100;
  setting.of<families::DeepgemmParameters>().e8m0 = pick(0, 3) != 0;
}

constexpr BackendFormula fp8(std::string_view backend) {
  return {WeightFormat::fp8_block,
          backend,
          deployment::since(deployment::kVllm2026_05),
          128,
          512,
          draw_fp8,
          fp8_matrix,
          fp8_place,
          as_loaded,
          nullptr,
          nullptr,
          nullptr,
          fp8_reading};
}

constexpr BackendFormula fp8_e8m0(std::string_view backend) {
  BackendFormula formula = fp8(backend);
  formula.format = WeightFormat::fp8_block_e8m0;
  formula.matrix = e8m0_matrix;
  formula.cast = e8m0_cast;
  formula.reading = e8m0_reading;
  return formula;
}

Memory mxfp8_place(Role role, const Setting&, const Matrix& sizes) {
  return layout::is_scale(role) ? block_memory("deepgemm.sf_packed_ue8m0", sizes, 8) : kept(sizes);
}
Matrix mxfp8_matrix(Role role, const Setting& setting) { return loaded_matrix(role, setting); }

/// 4.2: row 16b + 8h + i of w13 is row 8b + i of half h; scales then row 4i + j <- 32j + i of every 128.
Matrix mega_matrix(Role role, const Setting& setting) {
  Matrix rows = loaded_matrix(role, setting);
  if (layout::is_bias(role)) return rows;
  const std::int64_t half = rows.rows / 2;
  if (layout::is_w13(role)) rows = with_rows(rows, rows.rows, [=](std::int64_t r) { return r / 8 % 2 * half + r / 16 * 8 + r % 8; });
  return rows;
}
Memory mega_place(Role role, const Setting&, const Matrix& sizes) {
  if (!layout::is_scale(role)) return kept(sizes);
  Memory memory = block_memory("deepgemm.sf_packed_ue8m0", sizes, 8);
  for (std::int64_t& source : memory.sources) {
    const std::int64_t row = source / sizes.cols;
    if (source >= 0) source = (row / 128 * 128 + row % 4 * 32 + row % 128 / 4) * sizes.cols + source % sizes.cols;
  }
  return memory;
}
RowPair mega_rows(std::int64_t i, std::int64_t, const Setting&) { return {i / 8 * 16 + i % 8, i / 8 * 16 + 8 + i % 8}; }

constexpr std::array<BackendFormula, 7> kFormulas{{
    {WeightFormat::mxfp4, "DEEPGEMM_MEGA_MOE", deployment::since(deployment::kVllm2026_05), 128, 128, nullptr, mega_matrix, mega_place, mega_rows,
     nullptr, nullptr, nullptr},
    {WeightFormat::mxfp4, "DEEPGEMM_MXFP4", deployment::since(deployment::kVllm2026_05), 32, 256, nullptr, mxfp4_matrix, mxfp4_place, as_loaded,
     nullptr, nullptr, mxfp4_cast, mxfp4_reading},
    fp8("DEEPGEMM"),
    fp8("BATCHED_DEEPGEMM"),
    fp8_e8m0("DEEPGEMM"),
    fp8_e8m0("BATCHED_DEEPGEMM"),
    {WeightFormat::mxfp8, "DEEPGEMM", deployment::since(deployment::kVllm2026_08), 32, 256, [](Setting& setting) { setting.arch = Arch::sm100; },
     mxfp8_matrix, mxfp8_place, as_loaded, nullptr, nullptr, nullptr},
}};

void draw_parameters(Setting& setting, std::mt19937& random) { setting.of<families::DeepgemmParameters>().e8m0 = random() % 4 != 0; }

}  // namespace

constinit const FamilyFormulas kDeepgemmFormulas{
    .name = "deepgemm", .backends = kFormulas, .takes = &kDeepgemmTakes, .blocks = &kDeepgemmBlocks, .draw = draw_parameters};

}  // namespace mx::props
