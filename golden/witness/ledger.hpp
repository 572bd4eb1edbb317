#pragma once
// What recorded outputs hold that no model can claim: for each, who produced it, under which condition, and why. A value that differs and meets a
// row's condition is excused: counted apart, never as equal. The rows speak of implementations and conditions, not of sets or files.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "golden/witness/manifest.hpp"
#include "golden/witness/tensor.hpp"
#include "golden/witness/witness.hpp"

namespace mx::golden {

/// Part of a row's condition: a parameter of the entry has this word. No key: any entry.
struct ParamIs {
  std::string_view key;
  std::string_view word;
};

/// When a value that differs is excused; all of it must hold.
struct LedgerCondition {
  ParamIs param;
  std::string_view output;                       ///< the output that the value belongs to
  std::optional<std::int64_t> x_abs_below_pow2;  ///< input x at the same index is a number, not 0, and |x| < 2^n
  std::int64_t at_most;                          ///< distance of the recorded and the model's code, as relation `ulp` has it
  std::int64_t share;                            ///< at most one in this many compared values of an output; if more match, all differ. 0: any number
};

struct LedgerRow {
  std::string_view implementation;
  std::string_view device;
  std::string_view build;
  std::string_view op;  ///< empty: any
  LedgerCondition condition;
  std::string_view reason;
};

std::span<const LedgerRow> ledger();

/// "encode, codes: 0 < |x| < 2^-48, at most 1 code apart"
std::string condition_text(const LedgerRow& row);

/// A row that may excuse values of one output.
struct Excuse {
  const LedgerRow* row = nullptr;
  std::vector<bool> inputs;  ///< elements whose input meets the condition; empty: all
};

/// The rows that apply to one output of an entry. `input_x` gives the entry's input x; it is called when a row looks at it and the entry has one.
std::vector<Excuse> excuses_for(const Entry& entry, const std::string& output, const std::function<Tensor()>& input_x);

/// Whether the excuse covers element i, whose codes are this far apart.
bool covers(const Excuse& excuse, std::int64_t i, std::uint64_t distance);

/// How many of `compared` values the row may excuse at most.
std::int64_t most_excused(const LedgerRow& row, std::int64_t compared);

}  // namespace mx::golden
