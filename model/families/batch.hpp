#pragma once
// Whether a token's result depends on what runs beside it: a word for each row of the executions on a device, by version, and where it changes.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/families/arithmetic.hpp"
#include "model/families/launch.hpp"

namespace mx::families {

enum class Batch : std::uint8_t {
  unknown,
  invariant,
  changes,         ///< at a boundary, or with the tokens beside it
  not_repeatable,  ///< not even two runs of the same batch agree
};
std::string_view name_of(Batch batch);

/// What keeps the bits of a row that changes, beside nothing.
enum class Steady : std::uint8_t {
  by_nothing,
  by_tile,         ///< a tile that is given, or VLLM_BATCH_INVARIANT
  by_whole_tiles,  ///< that variable, or a launch that cuts no tile's k
};

struct BatchRow {
  std::string_view backend;
  std::span<const layout::WeightFormat> formats;
  bool (*on)(const Operation& operation);
  deployment::Versions engines;
  Batch word;           ///< invariant or changes
  std::int64_t last;    ///< of changes: so many of `of` give one result, one more another; 0: `of` says with what it changes
  std::string_view of;  ///< "tokens", "slots"
  Steady steady;
  std::int64_t unsteady;   ///< so many slots and more are not repeatable; 0: no number decides
  std::string_view where;  ///< likewise, in words
  Grounds grounds;
  std::string_view source;
  bool is_tuned = false;  ///< the tiles of a tuned file take the place of those that this speaks of
};
std::span<const BatchRow> batch_rows();

/// What is said of a backend.
struct BatchWord {
  Batch word = Batch::unknown;
  std::string where = {};  ///< of changes and not_repeatable; of unknown why
  Grounds grounds = Grounds::assumed;
  std::string_view source = {};
};
/// "changes: from 64 to 65 tokens", "unknown: its launches were compared on sm90 alone"
std::string text_of(const BatchWord& word);

/// Whom it is said of.
struct BatchQuery {
  layout::WeightFormat format;
  std::string_view backend;
  Operation operation;
  deployment::Engine engine;
  const Quantizer* first = nullptr;  ///< of what enters the two products; null: not known
  const Quantizer* second = nullptr;
  const LaunchChoice* choice = nullptr;    ///< null: the engine's own
  std::optional<std::int64_t> slots = {};  ///< of the launch; none: any
};
BatchWord batch_of(const BatchQuery& query);

}  // namespace mx::families
