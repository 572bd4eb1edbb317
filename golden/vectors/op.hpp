#pragma once
// What a device is tested on: an operation with its columns, its right answers, the inputs worth trying, and the wrong rules that a device may
// follow.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "golden/vectors/edition.hpp"
#include "model/numerics/format.hpp"
#include "model/numerics/value.hpp"
#include "support/random.hpp"

namespace mx::golden {

/// One column of a vector: `lanes` numbers of `bits` bits. As text it is one hex number, lane 0 in its least significant bits.
struct Column {
  std::string name;
  int lanes;
  int bits;                        ///< of a lane, 1 to 32
  const Format* format = nullptr;  ///< of the lanes' codes; null: whole numbers
  bool flags = false;              ///< exception flags, not the answer itself

  int width() const { return lanes * bits; }
  int digits() const { return (width() + 3) / 4; }
};

/// Lanes of several columns, one after the other.
using Lanes = std::span<const std::uint32_t>;
using MutableLanes = std::span<std::uint32_t>;
/// How many lanes the columns have together.
std::size_t lane_count(std::span<const Column> columns);

/// One fact about an operation, for headers and manifests: "profile" = "ocp".
struct OpSetting {
  std::string key;
  std::string value;
  friend bool operator==(const OpSetting&, const OpSetting&) = default;
};

/// One question about a vector, of whose answers ("bins") every vector has at most one.
struct CoverageAxis {
  std::string name;
  std::vector<std::string> bins;
};
/// Bin of each axis, counted from 1; 0: none.
using Bins = std::vector<std::uint8_t>;

/// What a mismatch is about.
enum class FaultClass { rounding, saturation, nan, subnormal, sign, scale, order, address, dialect, value };
std::string_view name_of(FaultClass cls);

/// A wrong rule: the answers of a device that follows it, given the operands and the right answers.
struct WrongRule {
  FaultClass cls;
  std::string name;  ///< "rounding toward_zero", "nibbles swapped"
  std::function<void(Lanes operands, Lanes right, MutableLanes answer)> answer;
};

/// The operation under other choices, which rules as text can say (model/numerics/rules.hpp).
struct Composition {
  std::string name;  ///< as `gen` and `ver` take it: "f32_to_e4m3,bias=7,fn,round=rtz,overflow=saturate,nan=7f/ff"
  int choices;       ///< that are other than under test
  std::function<void(Lanes operands, MutableLanes answer)> answer;
};

/// What a device answered wrongly.
struct WrongAnswer {
  Lanes operands, right, answer;
};

/// An operation under fixed choices. Thread-safe: nothing in it changes.
class VectorOp {
 public:
  virtual ~VectorOp() = default;
  VectorOp(const VectorOp&) = delete;
  VectorOp& operator=(const VectorOp&) = delete;

  const std::string& name() const { return name_; }
  std::string_view family() const { return family_; }
  Edition edition() const { return edition_; }
  const std::vector<OpSetting>& settings() const { return settings_; }  ///< every choice, in a fixed order
  const std::vector<Column>& operands() const { return operands_; }
  const std::vector<Column>& results() const { return results_; }
  const std::vector<CoverageAxis>& axes() const { return axes_; }

  /// The right answer. Throws what the model throws for operands that have none.
  virtual void evaluate(Lanes operands, MutableLanes results) const = 0;

  /// Which bits of the answer are compared: by default all.
  virtual void mask(Lanes operands, Lanes results, MutableLanes masks) const;

  /// One bin of each axis. `bins` has axes().size() places.
  virtual void bins(Lanes operands, Lanes results, std::span<std::uint8_t> bins) const = 0;
  /// Why no vector can be in the bin (axis and bin counted from 0); asked for bins that the directed set does not reach.
  virtual std::string why_unreachable(std::size_t axis, std::size_t bin) const = 0;

  /// The operands worth trying, each once: `sink` takes one vector at a time.
  virtual void directed(const std::function<void(Lanes)>& sink) const = 0;
  /// One random vector, weighted towards what decides something.
  virtual void random(support::SplitMix64& random, MutableLanes operands) const = 0;
  /// How many vectors there are in all; 0: more than anyone writes down.
  virtual std::uint64_t exhaustive_count() const;
  /// One of them.
  virtual void exhaustive(std::uint64_t index, MutableLanes operands) const;

  /// What a lane of the answer is before it is rounded, to 64 significant bits; none where the operation does not say.
  virtual std::optional<Value> exact(Lanes operands, Lanes right, std::size_t lane) const;

  /// What a mismatch at these operands is about, in a word for people: "tie", "NaN input".
  virtual std::string_view kind(Lanes operands, Lanes right) const = 0;
  /// Wrong rules that a device may follow, the likeliest first among equals. Each outlives the operation.
  virtual std::vector<WrongRule> wrong_rules() const = 0;
  /// The operation with one of its choices changed, then with two of them, each once; codes of NaN are those of the wrong answers. None where choices
  /// are no text.
  virtual std::vector<Composition> compositions(std::span<const WrongAnswer> wrong) const;

 protected:
  VectorOp(std::string name, std::string_view family, Edition edition) : name_(std::move(name)), family_(family), edition_(edition) {}

  std::string name_;
  std::string_view family_;
  Edition edition_;
  std::vector<OpSetting> settings_;
  std::vector<Column> operands_;
  std::vector<Column> results_;
  std::vector<CoverageAxis> axes_;
};

/// Wrong rules of any operation with these result columns: orders, signs, zeros.
std::vector<WrongRule> common_wrong_rules(const std::vector<Column>& results);

/// At most this many vectors are written as an exhaustive set.
inline constexpr std::uint64_t kMostExhaustive = std::uint64_t{1} << 24;

}  // namespace mx::golden
