#include "golden/vectors/files/views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "golden/vectors/text.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "support/json.hpp"
#include "support/quote.hpp"
#include "support/safetensors.hpp"

namespace mx::golden {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

[[noreturn]] void refuse(const std::string& where, std::size_t line, const std::string& what) {
  throw Error(ErrorCode::input, fmt::format("line {}: {}", line, what), where);
}

std::span<const std::uint32_t> row_of(const VectorTable& table, std::size_t row) {
  return std::span(table.lanes).subspan(row * table.row_lanes(), table.row_lanes());
}

FileBytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

// Lines of fields.

FileBytes write_lines(const VectorTable& table, char separator) {
  std::string text = table.header;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    append_fields(text, table.columns, row_of(table, row), separator);
    text += '\n';
  }
  return bytes_of(text);
}

/// Lanes of one field. `line` is for the message.
void read_field(std::string_view field, const Column& column, MutableLanes lanes, const std::string& where, std::size_t line) {
  if (parse_field(field, column, lanes) == FieldFault::none && field.size() == static_cast<std::size_t>(column.digits())) return;
  refuse(where, line,
         fmt::format("{}: {} is no hex number of {} digits and {} bits", column.name, support::in_quotes(field), column.digits(), column.width()));
}

/// Lines that do not begin with `comment`, each handed on with its number; the text ends with a line feed.
template <typename Take>
void for_each_line(std::span<const std::uint8_t> bytes, const std::string& where, const Take& take) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    ++line;
    const std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) refuse(where, line, "the file ends within a line");
    take(text.substr(at, end - at), line);
    at = end + 1;
  }
}

std::vector<std::uint32_t> read_lines(std::span<const std::uint8_t> bytes, const std::vector<Column>& columns, const std::string& where) {
  std::vector<std::uint32_t> lanes;
  std::vector<std::string_view> fields(columns.size());
  const std::size_t row_lanes = lane_count(columns);
  for_each_line(bytes, where, [&](std::string_view text, std::size_t line) {
    if (text.starts_with("//")) return;
    const std::size_t count = split_fields(text, fields);
    if (count != columns.size()) refuse(where, line, fmt::format("{} fields, expected {}", count, columns.size()));
    lanes.resize(lanes.size() + row_lanes);
    MutableLanes row = MutableLanes(lanes).last(row_lanes);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto width = static_cast<std::size_t>(columns[i].lanes);
      read_field(fields[i], columns[i], row.first(width), where, line);
      row = row.subspan(width);
    }
  });
  return lanes;
}

FileBytes write_hex(const VectorTable& table) { return write_lines(table, '_'); }
FileBytes write_tv(const VectorTable& table) { return write_lines(table, ' '); }

// Spreadsheets: names first, 0x before each number.

FileBytes write_csv(const VectorTable& table) {
  std::string text;
  for (const Column& column : table.columns) text += (text.empty() ? "" : ",") + column.name;
  text += '\n';
  for (std::size_t row = 0; row < table.rows(); ++row) {
    std::span<const std::uint32_t> lanes = row_of(table, row);
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      std::string field;
      append_fields(field, std::span(&table.columns[i], 1), lanes, ' ');
      text += (i == 0 ? "0x" : ",0x") + field;
      lanes = lanes.subspan(static_cast<std::size_t>(table.columns[i].lanes));
    }
    text += '\n';
  }
  return bytes_of(text);
}

std::vector<std::uint32_t> read_csv(std::span<const std::uint8_t> bytes, const std::vector<Column>& columns, const std::string& where) {
  std::string names;
  for (const Column& column : columns) names += (names.empty() ? "" : ",") + column.name;
  std::vector<std::uint32_t> lanes;
  for_each_line(bytes, where, [&](std::string_view text, std::size_t line) {
    if (line == 1 && text != names) refuse(where, line, fmt::format("{}, expected {}", support::in_quotes(text), names));
    if (line == 1) return;
    for (const Column& column : columns) {
      const std::size_t end = std::min(text.find(','), text.size());
      const std::string_view field = text.substr(0, end);
      lanes.resize(lanes.size() + static_cast<std::size_t>(column.lanes));
      read_field(field.starts_with("0x") ? field.substr(2) : field, column, MutableLanes(lanes).last(static_cast<std::size_t>(column.lanes)), where,
                 line);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (!text.empty()) refuse(where, line, "more fields than columns");
  });
  return lanes;
}

// NumPy: one array of rows of lanes. Source: numpy/lib/format.py, format 1.0.

constexpr std::string_view kNpyMagic("\x93NUMPY\x01\x00", 8);

std::string npy_head(std::size_t rows, std::size_t row_lanes) {
  std::string text = fmt::format("{{'descr': '<u4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, row_lanes);
  constexpr std::size_t kAlignment = 64;
  const std::size_t before = kNpyMagic.size() + 2;
  text.append(kAlignment - (before + text.size() + 1) % kAlignment, ' ');
  text += '\n';
  std::string head(kNpyMagic);
  head += static_cast<char>(text.size() & 0xFFU);
  head += static_cast<char>(text.size() >> 8U);
  return head + text;
}

void append_little_endian(FileBytes& bytes, std::uint32_t lane, int count) {
  for (int byte = 0; byte < count; ++byte) bytes.push_back(static_cast<std::uint8_t>(lane >> (8 * byte)));
}

std::uint32_t little_endian(std::span<const std::uint8_t> bytes) {
  std::uint32_t lane = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) lane = (lane << 8U) | bytes[i];
  return lane;
}

FileBytes write_npy(const VectorTable& table) {
  FileBytes bytes = bytes_of(npy_head(table.rows(), table.row_lanes()));
  for (std::uint32_t lane : table.lanes) append_little_endian(bytes, lane, 4);
  return bytes;
}

std::vector<std::uint32_t> read_npy(std::span<const std::uint8_t> bytes, const std::vector<Column>& columns, const std::string& where) {
  const std::size_t row_lanes = lane_count(columns);
  // The head is as long for any number of rows that the file can hold, up to its padding: the one that fits is the one that we write.
  const std::size_t before = kNpyMagic.size() + 2;
  if (bytes.size() < before) throw Error(ErrorCode::input, "byte 0: shorter than the head of a .npy file", where);
  const std::size_t length = before + little_endian(bytes.subspan(kNpyMagic.size(), 2));
  if (bytes.size() < length || (bytes.size() - length) % (4 * row_lanes) != 0) {
    throw Error(ErrorCode::input,
                fmt::format("byte {}: {} bytes are no whole rows of {} lanes", length, bytes.size() - std::min(length, bytes.size()), row_lanes),
                where);
  }
  const std::string head = npy_head((bytes.size() - length) / (4 * row_lanes), row_lanes);
  if (head.size() != length ||
      !std::equal(head.begin(), head.end(), bytes.begin(), [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; })) {
    throw Error(ErrorCode::input, "byte 0: the head does not say what the file holds", where);
  }
  std::vector<std::uint32_t> lanes;
  for (std::size_t at = length; at < bytes.size(); at += 4) lanes.push_back(little_endian(bytes.subspan(at, 4)));
  return lanes;
}

// safetensors: one tensor a column, [rows, lanes], of the narrowest whole bytes.

struct TensorType {
  std::string_view name;
  int bytes;
};
TensorType type_of(const Column& column) {
  if (column.bits <= 8) return {"U8", 1};
  return column.bits <= 16 ? TensorType{"U16", 2} : TensorType{"U32", 4};
}

FileBytes write_safetensors(const VectorTable& table) {
  std::vector<support::TensorData> tensors;
  std::size_t first = 0;
  for (const Column& column : table.columns) {
    const TensorType type = type_of(column);
    support::TensorData tensor{column.name, std::string(type.name), {static_cast<std::int64_t>(table.rows()), column.lanes}, {}};
    for (std::size_t row = 0; row < table.rows(); ++row) {
      for (std::uint32_t lane : row_of(table, row).subspan(first, static_cast<std::size_t>(column.lanes)))
        append_little_endian(tensor.bytes, lane, type.bytes);
    }
    first += static_cast<std::size_t>(column.lanes);
    tensors.push_back(std::move(tensor));
  }
  return support::safetensors_bytes(tensors, {});
}

/// The tensors lie as we write them, so the file is read by writing: the head says where the first one begins, and the head we would write must be
/// there.
std::vector<std::uint32_t> read_safetensors(std::span<const std::uint8_t> bytes, const std::vector<Column>& columns, const std::string& where) {
  constexpr std::size_t kLength = 8;
  std::size_t row_bytes = 0;
  for (const Column& column : columns) row_bytes += static_cast<std::size_t>(column.lanes * type_of(column).bytes);
  if (bytes.size() < kLength) throw Error(ErrorCode::input, "byte 0: shorter than the length of its head", where);
  std::uint64_t head = 0;
  for (std::size_t i = kLength; i-- > 0;) head = (head << 8U) | bytes[i];
  if (head > bytes.size() - kLength || (bytes.size() - kLength - head) % row_bytes != 0) {
    throw Error(ErrorCode::input, fmt::format("byte 0: a head of {} bytes leaves no whole rows", head), where);
  }
  VectorTable table{{}, columns, {}};
  const std::size_t rows = (bytes.size() - kLength - head) / row_bytes;
  table.lanes.resize(rows * table.row_lanes());
  std::size_t at = kLength + head;
  std::size_t first = 0;
  for (const Column& column : columns) {
    const auto width = static_cast<std::size_t>(type_of(column).bytes);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(column.lanes); ++i, at += width) {
        table.lanes[row * table.row_lanes() + first + i] = little_endian(bytes.subspan(at, width));
      }
    }
    first += static_cast<std::size_t>(column.lanes);
  }
  const FileBytes again = write_safetensors(table);
  if (!std::ranges::equal(again, bytes)) throw Error(ErrorCode::input, "byte 8: the head does not say what the file holds", where);
  return table.lanes;
}

// JSON: columns, and rows of hex.

FileBytes write_json(const VectorTable& table) {
  support::Json json;
  json["schema"] = "mxact-vectors/1";
  for (const Column& column : table.columns) json["columns"].push_back({{"name", column.name}, {"lanes", column.lanes}, {"bits", column.bits}});
  json["rows"] = support::Json::array();
  for (std::size_t row = 0; row < table.rows(); ++row) {
    support::Json fields = support::Json::array();
    std::span<const std::uint32_t> lanes = row_of(table, row);
    for (const Column& column : table.columns) {
      std::string field;
      append_fields(field, std::span(&column, 1), lanes, ' ');
      fields.push_back(field);
      lanes = lanes.subspan(static_cast<std::size_t>(column.lanes));
    }
    json["rows"].push_back(std::move(fields));
  }
  return bytes_of(json.dump(1) + "\n");
}

std::vector<std::uint32_t> read_json(std::span<const std::uint8_t> bytes, const std::vector<Column>& columns, const std::string& where) {
  const support::Json json = support::parse_json(bytes, {.bytes = kMostBytes}, where);
  if (!json.is_object() || !json.contains("rows") || !json["rows"].is_array()) throw Error(ErrorCode::input, "no array 'rows'", where);
  std::vector<std::uint32_t> lanes;
  std::size_t row = 0;
  for (const support::Json& fields : json["rows"]) {
    ++row;
    if (!fields.is_array() || fields.size() != columns.size()) refuse(where, row, fmt::format("the row has not {} fields", columns.size()));
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!fields[i].is_string()) refuse(where, row, "a field is no string");
      lanes.resize(lanes.size() + static_cast<std::size_t>(columns[i].lanes));
      read_field(fields[i].get<std::string>(), columns[i], MutableLanes(lanes).last(static_cast<std::size_t>(columns[i].lanes)), where, row);
    }
  }
  return lanes;
}

constexpr std::array kViews{
    VectorView{"hex", "fields joined by _, for $readmemh", write_hex, read_lines},
    VectorView{"tv", "fields joined by blanks, for $fscanf and pipes", write_tv, read_lines},
    VectorView{"csv", "names first, 0x before each number", write_csv, read_csv},
    VectorView{"npy", "rows of lanes, uint32", write_npy, read_npy},
    VectorView{"safetensors", "a tensor for each column", write_safetensors, read_safetensors},
    VectorView{"json", "columns, and rows of hex", write_json, read_json},
};

}  // namespace

std::span<const VectorView> all_vector_views() { return kViews; }

const VectorView& vector_view_named(std::string_view extension) {
  std::vector<std::string_view> known;
  for (const VectorView& view : kViews) {
    if (view.extension == extension) return view;
    known.push_back(view.extension);
  }
  throw Error(ErrorCode::usage, unknown_name("view", extension, known));
}

}  // namespace mx::golden
