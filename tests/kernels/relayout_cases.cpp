#include "tests/kernels/relayout_cases.hpp"

#include <algorithm>
#include <array>

#include "model/layout/grains.hpp"

namespace mx::tests {
namespace {

using families::BackendLayout;
using families::BuildingBlock;
using families::Setting;
using layout::Layout;
using layout::Role;
using layout::Sizes;

/// Sizes of a checkpoint and of the buffers: whole tiles, padding on either axis, several experts.
struct SizeRow {
  Sizes sizes;
  Sizes padded;
};
constexpr std::array<SizeRow, 9> kSizes{{
    {{1, 128, 128}, {1, 128, 128}},
    {{2, 96, 160}, {2, 128, 256}},
    {{1, 32, 64}, {1, 64, 96}},
    {{3, 64, 96}, {3, 64, 96}},
    {{2, 288, 416}, {2, 384, 512}},
    {{2, 256, 512}, {2, 256, 512}},
    {{1, 320, 192}, {1, 384, 256}},
    {{2, 128, 256}, {2, 256, 256}},
    {{1, 480, 288}, {1, 512, 512}},
}};

/// What else converters look at, one variation each.
std::vector<Setting> settings(const BackendLayout& row, const SizeRow& sizes) {
  std::vector<Setting> out;
  for (deployment::Engine engine : families::kConversionEngines) {
    if (!row.engines.has(engine)) continue;
    for (layout::SourceOrder order : {layout::SourceOrder::gpt_oss, layout::SourceOrder::standard}) {
      Setting setting{.sizes = sizes.sizes, .padded = sizes.padded, .form = layout::Form(row.format, order), .engine = engine};
      setting.sizes.group = setting.padded.group = std::max<std::int64_t>(1, layout::group_of(row.format));
      const bool fits = setting.sizes.intermediate % setting.sizes.group == 0 && setting.sizes.hidden % setting.sizes.group == 0;
      if (!fits || !row.converts(setting.form, engine)) continue;
      for (families::Arch arch :
           {families::Arch::sm100, families::Arch::sm90, families::Arch::gfx942, families::Arch::gfx950, families::Arch::gfx1250}) {
        setting.arch = arch;
        out.push_back(setting);
      }
      setting.input_dtype = families::InputDtype::float8_e4m3fn;
      out.push_back(setting);
    }
  }
  return out;
}

/// Tensors of a setting; two settings that give the same program are one case.
void visit_tensors(const BackendLayout& row, const Setting& setting, std::vector<std::string>& seen,
                   const std::function<void(const RelayoutCase&)>& visit) {
  for (Role role : layout::kAllRoles) {
    if (!layout::has_role(row.format, role)) continue;
    const layout::TensorPlan plan = row.build(role, setting);
    const Layout canonical = layout::canonical(role, setting.sizes, setting.form);
    const bool moves = row.values == nullptr && plan.cast->keeps();
    const Layout from = moves ? canonical : Layout(plan.layout.axes_before(0), plan.layout.unit_bits());
    const std::string program = from.describe() + "\n" + plan.layout.describe();
    if (std::ranges::find(seen, program) != seen.end()) continue;
    seen.push_back(program);
    visit({std::string(row.backend) + " " + std::string(layout::name_of(row.format)) + " " + std::string(layout::name_of(role)) + "\n" + program,
           from, plan.layout});
  }
}

}  // namespace

void for_each_backend_case(const std::function<void(const RelayoutCase&)>& visit) {
  for (const BackendLayout& row : families::all_backend_layouts()) {
    std::vector<std::string> seen;
    for (const SizeRow& sizes : kSizes) {
      for (const Setting& setting : settings(row, sizes)) {
        if (families::broken_needs(row, setting).empty()) visit_tensors(row, setting, seen, visit);
      }
    }
  }
}

void for_each_value_case(const std::function<void(const ValueCase&)>& visit) {
  for (const BackendLayout& row : families::all_backend_layouts()) {
    std::vector<std::string> seen;
    for (const SizeRow& sizes : kSizes) {
      for (Setting setting : settings(row, sizes)) {
        for (const auto params : {families::ParamsDtype::bf16, families::ParamsDtype::fp16}) {
          setting.params_dtype = params;
          if (!families::broken_needs(row, setting).empty()) continue;
          for (Role role : layout::kAllRoles) {
            if (!layout::has_role(row.format, role)) continue;
            const layout::TensorPlan plan = row.build(role, setting);
            if (plan.cast->keeps()) continue;
            Layout from = layout::canonical(role, setting.sizes, setting.form);
            std::string program = std::string(plan.cast->name) + "\n" + from.describe() + "\n" + plan.layout.describe();
            if (std::ranges::find(seen, program) != seen.end()) continue;
            seen.push_back(program);
            visit({std::string(row.backend) + " " + std::string(layout::name_of(role)) + " " + program, std::move(from), plan});
          }
        }
      }
    }
  }
}

void for_each_block_case(const std::function<void(const RelayoutCase&)>& visit) {
  for (const BuildingBlock& row : families::all_building_blocks()) {
    for (std::string_view version : row.versions) {
      for (const auto& [batch, rows, cols] : std::vector<std::array<std::int64_t, 3>>{
               {1, 128, 128}, {2, 256, 64}, {1, 64, 512}, {3, 96, 90}, {2, 100, 10}, {1, 300, 33}, {2, 32, 256}, {1, 48, 96}, {5, 130, 70}}) {
        const std::vector<int> widths = row.unit_bits != 0 ? std::vector<int>{row.unit_bits} : std::vector<int>{4, 8, 16};
        for (int bits : widths) {
          families::BlockRequest request{version, batch, rows, cols, bits, {}};
          if (!families::broken_needs(row, request).empty()) continue;
          const Layout to = families::block_layout(row, request);
          if (to.cosize() * to.grain_bits() % 8 != 0 || to.size() * to.grain_bits() % 8 != 0) continue;
          visit({std::string(row.name) + " " + std::string(version) + "\n" + to.describe(), Layout(to.axes_before(0), to.unit_bits()), to});
        }
      }
    }
  }
}

std::vector<std::uint8_t> random_bytes(std::int64_t count, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(engine());
  return bytes;
}

std::vector<std::uint8_t> by_model(const Layout& from, const std::vector<std::uint8_t>& source, const Layout& to) {
  return layout::from_row_major(to, layout::held_row_major(from, source).bytes, 0);
}

}  // namespace mx::tests
