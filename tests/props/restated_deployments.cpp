#include "tests/props/restated_deployments.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "model/error.hpp"
#include "model/numerics/contract.hpp"
#include "model/stand_in.hpp"

namespace mx::tests {
namespace {

using families::Arch;
using families::MatrixUnit;
using layout::Form;
using layout::SourceOrder;
using layout::WeightFormat;

// Exchanges. The words are those of the answers below.

constexpr std::array<std::string_view, 8> kPrepareClasses{"MoEPrepareAndFinalizeNoDPEPModular",
                                                          "MoEPrepareAndFinalizeNaiveDPEPMonolithic",
                                                          "DeepEPHTPrepareAndFinalize",
                                                          "DeepEPLLPrepareAndFinalize",
                                                          "MoriPrepareAndFinalize",
                                                          "FlashInferNVLinkTwoSidedPrepareAndFinalize",
                                                          "FlashInferNVLinkOneSidedPrepareAndFinalize",
                                                          "NixlEPPrepareAndFinalize"};

struct Exchange {
  sim::QuantizeTime quantize;
  sim::SwizzleRule swizzle;
  sim::Reach reach;
  sim::RankSum sum;

  friend bool operator==(const Exchange&, const Exchange&) = default;
};

Exchange restated_exchange(std::string_view prepare) {
  using sim::QuantizeTime;
  using sim::RankSum;
  using sim::Reach;
  using sim::SwizzleRule;
  // Nothing moves but in the all-reduce of the engine, which adds bf16 tensors; so does the reduce-scatter behind the all-gather.
  if (prepare.find("NoDPEP") != std::string_view::npos) return {QuantizeTime::here, SwizzleRule::configured, Reach::own, RankSum::bf16};
  if (prepare.find("NaiveDPEP") != std::string_view::npos) return {QuantizeTime::before, SwizzleRule::nvfp4_alone, Reach::everyone, RankSum::bf16};
  // FlashInfer's exchanges quantize first, and swizzle what arrived for NVFP4 alone.
  if (prepare.starts_with("FlashInfer")) return {QuantizeTime::before, SwizzleRule::nvfp4_alone, Reach::holders, RankSum::f32};
  // The others move fp8 of blocks, or 16 bits. Low latency and NIXL give each expert rows of its own, and weigh and add slots as they combine.
  const bool batched = prepare.starts_with("DeepEPLL") || prepare.starts_with("Nixl");
  const SwizzleRule swizzle = prepare.starts_with("DeepEPHT") ? SwizzleRule::configured : SwizzleRule::never;
  return {QuantizeTime::blocks_before, swizzle, batched ? Reach::per_expert : Reach::holders, batched ? RankSum::slots_in_f32 : RankSum::f32};
}

std::optional<Exchange> modelled_exchange(std::string_view prepare) {
  try {
    const sim::ExchangeRow& row = sim::exchange_of(prepare);
    return Exchange{row.quantize, row.swizzle, row.reach, row.sum};
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Loaders.

/// What a loader makes of one shard, and whether experts are dealt out by whole divisions.
struct Load {
  sim::Interval cut;
  bool floors_experts;

  friend bool operator==(const Load& a, const Load& b) {
    return a.cut.first == b.cut.first && a.cut.count == b.cut.count && a.floors_experts == b.floors_experts;
  }
};

struct LoadQuestion {
  Form form;
  std::int64_t intermediate;
  std::int64_t allocated;
  int rank;
  int tp;
};

Load restated_load(const LoadQuestion& asked) {
  const std::int64_t size = asked.intermediate;
  if (asked.form.format == WeightFormat::mxfp4 && asked.form.order == SourceOrder::gpt_oss) {
    // per_rank = cdiv(intermediate // 32, tp) * 32; [rank * per_rank : min((rank + 1) * per_rank, intermediate)]; experts // ep.
    std::int64_t blocks = size / 32 / asked.tp;
    if (blocks * asked.tp * 32 < size / 32 * 32) ++blocks;
    const std::int64_t begin = std::min(asked.rank * blocks * 32, size);
    return {{begin, std::min(begin + blocks * 32, size) - begin}, true};
  }
  // loaded_weight.narrow(dim, shard_size * rank, shard_size) with the shard size of the parameter, shortened where the checkpoint ends.
  const std::int64_t begin = std::min(asked.allocated * asked.rank, size);
  return {{begin, std::min(asked.allocated, size - begin)}, false};
}

std::optional<Load> modelled_load(const LoadQuestion& asked) {
  const std::span<const checkpoint::LoaderRow> rows = checkpoint::loader_rows();
  if (std::ranges::none_of(rows, [&](const checkpoint::LoaderRow& row) { return row.takes == nullptr || row.takes(asked.form); }))
    return std::nullopt;
  const checkpoint::LoaderRow& row = checkpoint::loader_of(asked.form);
  return Load{row.cut(asked.intermediate, asked.allocated, asked.rank, asked.tp), row.floors_experts};
}

std::string text_of(const LoadQuestion& asked) {
  return std::string(layout::name_of(asked.form.format)) + " " + std::string(layout::name_of(asked.form.order)) + " " +
         std::to_string(asked.intermediate) + " in buffers of " + std::to_string(asked.allocated) + ", rank " + std::to_string(asked.rank) + " of " +
         std::to_string(asked.tp);
}

std::string first_load(const std::function<bool(const LoadQuestion& asked)>& differs) {
  for (const WeightFormat format : {WeightFormat::mxfp4, WeightFormat::nvfp4, WeightFormat::mxfp8, WeightFormat::fp8_tensor}) {
    for (const SourceOrder order : {SourceOrder::gpt_oss, SourceOrder::standard}) {
      for (const std::int64_t blocks : {1, 5, 12, 90}) {
        for (const int tp : {1, 2, 3, 8}) {
          for (int rank = 0; rank < tp; ++rank) {
            for (const std::int64_t allocated : {32 * blocks / tp, (32 * blocks / tp + 127) / 128 * 128}) {
              const LoadQuestion asked{Form(format, order), 32 * blocks, allocated, rank, tp};
              if (differs(asked)) return text_of(asked);
            }
          }
        }
      }
    }
  }
  return {};
}

// Units.

/// Whose tensor cores' sums are public, by family of devices. Source: spec tensor-cores 1 to 5.
struct Sums {
  Arch arch;
  std::string_view bf16 = {}, fp8 = {}, fp8_128x128 = {}, fp8_1x128 = {}, mx = {}, mxfp4 = {}, nvfp4 = {};
  bool fnuz = false;  ///< FP8 of e4m3fnuz codes alone
};
constexpr std::array kSums{
    Sums{Arch::sm80, "ampere-bf16"},
    Sums{Arch::sm89, "ada-bf16", "ada-fp8", "ada-fp8-block-128x128", "ada-fp8-block-1x128"},
    Sums{Arch::sm90, "hopper-bf16", "hopper-fp8", "hopper-fp8-block-128x128", "hopper-fp8-block-1x128"},
    Sums{Arch::sm100, "blackwell-bf16", "blackwell-f8f6f4", "blackwell-f8f6f4-block-128x128", "blackwell-f8f6f4-block-1x128", "blackwell-mxf8f6f4",
         "blackwell-mxf4", "blackwell-nvf4"},
    Sums{Arch::sm120, "blackwell-bf16", "blackwell-f8f6f4", "blackwell-f8f6f4-block-128x128", "blackwell-f8f6f4-block-1x128", "blackwell-mxf8f6f4",
         "blackwell-mxf4", "blackwell-nvf4"},
    Sums{Arch::gfx90a, "cdna2-bf16-1k"},
    Sums{.arch = Arch::gfx942,
         .bf16 = "cdna3-bf16",
         .fp8 = "cdna3-fp8",
         .fp8_128x128 = "cdna3-fp8-block-128x128",
         .fp8_1x128 = "cdna3-fp8-block-1x128",
         .fnuz = true},
};

Contract restated_contract(MatrixUnit unit, const families::Operation& operation) {
  const Arch arch = operation.arch;
  const auto* const known = std::ranges::find(kSums, arch, &Sums::arch);
  Sums sums = known == kSums.end() ? Sums{arch} : *known;
  if (sums.fnuz && !operation.fnuz) sums.fp8 = sums.fp8_128x128 = sums.fp8_1x128 = {};
  const auto or_else = [](std::string_view name, Contract otherwise) { return name.empty() ? otherwise : contract_named(name); };
  const bool no_tensor_cores = arch == Arch::xpu || families::platform_of(arch) == deployment::PlatformKind::rocm;
  switch (unit) {
    case MatrixUnit::bf16:
      return or_else(sums.bf16, arch == Arch::cpu ? Contract::bf16_chain : no_tensor_cores ? Contract::f32_sequential : Contract::hopper_bf16);
    case MatrixUnit::bf16_blocks: return Contract::bf16_block;
    case MatrixUnit::fp8: return or_else(sums.fp8, Contract::exact);
    case MatrixUnit::fp8_blocks: return or_else(sums.fp8_128x128, Contract::exact);
    case MatrixUnit::fp8_blocks_in_order:
      // A chain for each scale, however long its block is.
      if (operation.block != layout::kBlockSide && !sums.fp8_1x128.empty()) return contract_named(std::string(sums.fp8_1x128) + ":restart=scales");
      return or_else(sums.fp8_1x128, Contract::exact);
    case MatrixUnit::block_scaled: return or_else(sums.mx, Contract::exact);
    case MatrixUnit::block_scaled_fp4: return or_else(sums.mxfp4, Contract::exact);
    case MatrixUnit::block_scaled_nvfp4: return or_else(sums.nvfp4, Contract::exact);
  }
  return Contract::exact;
}

constexpr std::array kUnitsAsked{MatrixUnit::bf16,
                                 MatrixUnit::bf16_blocks,
                                 MatrixUnit::fp8,
                                 MatrixUnit::fp8_blocks,
                                 MatrixUnit::fp8_blocks_in_order,
                                 MatrixUnit::block_scaled,
                                 MatrixUnit::block_scaled_fp4,
                                 MatrixUnit::block_scaled_nvfp4};

std::optional<Contract> modelled_contract(MatrixUnit unit, const families::Operation& operation) {
  const std::span<const families::UnitRow> rows = families::unit_rows();
  if (std::ranges::none_of(rows, [&](const families::UnitRow& row) { return row.unit == unit && (row.on == nullptr || row.on(operation)); }))
    return std::nullopt;
  return families::unit_on(unit, operation).contract;
}

std::string first_unit(const std::function<bool(MatrixUnit unit, const families::Operation& operation)>& differs) {
  for (const MatrixUnit unit : kUnitsAsked) {
    for (int place = 0; place <= 4 * static_cast<int>(Arch::cpu) + 3; ++place) {
      const families::Operation operation{static_cast<Arch>(place / 4), place % 2 == 1, place / 2 % 2 == 0 ? layout::kBlockSide : 64};
      if (differs(unit, operation))
        return std::string(families::name_of(unit)) + " on " + std::string(families::name_of(operation.arch)) +
               (operation.fnuz ? " of e4m3fnuz" : "") + " in blocks of " + std::to_string(operation.block);
    }
  }
  return {};
}

/// The answer with these rows in the table's place.
template <typename Row, typename Answer>
auto answered_with(fault::Table table, std::span<const Row> rows, const Answer& answer) {
  fault::set_stand_in(table, {rows.data(), rows.size()});
  const auto given = answer();
  fault::set_stand_in(table, {});
  return given;
}

}  // namespace

std::string wrong_exchange() {
  for (const std::string_view prepare : kPrepareClasses) {
    if (modelled_exchange(prepare) != restated_exchange(prepare)) return std::string(prepare);
  }
  return {};
}

std::string wrong_loader() {
  return first_load([](const LoadQuestion& asked) { return modelled_load(asked) != restated_load(asked); });
}

std::string wrong_unit() {
  return first_unit(
      [](MatrixUnit unit, const families::Operation& operation) { return modelled_contract(unit, operation) != restated_contract(unit, operation); });
}

std::string different_exchange(std::span<const sim::ExchangeRow> rows) {
  for (const std::string_view prepare : kPrepareClasses) {
    if (modelled_exchange(prepare) != answered_with(fault::Table::exchanges, rows, [&] { return modelled_exchange(prepare); }))
      return std::string(prepare);
  }
  return {};
}

std::string different_loader(std::span<const checkpoint::LoaderRow> rows) {
  return first_load([rows](const LoadQuestion& asked) {
    return modelled_load(asked) != answered_with(fault::Table::loaders, rows, [&] { return modelled_load(asked); });
  });
}

std::string different_unit(std::span<const families::UnitRow> rows) {
  return first_unit([rows](MatrixUnit unit, const families::Operation& operation) {
    return modelled_contract(unit, operation) != answered_with(fault::Table::units, rows, [&] { return modelled_contract(unit, operation); });
  });
}

}  // namespace mx::tests
