#include "support/findings_file.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "model/audit/needs.hpp"
#include "model/audit/placement.hpp"
#include "model/embedded.hpp"
#include "model/engine/vllm/tables.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "support/deployment_file.hpp"
#include "support/info.hpp"

namespace mx::embedded {
extern const std::span<const EmbeddedFile> findings, known_places;
}  // namespace mx::embedded

namespace mx::support {
namespace {

using audit::Finding;
using audit::FindingId;
using audit::KnownPlace;

using Names = std::vector<std::string_view>;
using Block = std::pair<std::string, InfoNode>;
using Visit = std::function<void(const FindingId& id, const InfoNode& block)>;

[[noreturn]] void fail(const std::string& message, const InfoNode& at) { throw Error(ErrorCode::input, message, at.where()); }

void require_known(std::string_view what, const Block& named, const Names& known) {
  if (std::find(known.begin(), known.end(), named.first) == known.end()) fail(unknown_name(what, named.first, known), named.second);
}

/// The blocks of a group, which is not there for nothing.
std::vector<Block> members(const std::string& group, const InfoNode& node) {
  std::vector<Block> blocks = node.blocks();
  if (blocks.empty()) fail(group + " has nothing in it", node);
  return blocks;
}

Names backends_of(std::string_view oracle) {
  Names names{audit::kAnyBackend};
  for (const engine::BackendRow& row : engine::tables_of(audit::kLedgerEngine, oracle).backends) names.push_back(row.name);
  names.push_back(engine::kNotAsked);
  return names;
}

/// A method that asks no oracle may take any class.
Names classes_of(std::string_view oracle, std::string_view backend) {
  for (const engine::BackendRow& row : engine::tables_of(audit::kLedgerEngine, oracle).backends) {
    if (row.name == backend) return {row.classes.begin(), row.classes.end()};
  }
  Names names;
  for (const families::KernelClassFacts& row : families::kernel_class_facts()) names.emplace_back(row.name);
  return names;
}

Names needs_of(const FindingId& id) {
  Names names;
  for (const families::KernelNeed* need : audit::needs_of(audit::kLedgerEngine, id.oracle, id.backend, id.kernel_class)) names.push_back(need->id);
  names.push_back(audit::no_needless_refusal().id);
  return names;
}

void visit_needs(FindingId id, const InfoNode& node, const Visit& visit) {
  const std::string of = id.kernel_class.empty() ? id.backend : id.kernel_class;
  const Names known = needs_of(id);
  for (const Block& need : members(of, node)) {
    require_known("need of " + id.oracle + " " + of, need, known);
    id.need = need.first;
    visit(id, need.second);
  }
}

/// Oracle, backend, class, need: calls visit for each need, in the order of the file.
void visit_groups(const InfoNode& node, const Visit& visit) {
  const std::span<const std::string_view> oracles = engine::oracle_names(audit::kLedgerEngine);
  for (const Block& oracle : members("the ledger", node)) {
    require_known("oracle", oracle, {oracles.begin(), oracles.end()});
    for (const Block& backend : members(oracle.first, oracle.second)) {
      require_known("backend of " + oracle.first, backend, backends_of(oracle.first));
      FindingId id{oracle.first, backend.first, {}, {}};
      if (backend.first == audit::kAnyBackend) {
        visit_needs(id, backend.second, visit);
        continue;
      }
      for (const Block& kernel_class : members(backend.first, backend.second)) {
        require_known("class of " + backend.first, kernel_class, classes_of(oracle.first, backend.first));
        id.kernel_class = kernel_class.first;
        visit_needs(id, kernel_class.second, visit);
      }
    }
  }
}

KnownPlace read_place(int number, const Block& block) {
  const std::string name = "place-" + std::to_string(number);
  if (block.first != name) fail(block.first + " must be " + name + ": places are numbered from 1", block.second);
  KnownPlace place{number, block.second.text("what"), {}, block.second.text_or("unseen", "")};
  if (const auto shown = block.second.child("shown")) {
    visit_groups(*shown, [&](const FindingId& id, const InfoNode&) { place.shown.push_back(id); });
  }
  if (place.shown.empty() == place.why_unseen.empty()) fail(name + " must have one of shown and unseen", block.second);
  return place;
}

/// Kept by the caller: no planted fault changes what this asks of the model.
std::vector<Finding> read_built_in() {
  std::vector<Finding> all;
  for (const EmbeddedFile& file : embedded::findings) {
    for (Finding& finding : parse_findings(file.bytes, std::string(file.path))) all.push_back(std::move(finding));
  }
  return all;
}

}  // namespace

std::vector<Finding> parse_findings(std::string_view text, const std::string& where) {
  const InfoNode root = InfoNode::parse(text, where);
  std::vector<Finding> findings;
  visit_groups(root, [&](const FindingId& id, const InfoNode& block) {
    findings.push_back({id, read_deployment(block, id.oracle, audit::kLedgerEngine)});
  });
  root.finish();
  return findings;
}

std::vector<KnownPlace> parse_known_places(std::string_view text, const std::string& where) {
  const InfoNode root = InfoNode::parse(text, where);
  std::vector<KnownPlace> places;
  for (const Block& block : members("the file", root)) places.push_back(read_place(static_cast<int>(places.size()) + 1, block));
  root.finish();
  return places;
}

std::span<const Finding> known_findings() {
  static const std::vector<Finding> kFindings = read_built_in();
  return kFindings;
}

std::span<const KnownPlace> known_places() {
  static const std::vector<KnownPlace> kPlaces = parse_known_places(embedded::known_places[0].bytes, std::string(embedded::known_places[0].path));
  return kPlaces;
}

}  // namespace mx::support
