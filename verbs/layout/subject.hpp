#pragma once
// What the layout verbs speak of: a name of the tables with everything else that a layout depends on, resolved into a program.

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/families/building_block.hpp"
#include "model/families/memory.hpp"
#include "model/families/value_block.hpp"

namespace mx::verbs {

/// One choice: "engine" = "2026-08".
struct KeyValue {
  std::string key;
  std::string value;
};

/// A name and the choices for it, of which the last one of a key holds.
struct LayoutQuery {
  std::string name;
  std::vector<KeyValue> fields;
};
/// From "NAME" or "NAME,key=value,key=value", behind the choices of `common`. A NAME that is a model's directory or configuration becomes the backend
/// that the engine chooses for it on the platform that is among the choices, with its shape and format before them. Throws Error(usage) on a part
/// without "=", and as served_model and chosen_backend do.
LayoutQuery query_from(std::string_view text, const std::vector<KeyValue>& common);
/// The last value of a key, or "".
std::string value_of(const LayoutQuery& query, std::string_view key);

/// What a name stands for in the tables: a building block, one that changes values, or a backend (a row per format and engine).
struct Named {
  const families::BuildingBlock* block = nullptr;
  const families::ValueBlock* value_block = nullptr;
  std::vector<const families::BackendLayout*> backends;
};
/// Throws Error(usage) with the nearest name.
Named layout_named(std::string_view name);

/// A tensor of a backend's layer, in one setting.
struct BackendChoice {
  const families::BackendLayout* row;
  layout::Role role;
  families::Setting setting;  ///< of one rank
  layout::Sizes whole = {};   ///< of all ranks together, as typed; empty: the sizes are a rank's own
};
/// A building block and what it is asked to lay out.
struct BlockChoice {
  const families::BuildingBlock* block;
  families::BlockRequest request;
};
using Choice = std::variant<BlockChoice, BackendChoice>;

/// One tensor's way into memory.
struct Subject {
  Choice choice;
  layout::Layout layout;
  const layout::Cast* cast;  ///< what becomes of the values, beside their way
};

/// Keys of a backend: shape (IxH or ExIxH) of the whole layer, which tp divides as the engine's loader does, or rank-shape of one rank; padded (IxH,
/// of a rank; by default what the engine rounds up to, where its rule is known), tensor, format, and those of setting_keys(). Keys of a building
/// block: shape (RxC or BxRxC), unit-bits, version, and its parameters. Shapes also by names: "E=1,I=128,H=64". Throws Error(usage) when a key or
/// value is unknown or missing, or when the name has no addresses. Needs are not checked.
Choice choice_of(const LayoutQuery& query);
/// The program. Throws Error(usage) when the converter refuses: the rule and the value.
Subject program_of(Choice choice);
/// The same; the error says the next sizes too that the converter takes, which takes a search.
Subject subject_of(const Choice& choice);
inline Subject resolve(const LayoutQuery& query) { return subject_of(choice_of(query)); }

std::string name_of(const Choice& choice);     ///< "sf_128x4", "FLASHINFER_TRTLLM_MXFP4_BF16 w13_weight"
std::string choices_of(const Choice& choice);  ///< "shape=1x128x4,unit-bits=8": the choices that query_from makes it of
std::string spec_of(const Choice& choice);     ///< "sf_128x4,shape=1x128x4,unit-bits=8"
const layout::Source& source_of(const Choice& choice);
std::string version_of(const Choice& choice);  ///< "flashinfer-2026-08", "engine 2026-05"

/// The digits that describe a layout's tiles: its own, or, where padding has none, those of the next larger sizes that have.
struct Tiles {
  std::vector<layout::Digit> digits;
  std::string of;  ///< the larger sizes, "" for the subject's own
};
/// None when no sizes near by have digits: the program carries.
std::optional<Tiles> tiles_of(const Subject& subject);

/// The choice with the next sizes that its converter takes, its own if it takes them: padded sizes of a layer or, where padding is refused, another
/// layer's sizes; rows and columns of a building block. None when none near by would do.
std::optional<BackendChoice> next_taken(const BackendChoice& choice);
std::optional<BlockChoice> next_taken(const BlockChoice& choice);

}  // namespace mx::verbs
