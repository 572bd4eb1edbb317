#pragma once
// Which of the model's layouts a recorded conversion is held to.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "golden/witness/fields.hpp"
#include "model/layout/backend.hpp"
#include "model/layout/layout.hpp"

namespace mx::golden {

/// A tensor of a layout set.
struct ArrayShape {
  std::vector<std::int64_t> extents;
  std::int64_t elements = 0;
  int element_bytes = 0;
  std::int64_t bytes() const { return elements * element_bytes; }
};

/// One entry of a layout-vectors/2 set, as far as all kinds share it. The JSON outlives it.
struct LayoutEntry {
  std::string id;
  std::string kind;
  std::string level = "must";
  std::string layout;
  std::string stage;
  std::string version;
  std::string role;
  std::string where;
  const Json* json = nullptr;
  const Json* params = nullptr;
  ArrayShape input;
};

/// The sizes of one conversion, as its entry states them; what does not apply is absent.
struct ConversionSizes {
  std::map<std::string, std::int64_t, std::less<>> numbers;  ///< E intermediate hidden, or batch rows cols epilogue_tile_m
  bool has_bias = true;
};

/// A conversion that the model knows: one row of the table in layout_model.cpp, with the sizes filled in.
struct KnownConversion {
  bool whole_backend = false;  ///< else one building block
  const layout::BackendLayout* backend = nullptr;
  layout::SourceOrder order = layout::SourceOrder::gpt_oss;
  std::string stage_name;
  ConversionSizes sizes;
};

/// Reads layout name, stage, version and params. Throws Unmodelled when the model has no such conversion.
KnownConversion conversion_of(const LayoutEntry& entry);

/// Memory before and after; both have the same logical axes.
struct LayoutModel {
  layout::Layout source;
  layout::Layout packed;
  const layout::Cast* cast;
};

/// Throws Error(usage) when the model refuses the sizes.
LayoutModel build_model(const KnownConversion& conversion, const std::string& role, int element_bits);

/// The first rule that the model sees broken, or none when it converts. Text without the numbers, to compare reasons with.
std::optional<std::string> refusal(const KnownConversion& conversion, const std::string& role, int element_bits);

}  // namespace mx::golden
