#include "tests/props/mutant_records.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "golden/witness/layouts.hpp"
#include "golden/witness/manifest.hpp"
#include "golden/witness/ops.hpp"
#include "golden/witness/witness.hpp"
#include "model/error.hpp"
#include "model/numerics/profile.hpp"
#include "support/json.hpp"

namespace mx::tests {
namespace {

const std::filesystem::path kRecords = std::filesystem::path(MXACT_SOURCE_DIR) / "golden" / "witness";
constexpr std::array kSets{"numerics/block32",
                           "numerics/fp8_scaled",
                           "numerics/gemm_hopper",
                           "numerics/mma_extremes",
                           "numerics/bf16_tiny_h100",
                           "numerics/routing",
                           "numerics/moe_0",
                           "numerics-peers/block_peers",
                           "numerics-peers/nvfp4_peers",
                           "numerics-peers/fp8_peers",
                           "numerics-peers/quark_mx",
                           "numerics-peers/dequantize_peers",
                           "numerics-peers/bridge_blocks"};
const golden::WitnessOptions kOptions{.sweeps = false, .max_differences = 1, .progress = {}};

/// Operations that read rows of a table.
struct Reads {
  std::string_view table;
  std::array<std::string_view, 5> operations;
};
constexpr std::array<Reads, 5> kReads{{
    {"recipes", {"block_quantize", "block_scale", "block_quantize_dequantize", "fp8_quantize", "encode_scale"}},
    {"dequantizers", {"block_dequantize", "block_quantize_dequantize", "", "", ""}},
    {"contracts", {"gemm", "mma_sync", "", "", ""}},
    {"routers", {"route", "", "", "", ""}},
    {"activations", {"moe_stage", "moe", "", "", ""}},
}};

/// What entries call the contracts that they execute; those of no row here stand for no device's products.
struct Accumulation {
  std::string_view contract;
  std::string_view word;
  std::string_view a_format;  ///< "" for any
};
constexpr std::array kAccumulations{
    Accumulation{"hopper-fp8", "fast", ""},
    Accumulation{"hopper-fp8-promoted", "promoted", ""},
    Accumulation{"hopper-bf16", "chain16", "bf16"},
    Accumulation{"hopper-bf16", "mma16", "bf16"},
    Accumulation{"hopper-fp16", "chain16", "fp16"},
    Accumulation{"hopper-fp16", "mma16", "fp16"},
    Accumulation{"hopper-mma-fp8", "mma_fp8_emulated", ""},
};

bool executes(const golden::Entry& entry, std::string_view contract) {
  const auto says = [&](const char* key, std::string_view word) {
    const support::Json* const found = entry.params.find(key);
    return found != nullptr && found->text() == word;
  };
  return std::ranges::any_of(kAccumulations, [&](const Accumulation& row) {
    return row.contract == contract && says("accum", row.word) && (row.a_format.empty() || says("a_format", row.a_format));
  });
}

bool reads(const TableMutant& mutant, const golden::Entry& entry) {
  const auto row = std::ranges::find(kReads, mutant.table, &Reads::table);
  if (row == kReads.end() || std::ranges::find(row->operations, entry.op) == row->operations.end()) return false;
  if (mutant.where == fault::Table::contracts) return executes(entry, mutant.subject);
  // Of the entries of other implementations none reads the row of this one.
  return mutant.where != fault::Table::profiles || entry.profile.implementation == profile_named(mutant.subject).implementation;
}

bool is_wrong(const golden::EntryResult& result) { return result.level == "must" && result.status == golden::EntryStatus::differs; }

}  // namespace

struct Records::Sets {
  std::vector<golden::Manifest> manifests;
  support::Json layouts;
};

Records::Records() : sets_(std::make_unique<Sets>()) {
  for (const char* set : kSets) {
    const std::filesystem::path directory = kRecords / set;
    sets_->manifests.push_back(golden::read_manifest(directory, golden::load_json(directory / "manifest.json")));
  }
  sets_->layouts = golden::load_json(kRecords / "layouts" / "manifest.json");
}

Records::~Records() = default;

std::string Records::noticed(const TableMutant& mutant) const {
  golden::SweepCache sweeps;
  for (const golden::Manifest& manifest : sets_->manifests) {
    for (const golden::Entry& entry : manifest.entries) {
      if (!reads(mutant, entry)) continue;
      const golden::EntryResult result = golden::run_entry(manifest, entry, kOptions, sweeps);
      // A refusal is noticed where the entry was modelled before: entries of level must all are.
      if (is_wrong(result) || (result.level == "must" && result.status == golden::EntryStatus::unmodelled && entry.unmodelled.empty()))
        return manifest.set + " " + entry.id;
    }
  }
  if (mutant.table != "layouts") return {};
  support::Json some = sets_->layouts;
  some["entries"] = support::Json::array();
  const std::string backend = "." + mutant.row.substr(0, mutant.row.find(' '));
  for (const support::Json& entry : sets_->layouts["entries"]) {
    const std::string layout = entry.at("layout").text() + ".";
    if (layout.find(backend + ".") != std::string::npos) some["entries"].push_back(entry);
  }
  if (some["entries"].empty()) return {};
  for (const golden::EntryResult& result : golden::run_layout_set(kRecords / "layouts", some, kOptions).entries) {
    if (is_wrong(result) || (result.level == "must" && result.status == golden::EntryStatus::unmodelled)) return "layouts " + result.id;
  }
  return {};
}

}  // namespace mx::tests
