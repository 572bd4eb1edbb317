// The execution table: complete, and every row runs from its own packed tensors with the bits that it has from the checkpoint's own form.

#include <array>
#include <set>
#include <string>

#include "model/engine/vllm/tables.hpp"
#include "model/error.hpp"
#include "sim/execute/kernel.hpp"
#include "sim/execute/sample_layer.hpp"
#include "tests/catch.hpp"

namespace {

using namespace mx;
using namespace mx::deployment;
using namespace mx::families;
using namespace mx::sim;
using layout::Role;
using layout::SourceOrder;
using layout::WeightFormat;

std::string text(const ExecutionRow& row) { return std::string(row.backend) + " " + std::string(layout::name_of(row.format)); }

const moe::ActivationConstants kOai{0x3FD9DB23U, 0x3F800000U, 0x40E00000U, 0};

ModelActivation model_of(const ExecutionRow& row) {
  if (!row.swiglu_oai.row.empty()) return {"SWIGLUOAI", kOai};
  return {"SILU", {}};
}

/// The first version whose engine has the layout.
deployment::Engine engine_of(const ExecutionRow& row) {
  return families::find_backend_layout(row.layout, row.format, kVllm2026_05) != nullptr ? kVllm2026_05 : deployment::kVllm2026_08;
}

/// A device that the backend is for.
families::Arch device_of(const ExecutionRow& row) {
  for (const families::Arch arch : {families::Arch::sm90, families::Arch::sm100, families::Arch::gfx950, families::Arch::xpu, families::Arch::cpu}) {
    if (row.layout.empty()) return arch;
    const families::BackendLayout& backend = families::backend_layout_named(row.layout, row.format, engine_of(row));
    const families::Setting setting{.sizes = {2, 256, 256, 1}, .padded = {2, 256, 256, 1}, .form = {}, .arch = arch};
    bool device_fits = true;
    for (const families::Need& need : backend.needs)
      device_fits = device_fits && (need.quantity != families::Quantity::deepgemm_device || families::holds(need, setting));
    if (device_fits) return arch;
  }
  return families::Arch::sm100;
}

std::vector<SlotWork> slots_of(const SampleTokens& tokens) {
  std::vector<SlotWork> slots;
  for (std::size_t token = 0; token < tokens.slots.size(); ++token) {
    for (const moe::Slot& slot : tokens.slots[token]) slots.push_back({static_cast<std::int64_t>(token), slot.expert});
  }
  return slots;
}

const std::set<std::pair<std::string_view, WeightFormat>>& oracle_pairs() {
  static const std::set<std::pair<std::string_view, WeightFormat>> pairs = [] {
    std::set<std::pair<std::string_view, WeightFormat>> all;
    const std::pair<std::string_view, WeightFormat> formats[] = {{"mxfp4", WeightFormat::mxfp4},
                                                                 {"mxfp4_deepseek_v4", WeightFormat::mxfp4},
                                                                 {"nvfp4", WeightFormat::nvfp4},
                                                                 {"mxfp8", WeightFormat::mxfp8},
                                                                 {"w4a8", WeightFormat::int4}};
    for (const auto& [oracle, format] : formats) {
      for (const engine::BackendRow& row : engine::tables_of(kVllm2026_05, oracle).backends) {
        if (!row.classes.empty()) all.emplace(row.name, format);
      }
    }
    return all;
  }();
  return pairs;
}

}  // namespace

TEST_CASE("every backend of the oracles has a row that executes it") {
  for (const auto& [backend, format] : oracle_pairs()) {
    // mxfp8 borrows the table of fp8; its own search names three backends (spec oracle 9).
    const bool of_mxfp8 =
        backend == std::string_view("FLASHINFER_TRTLLM") || backend == std::string_view("MARLIN") || backend == std::string_view("XPU");
    if (format == WeightFormat::mxfp8 && !of_mxfp8) continue;
    INFO(backend << " " << layout::name_of(format));
    CHECK(find_execution(format, backend) != nullptr);
  }
  for (const engine::BackendRow& row : engine::tables_of(kVllm2026_05, "fp8").backends) {
    if (row.classes.empty()) continue;
    INFO(row.name);
    int rows = 0;
    for (const WeightFormat format : {WeightFormat::fp8_tensor, WeightFormat::fp8_channel, WeightFormat::fp8_block}) {
      if (find_execution(format, row.name) != nullptr) ++rows;
    }
    CHECK(rows > 0);
  }
  CHECK(std::ranges::count(execution_rows(), WeightFormat::mxfp4, &ExecutionRow::format) == 16);
  CHECK(std::ranges::count(execution_rows(), WeightFormat::nvfp4, &ExecutionRow::format) == 9);
}

TEST_CASE("every row executes from its own packed tensors with the bits of the checkpoint's form") {
  for (const ExecutionRow& row : execution_rows()) {
    INFO(text(row));
    const ModelActivation model = model_of(row);
    const layout::Form form(row.format, row.layout.empty() || row.format != WeightFormat::mxfp4 ? SourceOrder::standard : SourceOrder::gpt_oss);
    const std::int64_t group = std::max<std::int64_t>(layout::group_of(row.format), 1);
    const layout::Sizes sizes{2, 256, 256, group};
    const layout::CanonicalLayer layer = sample_layer(sizes, form, row.bias != BiasEntry::dropped || row.format == WeightFormat::mxfp4, 7);
    const SampleTokens tokens = sample_tokens(3, sizes.hidden, sizes.experts, 2, 7);
    const Execution execution = execution_on(row, {device_of(row)}, "None", model, {power_of_two(-6), power_of_two(-4)});
    const Activations input = quantized(*execution.first, tokens.x, sizes.hidden, execution.scales.first);
    const Activations read = row.scales == ScaleMemory::tile_128x4 ? swizzled(input) : input;
    const std::vector<SlotWork> slots = slots_of(tokens);
    if (row.layout.empty()) {
      CHECK(run_slots(execution, Weights::of_checkpoint(layer, row), read, slots, {}).size() == slots.size());
      continue;
    }
    const families::BackendLayout& backend = families::backend_layout_named(row.layout, row.format, engine_of(row));
    const families::Setting setting{.sizes = sizes, .padded = sizes, .form = form, .engine = engine_of(row), .arch = device_of(row)};
    const families::PackedLayer packed = families::convert(layer, backend, setting);
    // What a conversion says that it loses is not there to be executed; W4A8 loses what its own split of the scales rounds away.
    const bool lossy = !packed.losses.empty() && backend.undo_values != nullptr;
    const layout::CanonicalLayer kept = lossy ? families::restore(packed, families::OnLoss::mark) : layer;
    const std::vector<SlotStages> want = run_slots(execution, Weights::of_checkpoint(kept, row), read, slots, {});
    const Weights weights = Weights::of_packed(packed, row, form.order);
    const std::vector<SlotStages> got = run_slots(execution, weights, read, slots, {});
    REQUIRE(got.size() == want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
      CHECK((got[i].gate == want[i].gate));
      CHECK((got[i].up == want[i].up));
      CHECK((got[i].down == want[i].down));
      CHECK(std::set<std::uint32_t>(want[i].down.begin(), want[i].down.end()).size() > 100);
    }
  }
}

TEST_CASE(
    "tiles and quick rows have the model's bits: of any rows, of activations that are shorter than the kernel's, with scales in either memory") {
  std::set<std::string> tiled;
  std::vector<std::pair<const ExecutionRow*, families::Arch>> all;
  for (const ExecutionRow& row : execution_rows()) {
    for (const families::Arch arch : {families::Arch::sm100, families::Arch::sm90, families::Arch::sm89}) all.emplace_back(&row, arch);
  }
  for (const auto& [row_there, arch] : all) {
    const ExecutionRow& row = *row_there;
    Execution execution = execution_on(row, {arch}, "None", model_of(row), {power_of_two(-6), power_of_two(-4)});
    execution.sums = SumsBy::twins;
    const std::string contract(name_of(execution.contract));
    // One row of each format, memory of scales, twin and contract stands for others.
    const std::string kind =
        std::string(layout::name_of(row.format)) + " " + std::string(name_of(row.scales)) + " " + std::string(twin_of(execution));
    const bool is_new = tiled.insert(kind + " " + contract).second;
    if (!is_new || (twin_of(execution) != "tiles" && twin_of(execution) != "quick rows")) continue;
    INFO(text(row) << " " << contract);
    const layout::Form form(row.format, row.format == WeightFormat::mxfp4 ? SourceOrder::gpt_oss : SourceOrder::standard);
    const std::int64_t group = std::max<std::int64_t>(layout::group_of(row.format), 1);
    const bool in_128 = group == 128 || (execution.second->format != nullptr && execution.second->format->block == 128);
    const layout::Sizes sizes{3, in_128 ? 256 : 192, 256, group};
    const Weights weights = Weights::of_checkpoint(sample_layer(sizes, form, row.format == WeightFormat::mxfp4, 11), row);
    for (const std::int64_t hidden : {std::int64_t{256}, std::int64_t{224}}) {
      const SampleTokens tokens = sample_tokens(5, hidden, sizes.experts, 2, 11);
      Activations input = quantized(*execution.first, tokens.x, hidden, execution.scales.first);
      if (row.scales == ScaleMemory::tile_128x4) input = swizzled(std::move(input));
      const std::vector<SlotWork> slots = slots_of(tokens);
      for (const Outputs& outputs : {Outputs{}, Outputs{std::vector<std::int64_t>{0, 7, 191}, std::vector<std::int64_t>{255, 1}}}) {
        execution.sums = SumsBy::twins;
        const std::vector<SlotStages> quick = run_slots(execution, weights, input, slots, outputs);
        execution.sums = SumsBy::model;
        const std::vector<SlotStages> slow = run_slots(execution, weights, input, slots, outputs);
        for (std::size_t i = 0; i < slow.size(); ++i) {
          CHECK((quick[i].gate == slow[i].gate));
          CHECK((quick[i].up == slow[i].up));
          CHECK((quick[i].down == slow[i].down));
          CHECK(std::ranges::any_of(slow[i].down, [](std::uint32_t bits) { return bits << 1U != 0; }));
        }
      }
    }
  }
  for (const char* contract : {"tiles blackwell-mxf8f6f4", "tiles blackwell-mxf4", "tiles blackwell-nvf4", "quick rows hopper-bf16",
                               "quick rows hopper-fp8", "quick rows hopper-fp8-block-1x128", "quick rows hopper-fp8-block-128x128",
                               "quick rows ada-fp8-block-1x128", "quick rows blackwell-f8f6f4", "quick rows blackwell-f8f6f4-block-1x128"})
    CHECK(std::ranges::any_of(tiled, [&](const std::string& name) { return name.ends_with(contract); }));
}

TEST_CASE("a coded row of FP8 in blocks has the scales of its own row, one for each block, in whole chains") {
  const layout::Sizes sizes{2, 256, 384, 1};
  const Weights weights = Weights::of_checkpoint(sample_layer(sizes, {WeightFormat::fp8_block, SourceOrder::standard}, false, 5),
                                                 execution_of(WeightFormat::fp8_block, "TRITON"));
  REQUIRE(weights.is_coded_in_squares());
  CHECK_FALSE(weights.is_coded());
  const ContractRow& contract = row_of(Contract::hopper_fp8_block_1x128);
  const kernels::dot::RowTable table(contract, Side::b, weights.element_format(), weights.scale_format());
  CodedRow coded;
  for (const std::int64_t n : {0, 127, 128, 255}) {
    weights.read_coded(Matrix::w13, 1, 1, n, coded);
    const WeightRow whole = weights.row(Matrix::w13, 1, 1, n);
    CHECK(coded.square == 128);
    REQUIRE(coded.square_scales.size() == 3);
    for (std::size_t i = 0; i < whole.scales.size(); ++i) CHECK(decode(kF32, coded.square_scales[i]) == whole.scales[i]);
    kernels::dot::Row row;
    table.fill(row, coded.codes, coded.scales, 0);
    row.scales = coded.square_scales;
    row.block = static_cast<std::size_t>(coded.square);
    const PreparedOperand prepared = prepare(contract, Side::b, whole.operand());
    // The kernels answer, and as the model does.
    CHECK(kernels::dot::quick_dot(contract, kernels::dot::quick_row(contract, prepared), row) == dot(contract, prepared, prepared, {}));
  }
}

TEST_CASE("a kernel works with the sizes that its converter padded to") {
  struct Padded {
    const char* backend;
    WeightFormat format;
    Engine engine;
    bool gated;
    std::int64_t intermediate, hidden;
    std::int64_t padded_intermediate, padded_hidden;
  };
  const auto wanted = std::to_array<Padded>({
      {"FLASHINFER_TRTLLM", WeightFormat::nvfp4, kVllm2026_05, true, 64, 224, 64, 256},
      {"FLASHINFER_TRTLLM", WeightFormat::nvfp4, kVllm2026_08, true, 64, 224, 64, 256},
      {"FLASHINFER_TRTLLM", WeightFormat::nvfp4, kVllm2026_05, false, 32, 224, 128, 256},
      {"FLASHINFER_TRTLLM", WeightFormat::fp8_tensor, kVllm2026_05, true, 48, 32, 48, 32},
      {"FLASHINFER_TRTLLM", WeightFormat::fp8_tensor, kVllm2026_05, false, 48, 32, 128, 32},
      {"FLASHINFER_CUTLASS", WeightFormat::fp8_tensor, kVllm2026_08, false, 48, 40, 128, 40},
      {"VLLM_CUTLASS", WeightFormat::nvfp4, kVllm2026_05, false, 96, 64, 128, 64},
      {"MARLIN", WeightFormat::mxfp8, kVllm2026_05, true, 96, 64, 96, 64},
      {"MARLIN", WeightFormat::mxfp8, kVllm2026_08, true, 96, 64, 128, 64},
  });
  for (const Padded& want : wanted) {
    const layout::Form form(want.format, SourceOrder::standard, want.gated);
    const layout::Sizes sizes{2, want.intermediate, want.hidden, std::max<std::int64_t>(layout::group_of(want.format), 1)};
    const families::BackendLayout& backend = families::backend_layout_named(want.backend, want.format, want.engine);
    const families::Setting setting{.sizes = sizes, .padded = sizes, .form = form, .engine = want.engine};
    const families::PackedLayer packed = families::convert(sample_layer(sizes, form, false, 7), backend, setting);
    const layout::Sizes got = Weights::of_packed(packed, execution_of(want.format, want.backend), SourceOrder::standard).sizes();
    INFO(want.backend << " " << layout::name_of(want.format) << (want.gated ? "" : " not gated") << " of " << name_of(want.engine));
    CHECK(got.intermediate == want.padded_intermediate);
    CHECK(got.hidden == want.padded_hidden);
  }
}
