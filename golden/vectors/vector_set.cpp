#include "golden/vectors/vector_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "golden/vectors/text.hpp"
#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::golden {
namespace {

constexpr std::array<std::string_view, 3> kKinds{"directed", "exhaustive", "random"};

}  // namespace

std::string_view name_of(SetKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

SetKind set_kind_named(std::string_view name) {
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (same_name(kKinds[i], name)) return static_cast<SetKind>(i);
  }
  throw Error(ErrorCode::usage, unknown_name("set", name, kKinds));
}

VectorSet::VectorSet(const VectorOp& op, const SetChoice& choice) : op_(&op), choice_(choice), random_(choice.seed) {
  if ((choice.kind == SetKind::random) != choice.count.has_value()) {
    throw Error(ErrorCode::usage, choice.count
                                      ? fmt::format("--count {}: a set that is {} has the vectors that it has", *choice.count, name_of(choice.kind))
                                      : "--count is required: a random set has no number of vectors of its own");
  }
  switch (choice.kind) {
    case SetKind::random: count_ = *choice.count; break;
    case SetKind::exhaustive:
      count_ = op.exhaustive_count();
      if (count_ == 0 || count_ > kMostExhaustive) {
        // One number of 32 bits is swept; the operands of all else are too many for anything.
        const std::vector<Column>& operands = op.operands();
        const bool is_swept = operands.size() == 1 && operands.front().width() == 32;
        throw Error(ErrorCode::usage, fmt::format("{}: an exhaustive set has more than {} vectors; {}", op.name(), kMostExhaustive,
                                                  is_swept ? "mxact sweep digests all 2^32 inputs of a conversion"
                                                           : "--set random --count N draws as many as you say"));
      }
      break;
    case SetKind::directed: {
      const std::size_t lanes = lane_count(op.operands());
      op.directed([&](Lanes operands) { directed_.insert(directed_.end(), operands.begin(), operands.end()); });
      count_ = directed_.size() / lanes;
      break;
    }
  }
}

bool VectorSet::next(MutableLanes operands) {
  if (at_ == count_) return false;
  switch (choice_.kind) {
    case SetKind::random: op_->random(random_, operands); break;
    case SetKind::exhaustive: op_->exhaustive(at_, operands); break;
    case SetKind::directed:
      std::copy_n(directed_.begin() + static_cast<std::ptrdiff_t>(at_ * operands.size()), operands.size(), operands.begin());
      break;
  }
  ++at_;
  return true;
}

Column bins_column(const VectorOp& op) { return {"bins", static_cast<int>(op.axes().size()), 8}; }

std::vector<Column> mask_columns(const VectorOp& op) {
  std::vector<Column> columns;
  for (const Column& result : op.results()) columns.push_back({result.name + "_mask", result.lanes, result.bits});
  return columns;
}

std::vector<Column> file_columns(const VectorOp& op) {
  std::vector<Column> columns = op.operands();
  columns.insert(columns.end(), op.results().begin(), op.results().end());
  const std::vector<Column> masks = mask_columns(op);
  columns.insert(columns.end(), masks.begin(), masks.end());
  columns.push_back(bins_column(op));
  return columns;
}

void file_lanes(const VectorOp& op, Lanes operands, std::vector<std::uint32_t>& lanes) {
  const std::size_t results = lane_count(op.results());
  lanes.resize(operands.size() + 2 * results + op.axes().size());
  std::ranges::copy(operands, lanes.begin());
  const MutableLanes answer = MutableLanes(lanes).subspan(operands.size(), results);
  op.evaluate(operands, answer);
  op.mask(operands, answer, MutableLanes(lanes).subspan(operands.size() + results, results));
  std::vector<std::uint8_t> bins(op.axes().size());
  op.bins(operands, answer, bins);
  std::ranges::copy(bins, lanes.begin() + static_cast<std::ptrdiff_t>(operands.size() + 2 * results));
}

std::vector<OpSetting> header_facts(const VectorOp& op, const VectorSet& set) {
  std::vector<OpSetting> facts{{"op", op.name()}, {"set", std::string(name_of(set.choice().kind))}};
  if (set.choice().kind == SetKind::random) facts.push_back({"seed", fmt::format("{}", set.choice().seed)});
  facts.push_back({"n", fmt::format("{}", set.count())});
  facts.insert(facts.end(), op.settings().begin(), op.settings().end());
  facts.push_back({"order", "le"});
  // Facts stand between blanks.
  for (OpSetting& fact : facts) std::ranges::replace(fact.value, ' ', '-');
  return facts;
}

std::string header_text(const VectorOp& op, const VectorSet& set, std::span<const Column> columns) {
  std::string text = fmt::format("// mxact-vectors {}", header_version(op.edition()));
  for (const OpSetting& fact : header_facts(op, set)) text += fmt::format(" {}={}", fact.key, fact.value);
  text += "\n// cols:";
  for (const Column& column : columns) text += " " + column_text(column);
  return text + "\n";
}

}  // namespace mx::golden
