#pragma once
// What the tables of several oracles share. For them alone.

#include <array>
#include <map>

#include "model/engine/vllm/tables.hpp"

namespace mx::engine {

using Names = std::string_view;

inline constexpr deployment::Where kHopper = deployment::on_cuda(deployment::cap_exactly(90));
inline constexpr std::array<Names, 3> kHummingClasses = {"BatchedHummingGroupedExperts", "HummingGroupedExperts", "HummingIndexedExperts"};
inline constexpr std::array<Names, 1> kHummingBackend = {"HUMMING"};

/// Humming before Marlin on Hopper. Source: vllm 4ba787ec9 quantization/utils/humming/priority.py.
constexpr FrontRow humming_before(std::string_view marlin) {
  return {.platform = deployment::PlatformKind::cuda,
          .backend = "HUMMING",
          .capability = deployment::cap_exactly(90),
          .versions = kSinceNovember,
          .move = Move::before,
          .beside = marlin};
}

/// The rows of one oracle in one version, with storage. `Rows` are arrays whose rows have `versions`.
struct OracleRows {
  std::vector<BackendRow> backends;
  std::vector<UserNameRow> user_names;
  std::vector<std::string_view> priority;
  std::vector<FrontRow> moves;
  std::vector<Step> steps;
  std::vector<RoundingRow> roundings;
  OracleTables tables;
};

/// All rows of an oracle.
struct OracleSource {
  std::span<const BackendRow> backends;
  std::span<const UserNameRow> user_names;
  std::span<const PriorityRow> priority;
  std::span<const FrontRow> moves;
  std::span<const Step> steps;
  Rounded rounded = Rounded::nothing;
};

/// The tables of every version: rows of the source that the version has, and in `rest` what no row says.
std::map<deployment::Engine, OracleRows> tables_of_all(const OracleSource& source, OracleTables (*rest)(deployment::Engine engine));

}  // namespace mx::engine
