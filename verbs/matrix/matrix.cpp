#include "verbs/matrix/matrix.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <optional>

#include "model/engine/vllm/variables.hpp"
#include "model/error.hpp"
#include "model/families/setting_keys.hpp"
#include "model/names.hpp"
#include "support/rescue.hpp"
#include "verbs/matrix/served.hpp"

namespace mx::verbs {
namespace {

using deployment::ParallelRequest;

/// Eight ranks, or two times four: one machine of each of the common kinds.
ParallelRequest spread(int tp, int dp, bool experts, std::string_view all2all = "allgather_reducescatter") {
  return {.tp = tp, .dp = dp, .enable_expert_parallel = experts, .all2all_backend = std::string(all2all)};
}

std::vector<Spread> all_spreads() {
  std::vector<Spread> rows = {
      {"tp1", "one rank", spread(1, 1, false)},
      {"tp2", "2 tensor parallel ranks", spread(2, 1, false)},
      {"tp4", "4 tensor parallel ranks", spread(4, 1, false)},
      {"tp8", "8 tensor parallel ranks", spread(8, 1, false)},
      {"tp8-ep", "8 ranks, experts split", spread(8, 1, true)},
      {"tp8-ep-eplb", "8 ranks, experts split and balanced", spread(8, 1, true)},
      {"dp8", "8 data parallel ranks", spread(1, 8, false)},
      {"tp2-dp4-ep", "2 x 4 ranks, experts split, all-gather", spread(2, 4, true)},
      {"dp8-ep", "8 data parallel ranks, experts split, all-gather", spread(1, 8, true)},
      {"dp8-ep-deepep-ht", "the same, DeepEP high throughput", spread(1, 8, true, "deepep_high_throughput")},
      {"dp8-ep-deepep-ll", "the same, DeepEP low latency", spread(1, 8, true, "deepep_low_latency")},
      {"dp8-ep-nixl", "the same, NIXL", spread(1, 8, true, "nixl_ep")},
      {"dp8-ep-mori", "the same, MoRI", spread(1, 8, true, "mori")},
      {"dp8-ep-nvlink-two-sided", "the same, FlashInfer NVLink two-sided", spread(1, 8, true, "flashinfer_nvlink_two_sided")},
      {"dp8-ep-nvlink-one-sided", "the same, FlashInfer NVLink one-sided", spread(1, 8, true, "flashinfer_nvlink_one_sided")},
  };
  for (Spread& row : rows) row.request.enable_eplb = row.name.ends_with("-eplb");
  return rows;
}

/// Sizes as a name says them: tp8, dp8-ep, tp2-dp4-ep; none where it is no such name.
std::optional<ParallelRequest> sizes_of(std::string_view name) {
  constexpr std::int64_t kMost = 4096;
  ParallelRequest request = spread(1, 1, false);
  bool is_first = true;
  while (!name.empty()) {
    const std::string_view part = name.substr(0, name.find('-'));
    name.remove_prefix(std::min(part.size() + 1, name.size()));
    const auto size_of = [&](std::string_view word) {
      return part.size() > word.size() && part.starts_with(word) &&
             std::ranges::all_of(part.substr(word.size()), [](char c) { return c >= '0' && c <= '9'; });
    };
    if (part == "ep" && !is_first) {
      request.enable_expert_parallel = true;
    } else if (size_of("tp") || size_of("dp")) {
      (part.starts_with("tp") ? request.tp : request.dp) = static_cast<int>(families::whole_number(part.substr(0, 2), part.substr(2), 1, kMost));
    } else {
      return std::nullopt;
    }
    is_first = false;
  }
  return is_first ? std::nullopt : std::optional(request);
}

/// The rows that the names ask for, in their order; all of the table for no name.
std::vector<const Spread*> spreads_named(const std::vector<std::string>& names) {
  std::vector<const Spread*> rows;
  if (names.empty()) {
    for (const Spread& row : spreads()) rows.push_back(&row);
  }
  for (const std::string& name : names) {
    const Spread& row = spread_named(name);
    if (std::ranges::find(rows, &row) != rows.end()) throw Error(ErrorCode::usage, "parallelism " + std::string(row.name) + " is given twice");
    rows.push_back(&row);
  }
  return rows;
}

/// The rows of a table that the names ask for, in their order; all rows for no name.
template <typename Row>
std::vector<const Row*> rows_named(std::string_view what, const std::vector<std::string>& names, std::span<const Row> table) {
  std::vector<const Row*> rows;
  std::vector<std::string_view> known;
  for (const Row& row : table) {
    known.push_back(row.name);
    if (names.empty()) rows.push_back(&row);
  }
  for (const std::string& name : names) {
    const auto row = std::find_if(table.begin(), table.end(), [&](const Row& r) { return same_name(r.name, name); });
    if (row == table.end()) throw Error(ErrorCode::usage, unknown_name(what, name, known));
    if (std::find(rows.begin(), rows.end(), &*row) != rows.end()) {
      throw Error(ErrorCode::usage, std::string(what) + " " + std::string(row->name) + " is given twice");
    }
    rows.push_back(&*row);
  }
  return rows;
}

/// Platforms by their own names or by those of cards; all of them for no name.
std::vector<const deployment::PlatformPreset*> platforms_named(const std::vector<std::string>& names) {
  std::vector<std::string> presets;
  for (const std::string& name : names) presets.emplace_back(deployment::platform_named(name).name);
  return rows_named("platform", presets, deployment::all_platforms());
}

bool listed(std::span<const std::string_view> names, std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); }

/// Oracles by name; an empty list is all of them.
std::vector<const engine::OracleTables*> oracles_of(const MatrixRequest& request) {
  std::vector<const engine::OracleTables*> tables;
  for (const std::string& name : request.oracles) tables.push_back(&engine::tables_of(request.engine, name));
  if (request.oracles.empty()) {
    for (std::string_view name : engine::oracle_names(request.engine)) tables.push_back(&engine::tables_of(request.engine, name));
  }
  return tables;
}

std::vector<MatrixSection> sections_of(const MatrixRequest& request) {
  const auto schemes = rows_named("scheme", request.schemes, deployment::schemes());
  const auto tables = oracles_of(request);
  const bool as_published = request.schemes.empty() && !request.every_scheme;
  std::vector<MatrixSection> sections;
  for (const deployment::Model* model : rows_named("model", request.models, deployment::models())) {
    for (const deployment::Scheme* scheme : schemes) {
      if (as_published && !listed(model->published, scheme->name)) continue;
      const auto asked = std::find_if(tables.begin(), tables.end(), [&](const auto* one) { return one->name == scheme->oracle; });
      if (asked != tables.end()) sections.push_back({model, scheme, *asked, {}});
    }
  }
  return sections;
}

void require_variables(const std::map<std::string, std::string>& env) {
  for (const auto& [name, value] : env) {
    if (!listed(engine::env_names(), name)) throw Error(ErrorCode::usage, engine::unknown_variable(name));
  }
}

}  // namespace

std::span<const Spread> spreads() {
  static const std::vector<Spread> kSpreads = all_spreads();
  return kSpreads;
}

std::string spread_name(int tp, int dp, bool expert_parallel) {
  const std::string sizes = dp == 1 ? fmt::format("tp{}", tp) : tp == 1 ? fmt::format("dp{}", dp) : fmt::format("tp{}-dp{}", tp, dp);
  return sizes + (expert_parallel ? "-ep" : "");
}

const Spread& spread_named(const std::string& name) {
  std::vector<std::string_view> known;
  for (const Spread& row : spreads()) {
    if (same_name(row.name, name)) return row;
    known.push_back(row.name);
  }
  const std::optional<ParallelRequest> sizes = sizes_of(name);
  if (!sizes) throw Error(ErrorCode::usage, unknown_name("parallelism", name, known) + "; sizes of your own are tpN-dpM-ep");
  const std::string own = spread_name(sizes->tp, sizes->dp, sizes->enable_expert_parallel);
  if (const auto row = std::ranges::find(spreads(), own, &Spread::name); row != spreads().end()) return *row;
  struct OwnRow {
    std::string name, title;
    Spread row;
  };
  static std::mutex mutex;
  static std::deque<OwnRow> rows;
  const std::scoped_lock lock(mutex);
  if (const auto row = std::ranges::find(rows, own, &OwnRow::name); row != rows.end()) return row->row;
  OwnRow& row = rows.emplace_back(
      OwnRow{own, fmt::format("{} x {} ranks{}", sizes->tp, sizes->dp, sizes->enable_expert_parallel ? ", experts split, all-gather" : ""), {}});
  row.row = {row.name, row.title, *sizes};
  return row.row;
}

deployment::Deployment deployment_at(const Matrix& matrix, const MatrixSection& section, const Spread& spread,
                                     const deployment::PlatformPreset& platform) {
  if (section.deployments.empty()) return deployment::deployment_of(*section.model, *section.scheme, platform, spread.request);
  const auto place = [](const auto& axis, const auto& one) { return static_cast<std::size_t>(std::ranges::find(axis, &one) - axis.begin()); };
  return section.deployments.at(place(matrix.spreads, spread) * matrix.platforms.size() + place(matrix.platforms, platform));
}

Matrix run_matrix(const MatrixRequest& request, engine::Detail detail) {
  require_variables(request.env);
  Matrix matrix{request.engine, request.release, platforms_named(request.platforms), spreads_named(request.spreads), {}, request.env};
  if (!request.served.empty()) {
    serve_matrix(matrix, request, detail);
    return matrix;
  }
  matrix.sections = sections_of(request);
  if (matrix.sections.empty()) throw Error(ErrorCode::usage, "no checkpoint of these models comes in these schemes for these oracles");
  const std::size_t in_section = matrix.platforms.size() * matrix.spreads.size();
  for (MatrixSection& section : matrix.sections) section.answers.resize(in_section);
  support::Rescue rescue;
#pragma omp parallel for schedule(static, 16)
  for (std::size_t i = 0; i < matrix.deployments(); ++i) {
    rescue.run([&] {
      MatrixSection& section = matrix.sections[i / in_section];
      const deployment::PlatformPreset& platform = *matrix.platforms[i % matrix.platforms.size()];
      const Spread& spread = *matrix.spreads[i % in_section / matrix.platforms.size()];
      deployment::Deployment deployment = deployment::deployment_of(*section.model, *section.scheme, platform, spread.request);
      deployment.env = request.env;
      deployment.parallel.all2all_backend = deployment::all2all_of(request.engine, deployment.parallel.all2all_backend);
      section.answers[i % in_section] = audit::backend_cells(*section.tables, deployment, detail);
    });
  }
  rescue.rethrow();
  return matrix;
}

}  // namespace mx::verbs
