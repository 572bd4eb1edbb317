#pragma once
// Arithmetic contracts: the declared order and rounding of a dot product, as rows of data. A result without a contract's name means nothing.
// How a row is executed: dot.hpp.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/grounds.hpp"
#include "model/numerics/format.hpp"

namespace mx {

/// The first rows by name. Those of tensor_core_contracts() follow in their order, and behind them records that were asked for by their text.
enum class Contract : int {
  exact,
  f32_sequential,
  bf16_chain,
  bf16_block,
  int8_block,
  hopper_fp8,
  hopper_fp8_promoted,
  hopper_fp8_block_1x128,
  hopper_fp8_block_128x128,
  hopper_bf16,
  hopper_fp16,
  hopper_mma_fp8,
  hopper_bf16_v1,
  bf16_pair,
};

/// How one product enters a chain.
enum class Step {
  exact,     ///< the whole chain is an exact sum, rounded once to fp32, nearest even
  fused,     ///< one fp32 fused multiply-add, nearest even
  aligned,   ///< a group of products at once: truncated to a common unit, summed exactly, truncated (`alignment_bits`, `kept_bits`)
  pairwise,  ///< a group of products, each rounded to fp32: a tree of neighbours, then the sum before, every addition one fp32 operation
};

/// Where the scales of the operands enter. S is the sum of one chain, v the total over the chains, d the whole dot product, a and b the scales;
/// every product and fused multiply-add is one fp32 operation, nearest even, subnormals kept.
enum class ScaleEntry {
  operand,                  ///< folded into each element before its cast: the exact product, rounded once by the cast
  chain_product,            ///< v = fma(S, a * b, v)
  chain_one_by_one,         ///< v = fma(S * a, b, v)
  chain_b_first,            ///< v = fma(S * b, a, v)
  total_product,            ///< d * (a * b), one scale for all k
  total_one_by_one,         ///< (d * a) * b, likewise
  total_b_first,            ///< (d * b) * a, likewise
  total_product_plus_zero,  ///< fma(d, a * b, +0), likewise: a zero d, or a zero factor, gives +0
  term,                     ///< block scales that multiply the exact products before they are aligned; `scale_format`, `scale_block`
};

/// Whether each chain's sum meets scales of its own.
constexpr bool scales_chains(ScaleEntry entry) {
  return entry == ScaleEntry::chain_product || entry == ScaleEntry::chain_one_by_one || entry == ScaleEntry::chain_b_first;
}

/// What the exponent of an aligned term is.
enum class Reference {
  product,  ///< of its factors' exponent fields, and of those of its scales where these enter the terms
  scale,    ///< of its scales alone, however large the sum of products
};

/// What becomes of bits below the last one that is kept.
enum class Loss {
  toward_zero,
  floor,  ///< toward minus infinity
  nearest_even,
  odd,  ///< or-ed into the last bit
};

/// Where the sum before an aligned group enters; at the beginning it is C.
enum class AddendPlace {
  term,    ///< one more term of the alignment
  joined,  ///< behind the products' sum, by an alignment of its own: `Join`
  last,    ///< C is added to the finished sum, one addition in the result's format; inside, sums before are terms
};

/// Which sums are -0.
enum class SumZero {
  ieee,          ///< sums of -0 alone, and negative ones that round to zero
  plus,          ///< none
  rounded_only,  ///< negative ones that round to zero
};

/// How the products' sum and the sum before meet under AddendPlace::joined: T is the larger exponent of both, each is cut down to multiples of a
/// power of two below 2^T and the exact sum to so many fraction bits, all toward minus infinity; then it is rounded as the row says.
struct Join {
  int sum_bits = 0;      ///< the products' sum: multiples of 2^(T - this)
  int addend_bits = 0;   ///< the sum before: multiples of 2^(T - this)
  int addend_reach = 0;  ///< a sum before with an exponent below T - this is left out; 0: none is
  int normal_bits = 0;   ///< fraction bits of the normalized sum before it is rounded

  friend bool operator==(const Join&, const Join&) = default;
};

/// Who was seen to compute what a row says.
enum class Evidence : std::uint8_t {
  definition,           ///< nobody: it is a definition
  silicon,              ///< a device of ours, bit for bit
  silicon_of_others,    ///< recorded outputs of a device of others, bit for bit
  simulator_of_others,  ///< outputs of a model of others alone
  own_record,           ///< nobody: a record that a user wrote
};
std::string_view name_of(Evidence evidence);

/// k as they come.
inline constexpr std::array<std::uint8_t, 1> kAscending{0};

/// Below every exponent of a product: E has no lower bound.
inline constexpr int kAnyExponent = -1000;

/// One contract. Without restarts a dot product is one chain over k that starts from C (+0 when there is none). With restarts the total starts from
/// C, every chain from +0, and each chain's sum enters the total by one fp32 operation. Then come the scales of the total, and the bias. Whoever
/// records another place of the scales copies a row and replaces `scales` (and `restart`, when they come in blocks).
struct ContractRow {
  Contract contract = Contract::exact;
  std::string_view name = {};
  std::string_view operands = {};      ///< for people: how operands are widened
  std::string_view accumulation = {};  ///< for people: order, grouping and rounding
  std::string_view bias = {};          ///< for people: where the bias enters

  // What is not said is as in an empty record.
  std::span<const Format* const> a_formats = {};  ///< formats that the first operand may be in; empty: any values
  std::span<const Format* const> b_formats = {};  ///< likewise of the second one
  const Format* cast = nullptr;                   ///< both operands are rounded to it, nearest even, overflow to Inf; null: taken as they are
  bool cast_cuts = false;                         ///< the cast truncates instead: low bits of a register that are not read
  bool flush = false;                             ///< subnormals become zero, with their sign: of cast operands, of sums before and after each step
  bool flush_to_plus = false;                     ///< with `flush`: subnormals and -0 among operands and sums before become +0
  ScaleEntry scales = ScaleEntry::operand;
  std::span<const std::uint8_t> order =
      kAscending;  ///< the k taken first, second, ... of each `order.size()` consecutive ones; missing ones are zero
  Step step = Step::exact;
  const Format* product = nullptr;           ///< each product is rounded to it, nearest even; null: products are exact
  int group = 0;                             ///< aligned: products in a group
  int presum = 1;                            ///< aligned: neighbouring products that are summed exactly to one term
  int lanes = 1;                             ///< aligned: products k mod n are aligned apart; their sums meet, cut down, at the largest E. fused:
                                             ///< they are chains from +0, added in order, and what that gives to the sum before
  Reference reference = Reference::product;  ///< aligned
  int zero_exponent = kAnyExponent;          ///< aligned: what a term that is zero counts as; kAnyExponent: it does not count
  int least_exponent = kAnyExponent;         ///< aligned: E is at least this
  int alignment_bits = 0;                    ///< aligned: addends become multiples of 2^(E - this), E the largest nominal exponent of the group
  Loss alignment_loss = Loss::toward_zero;   ///< aligned
  int product_limit = 0;                     ///< aligned: a product of 2^this and more is Inf; 0: none is
  int kept_bits = 0;                         ///< aligned: significant bits of a group's sum
  Loss result_loss = Loss::toward_zero;      ///< aligned: of a group's sum
  bool overflow_is_largest = false;          ///< aligned, exact: finite sums beyond the result's format are its largest number instead of Inf
  AddendPlace addend_place = AddendPlace::term;
  Join join = {};  ///< of AddendPlace::joined
  SumZero zero_sign = SumZero::ieee;
  const Format* addend = &kF32;  ///< format of C: fp32 or fp16
  const Format* result = &kF32;  ///< format of sums and of the result: fp32 or fp16
  int restart = 0;               ///< products in a chain; 0: one chain for all k; kScaleBlock: as many as share a scale, of which there must be some
  int split = 1;                 ///< parts of k, each a sum from +0, added in order; C is added after them
  int split_tile = 0;            ///< parts are whole runs of so many k, the same number in each but the last
  const Format* scale_format = nullptr;  ///< of ScaleEntry::term; the sign of a scale is not read
  int scale_block = 0;                   ///< of ScaleEntry::term: elements that share a scale
  bool bias_in_sum = false;              ///< the bias is a term of the exact sum; else one fp32 add at the end
  std::uint32_t nan = 0x7FC00000U;       ///< fp32 bits of every NaN result

  Evidence evidence = Evidence::definition;
  Grounds grounds = Grounds::definition;
  std::string_view source = {};
  std::span<const Recording> recordings = {};  ///< of rows that were run
  std::string_view known_to_differ = {};       ///< where a device was seen to contradict the row; empty: nowhere
};

inline constexpr int kScaleBlock = -1;

/// The contracts of this project's first editions: the yardsticks, Hopper's and the processors'. Names are unique over both tables.
std::span<const ContractRow> all_contracts();
/// Every instruction class of tensor and matrix cores whose sum is public.
std::span<const ContractRow> tensor_core_contracts();

/// A format of factors alone: tf32, 19 bits of a register of 32.
inline constexpr Format kTf32{"tf32", Encoding::floating, 19, 8, 10, 127, Specials::ieee, true, "PTX ISA, tf32: the upper 19 bits of a register"};
/// What factors of products may be in: all_formats() at their places there, and tf32 behind them.
std::span<const Format> factor_formats();
/// One of them by name. Throws Error(usage) with the nearest known name.
const Format& factor_format_named(std::string_view name);

/// The row of a table or of a record that contract_named() read.
const ContractRow& row_of(Contract contract);
/// A name of either table, or the text of a record (record_of). Throws Error(usage) with the nearest known name, or for a record what is wrong in it.
/// A record keeps its value as long as the program runs; the same record has the same one.
Contract contract_named(std::string_view name);
/// The name; of a record its text.
std::string_view name_of(Contract contract);

/// A contract as one string without blanks: "step=aligned:group=16:align=25:keep=24". Fields that are as in an empty record are left out, so that
/// equal arithmetic has equal text. record_of(text_of(row)) has the same arithmetic.
std::string text_of(const ContractRow& row);
/// True for what contract_named() reads as a record: a field with '=', behind a name of a table or alone.
bool is_record(std::string_view text);
/// One field of a record.
struct RecordField {
  std::string_view key;
  std::string_view meaning;
  std::string_view values;
};
std::span<const RecordField> record_fields();

}  // namespace mx
