#pragma once
// A law: a property with a name, run by RapidCheck or as a plain exhaustive loop. A failure ends with one line that replays it.
//
// The catalogue, by the number that an id begins with:
//   N1  a code decoded and encoded again is the same code, NaNs aside
//   N2  encoding is the exact value rounded once, for every rounding; so monotone and odd; stochastic ones for the right share of random numbers
//   N3  codes and flags of overflow, underflow, Inf, NaN and flushing, under every rounding, overflow rule and NaN rule
//   N4  each of the 256 scale bytes in fp32, bf16 and fp16
//   N5  the largest magnitude of a block gives the scale of the rule
//   N6  elements of a block stay within its range; zero, NaN and Inf blocks
//   N7  the same bits whoever computes: the fast twin of encode, any number of inputs; quantizers, dequantizers, elementary functions, products and
//       the layer on every tier
//   N8  two-level scales can be folded and split; a tensor's own scale matters
//   N9  an exact sum is rounded once, whatever the order; so are operations of a unit, and integers (ours, beyond the first catalogue)
//   N10 a dot product under a contract is its description in integers (ours, as the next three)
//   N11 products with a zero count for nothing
//   N12 where every partial sum is exact, all contracts agree
//   N13 powers of two move from the factors to the result
//   N14 elementary functions are correctly rounded, never decrease, and are odd where mathematics says so (ours)
//   N15 wide arithmetic is rounded once to 64 bits (ours)
//   N16 the text of a format with its rules, or of block rules, is read as what it says, and printed the same (ours)
//   L1  a layout is one to one, and image and padding fill the allocation
//   L2  unique tags arrive where the closed formulas have them
//   L3  a scale follows its weights: dequantizing and packing commute
//   L4  what padding holds does not matter
//   L5  what one packs for a backend no other reads: part of L7 (PackedLayer::require at run time; that a packed layer is no checkpoint is a type);
//       scales reach a kernel in the memory that it reads
//   L6  packing commutes with giving experts to ranks, and what tensor parallel ranks load, convert and execute adds up to the layer
//   L7  packing is undone by restoring, but for what is reported lost
//   L8  gate and up meet row by row where the kernel multiplies them, and are not exchanged; the activation tells them apart
//   L9  sizes are those of the documents: what a converter pads them to; that they fill the allocation is part of L1
//   L10 compare reports every changed unit at its place (ours)
//   S1  every constant of an activation matters; of other parameters over random deployments: tests/sim/ranks/semantic_laws.cpp
//   S2  a router chooses and weighs as its restatement does
//   S3  expert-parallel ranks add up to one rank
//   S4  renaming experts and reordering tokens renames and reorders results, no more
//   S5  what a token gives does not depend on its batch
//   S6  a run of a layer that starts from any of its stages goes on as the whole run (ours)
//   O1  what is chosen satisfies its kernel's needs
//   O2  a wish is met or refused with a reason
//   O3  nothing better is skipped; more software or a newer device of the same family never gives less
//   O4  every deployment has a choice or a refusal with a reason
//   O5  the tables of choice, class, need and layout are complete
//   O6  a fallback is visible
//   O7  what later versions answer is what their documents say
//   O8  a configuration gives experts the method that the engine gives them, and tensors that contradict it are refused; a defect
//       in the tensors is named, and no sound checkpoint has one (ours)
//   T1  every law fails under a planted fault: tests/props/faults_test.cpp; and what checks devices can fail: props/vectors/laws.cpp
//   T2  laws share no code with what they judge: tests/props/independence.sh

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace mx::props {

/// Outcome of one law.
struct Outcome {
  bool held;
  std::uint64_t cases;   ///< how many were tried
  std::string message;   ///< counterexample and replay line when it did not hold
  std::string counts{};  ///< of a law over the rows of a table: a line for each row, what was tried of it
};

/// One law of the catalogue. `id` is unique and begins with the catalogue's number: "N1/e4m3fn".
struct Law {
  std::string_view id;
  std::string_view statement;
  Outcome (*run)(const Law& law);
  std::string_view program = "mxact_laws";  ///< that the line which replays a failure calls
};

std::span<const Law> numeric_laws();
std::span<const Law> layout_laws();
std::span<const Law> moe_laws();
std::span<const Law> oracle_laws();
std::span<const Law> configuration_laws();
std::span<const Law> sim_laws();

/// Runs a RapidCheck testable under the law's id, with the configuration of RC_PARAMS and so many cases where that names no max_success. The first
/// line of a failure's message begins with the id; its last line, "replay: RC_PARAMS='reproduce=...' PROGRAM 'ID'", repeats the smallest case.
/// RapidCheck passes over what it is not told to reproduce and calls that a success: such a law does not hold here. A property without a name could
/// not be told apart: an empty id throws std::logic_error. Where CI is set (and is not empty, 0 or false), RC_PARAMS with reproduce= throws
/// Error(usage): one case is no test.
Outcome check_property(const Law& law, const std::function<void()>& property, int usual_cases = 100);

/// A law over the rows of a table: the property of each row is run as check_property runs one, until one fails. A replay goes to the row that it
/// names and to no other.
struct RowProperty {
  std::string row;                      ///< names the row in counts, messages and replays
  std::function<void()> property;       ///< one case
  std::function<std::string()> counts;  ///< what the cases tried, asked for at the end
};
Outcome check_rows(const Law& law, std::span<const RowProperty> rows, int usual_cases);

/// While one lives, laws run with these parameters instead of those of RC_PARAMS: "reproduce=..." of a recorded failure.
class Replaying {
 public:
  explicit Replaying(std::string params);
  ~Replaying();
  Replaying(const Replaying&) = delete;
  Replaying& operator=(const Replaying&) = delete;
};

/// For exhaustive laws: fails with the message of the first counterexample, counts the cases. A run of no cases does not hold.
class Exhaustive {
 public:
  explicit Exhaustive(const Law& law) : law_(law) {}
  /// One case; `describe` is called for the first failure only.
  void expect(bool holds, const std::function<std::string()>& describe);
  Outcome outcome() const;

 private:
  const Law& law_;
  std::uint64_t cases_ = 0;
  std::uint64_t failures_ = 0;
  std::string first_;
};

}  // namespace mx::props
