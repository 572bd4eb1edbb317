#pragma once
// Which converter of the model a recorded call is held to, and with what: layout name, block, version, params, device and input of an entry become a
// call of a building block, of a block that changes values, or of a whole backend. Each word is a row of a table in the .cpp files.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "golden/witness/layout_entry.hpp"
#include "model/families/building_block.hpp"
#include "model/families/memory.hpp"
#include "model/families/value_block.hpp"

namespace mx::golden {

/// One tensor through one building block.
struct BlockCall {
  const families::BuildingBlock* block;
  families::BlockRequest request;
  std::int64_t rank;      ///< axes of the input as it was handed over
  std::string dtype;      ///< likewise
  int element_bits;       ///< of the dtype
  std::int64_t elements;  ///< of K in a row
};

/// Tensors through one building block that changes values.
struct ValueCall {
  const families::ValueBlock* block;
  std::string version;
  families::BlockParams params;
  std::optional<std::uint8_t> byte;  ///< every byte of the tensor, where params state it
  ArrayShape input;                  ///< of the first tensor, in entries that have no literal bytes
  std::int64_t rank;                 ///< its axes as they were handed over
  std::string dtype;                 ///< likewise
};

/// A layer through a backend's conversion.
struct BackendCall {
  std::string backend;
  families::Setting setting;
  std::optional<layout::Role> role;  ///< none: all tensors
  std::optional<std::uint8_t> byte;  ///< every byte of the tensor in `role`, where params state it

  /// None when the model has no such conversion, or the engine has none for this form.
  const families::BackendLayout* row() const;
};

using LayoutCall = std::variant<BlockCall, ValueCall, BackendCall>;

/// Throws Unmodelled for words and parameters that the model does not have, Error(input) when params contradict the input.
LayoutCall call_of(const LayoutEntry& entry);

/// The parts of call_of.
std::optional<BlockCall> block_call(const LayoutEntry& entry);
std::optional<ValueCall> value_call(const LayoutEntry& entry);
BackendCall backend_call(const LayoutEntry& entry);

/// "no layout model for NAME", and why.
[[noreturn]] void no_model(const LayoutEntry& entry, const std::string& why = {});

/// Sizes in params are at most this.
inline constexpr std::int64_t kLargestSize = std::int64_t{1} << 31;

}  // namespace mx::golden
