#pragma once
// The fields of a contract as text: one table prints and reads them all. For the .cpp files of this folder.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/numerics/contract.hpp"

namespace mx::record {

/// What a record has where nothing is said.
const ContractRow& empty();

/// A row in the making, and what it points to.
struct Draft {
  std::string_view text;  ///< the record, for errors
  ContractRow row;
  std::vector<const Format*> a_formats, b_formats;
  std::vector<std::uint8_t> order;
};

/// One field: how it is printed, and read into a draft. Reading throws Error(usage) that names the field and what it takes.
struct Field {
  RecordField say;
  std::string (*print)(const ContractRow&);
  void (*read)(Draft&, std::string_view key, std::string_view value);
};

/// All fields, in the order of a record's text.
std::span<const Field> fields();

/// The pieces of a text between separators, empty ones too.
std::vector<std::string_view> parts_of(std::string_view text, char separator);

/// Throws Error(usage) that begins with the record.
[[noreturn]] void refuse(std::string_view record, const std::string& text);

}  // namespace mx::record
