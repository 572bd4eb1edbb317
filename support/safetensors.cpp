#include "support/safetensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "model/error.hpp"
#include "model/names.hpp"
#include "support/json.hpp"
#include "support/lfs_pointer.hpp"
#include "support/quote.hpp"

namespace mx::support {
namespace {

constexpr std::array<Dtype, 22> kDtypes{{
    {"BOOL", 8},    {"F4", 4},          {"F6_E2M3", 6},     {"F6_E3M2", 6}, {"U8", 8},   {"I8", 8},   {"F8_E5M2", 8}, {"F8_E4M3", 8},
    {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16}, {"F16", 16}, {"BF16", 16},   {"I32", 32},
    {"U32", 32},    {"F32", 32},        {"C64", 64},        {"F64", 64},    {"I64", 64}, {"U64", 64},
}};

/// Of what is written at once: it is digested, copied by the system and on its way to the disk while it is still in the processor's cache.
constexpr std::uint64_t kPiece = std::uint64_t{4} << 20;
/// Of a file that is read again from memory: within a core's cache.
constexpr std::uint64_t kReread = std::uint64_t{1} << 19;

constexpr std::string_view kMetadataKey = "__metadata__";
constexpr std::uint64_t kPrefixBytes = 8;
constexpr std::uint64_t kLongestHeader = 100'000'000;  // tensor.rs MAX_HEADER_SIZE
constexpr std::size_t kLongestName = 4096;
constexpr std::size_t kMostAxes = 32;
constexpr std::uint64_t kMemberMemory = std::uint64_t{1} << 20;  // of one tensor's entry while it is parsed
constexpr std::uint64_t kFixedMemory = std::uint64_t{4} << 20;   // what the tables may take beyond twice the file

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw Error(ErrorCode::input, message, where); }

const Dtype* find_dtype(std::string_view name) {
  const auto found = std::find_if(kDtypes.begin(), kDtypes.end(), [&](const Dtype& row) { return row.name == name; });
  return found == kDtypes.end() ? nullptr : &*found;
}

std::string unknown_dtype(const std::string& name) {
  std::vector<std::string_view> known;
  for (const Dtype& row : kDtypes) known.push_back(row.name);
  const std::string_view near = nearest_name(name, known);
  return fmt::format("unknown dtype {}{}", in_quotes(name), near.empty() ? "" : fmt::format(" (did you mean {}?)", near));
}

/// Bits of a tensor, or none when 64 bits cannot hold them. Every axis is checked, also beside an axis of zero.
std::optional<std::uint64_t> bits_of(std::span<const std::int64_t> shape, int element_bits) {
  std::uint64_t product = 1;
  bool empty = false;
  for (const std::int64_t extent : shape) {
    empty = empty || extent == 0;
    if (extent != 0 && __builtin_mul_overflow(product, static_cast<std::uint64_t>(extent), &product)) return std::nullopt;
  }
  if (__builtin_mul_overflow(product, static_cast<std::uint64_t>(element_bits), &product)) return std::nullopt;
  return empty ? 0 : product;
}

std::uint64_t little_endian_64(std::span<const std::uint8_t> bytes) {
  std::uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8 | bytes[static_cast<std::size_t>(i)];
  return value;
}

/// The header's JSON text, its length checked against the file.
std::span<const std::uint8_t> header_of(const MappedFile& file) {
  const std::string where = file.path().string();
  const std::span<const std::uint8_t> bytes = file.bytes();
  if (bytes.size() < kPrefixBytes) {
    fail(where + ": byte 0", fmt::format("the file has {} bytes, a safetensors file begins with a header length of 8", bytes.size()));
  }
  if (const std::string pointer = lfs_pointer_text(bytes); !pointer.empty()) fail(where, pointer);
  const std::uint64_t length = little_endian_64(bytes);
  if (const std::string other = other_file_text(bytes); length > kLongestHeader && !other.empty()) fail(where, other);
  if (length > kLongestHeader) fail(where + ": byte 0", fmt::format("the header length is {}, more than the {} allowed", length, kLongestHeader));
  if (length > bytes.size() - kPrefixBytes) {
    fail(where + ": byte 0", fmt::format("the header length is {}, but only {} bytes follow it", length, bytes.size() - kPrefixBytes));
  }
  if (length < 2) fail(where + ": byte 0", fmt::format("the header length is {}, the shortest header is '{{}}'", length));
  std::span<const std::uint8_t> header = bytes.subspan(kPrefixBytes, static_cast<std::size_t>(length));
  if (header.front() != '{') fail(where + ": byte 8", fmt::format("the header begins with byte 0x{:02x}, not with '{{'", header.front()));
  while (header.back() == ' ') header = header.first(header.size() - 1);
  if (header.back() != '}') {
    fail(fmt::format("{}: byte {}", where, kPrefixBytes + header.size() - 1),
         fmt::format("the header ends with byte 0x{:02x}, not with '}}' and spaces", header.back()));
  }
  return header;
}

/// Reads one "name": {"dtype": ..., "shape": ..., "data_offsets": ...}.
class EntryReader {
 public:
  EntryReader(std::string where, const Json& entry) : where_(std::move(where)), entry_(entry) {
    if (!entry_.is_object()) fail(where_, "its description is not an object");
    for (const auto& [key, value] : entry_.items()) {
      if (key != "dtype" && key != "shape" && key != "data_offsets") fail(where_, fmt::format("unknown key {} in its description", in_quotes(key)));
    }
  }

  const Dtype* dtype() const {
    const Json& value = member("dtype");
    if (!value.is_string()) fail(where_, fmt::format("dtype {} is not a string", in_quotes(value.dump())));
    const std::string& name = value.text();
    const Dtype* const found = find_dtype(name);
    if (found == nullptr) fail(where_, unknown_dtype(name));
    return found;
  }

  std::vector<std::int64_t> shape() const {
    const Json& value = member("shape");
    if (!value.is_array()) fail(where_, fmt::format("shape {} is not an array", in_quotes(value.dump())));
    if (value.size() > kMostAxes) fail(where_, fmt::format("shape has {} axes, more than the {} allowed", value.size(), kMostAxes));
    std::vector<std::int64_t> extents;
    extents.reserve(value.size());
    for (const Json& extent : value) extents.push_back(static_cast<std::int64_t>(integer(extent, "shape")));
    return extents;
  }

  std::pair<std::uint64_t, std::uint64_t> data_offsets() const {
    const Json& value = member("data_offsets");
    if (!value.is_array() || value.size() != 2) fail(where_, fmt::format("data_offsets {} is not a pair", in_quotes(value.dump())));
    const std::pair range{integer(value[0], "data_offsets"), integer(value[1], "data_offsets")};
    if (range.first > range.second) fail(where_, fmt::format("data_offsets [{}, {}] end before they begin", range.first, range.second));
    return range;
  }

 private:
  const Json& member(const char* key) const {
    const auto found = entry_.find(key);
    if (found == nullptr) fail(where_, fmt::format("has no {}", key));
    return *found;
  }

  std::uint64_t integer(const Json& value, std::string_view key) const {
    constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kLargest) {
      fail(where_, fmt::format("{} holds {}, not an integer from 0 to 2^63-1", key, in_quotes(value.dump())));
    }
    return value.get<std::uint64_t>();
  }

  std::string where_;
  const Json& entry_;
};

std::map<std::string, std::string> read_metadata(const std::string& where, const Json& value) {
  if (!value.is_object()) fail(where, fmt::format("{} is not an object", kMetadataKey));
  std::map<std::string, std::string> metadata;
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) fail(where, fmt::format("{} {} is not a string", kMetadataKey, in_quotes(key)));
    metadata.emplace(key, text.get<std::string>());
  }
  return metadata;
}

TensorView read_entry(const std::string& where, const Json& entry, std::span<const std::uint8_t> data, std::uint64_t data_begin) {
  const EntryReader reader(where, entry);
  TensorView view{reader.dtype(), reader.shape(), {}, 0};
  const auto [begin, end] = reader.data_offsets();
  if (end > data.size()) fail(where, fmt::format("data_offsets [{}, {}] reach beyond the {} bytes of data", begin, end, data.size()));
  const std::optional<std::uint64_t> bits = bits_of(view.shape, view.dtype->bits);
  const std::string what = fmt::format("{} {}", view.dtype->name, shape_text(view.shape));
  if (!bits) fail(where, fmt::format("{} has more bits than 64 bits can count", what));
  if (*bits % 8 != 0) fail(where, fmt::format("{} has {} bits, not a whole number of bytes", what, *bits));
  if (end - begin != *bits / 8)
    fail(where, fmt::format("{} takes {} bytes, but data_offsets [{}, {}] hold {}", what, *bits / 8, begin, end, end - begin));
  view.bytes = data.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  view.file_offset = data_begin + begin;
  return view;
}

using Tensors = std::map<std::string, TensorView, std::less<>>;

/// In the order of their bytes, zero-sized ones before what begins at the same place.
std::vector<const Tensors::value_type*> in_order(const Tensors& tensors) {
  std::vector<const Tensors::value_type*> order;
  order.reserve(tensors.size());
  for (const auto& entry : tensors) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return std::pair(a->second.file_offset, a->second.bytes.size()) < std::pair(b->second.file_offset, b->second.bytes.size());
  });
  return order;
}

/// Every byte of data belongs to exactly one tensor; zero-sized tensors lie on a border.
void check_cover(const std::string& file, const Tensors& tensors, std::uint64_t data_begin, std::uint64_t data_size) {
  std::uint64_t covered = data_begin;
  for (const auto* entry : in_order(tensors)) {
    const auto& [name, view] = *entry;
    if (view.file_offset != covered) {
      fail(fmt::format("{}: tensor {}", file, in_quotes(name)),
           fmt::format("begins at data offset {}, but the data before it ends at {}: {} of bytes", view.file_offset - data_begin,
                       covered - data_begin, view.file_offset < covered ? "an overlap" : "a hole"));
    }
    covered += view.bytes.size();
  }
  if (covered != data_begin + data_size) {
    fail(fmt::format("{}: byte {}", file, covered), fmt::format("{} bytes of data follow the last tensor", data_begin + data_size - covered));
  }
}

/// What one entry of the table takes: the node, its strings and its shape.
std::uint64_t memory_of(const std::string& name, const TensorView& view) {
  constexpr std::uint64_t kNode = 64 + sizeof(Tensors::value_type) + sizeof(void*);
  return kNode + name.capacity() + view.shape.capacity() * sizeof(std::int64_t);
}

}  // namespace

std::span<const Dtype> all_dtypes() { return kDtypes; }

std::string shape_text(std::span<const std::int64_t> shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : file_(path) {
  const std::string file = path.string();
  const std::span<const std::uint8_t> header = header_of(file_);
  const std::uint64_t data_begin = kPrefixBytes + little_endian_64(file_.bytes());
  const std::span<const std::uint8_t> data = file_.bytes().subspan(static_cast<std::size_t>(data_begin));
  const std::uint64_t most_memory = 2 * file_.bytes().size() + kFixedMemory - 2 * kMemberMemory;
  std::uint64_t memory = 0;
  bool has_metadata = false;
  const auto member = [&](std::string&& name, Json&& value, std::uint64_t offset) {
    const std::string where = fmt::format("{}: tensor {} (byte {})", file, in_quotes(name), offset);
    if (name == kMetadataKey) {
      metadata_ = read_metadata(fmt::format("{}: byte {}", file, offset), value);
      return !std::exchange(has_metadata, true);
    }
    if (name.size() > kLongestName) fail(where, fmt::format("a name of {} bytes, more than the {} allowed", name.size(), kLongestName));
    const auto [entry, is_new] = tensors_.emplace(std::move(name), read_entry(where, value, data, data_begin));
    memory += memory_of(entry->first, entry->second);
    if (memory > most_memory)
      fail(where, fmt::format("{} tensors so far take more memory than twice the file of {} bytes", tensors_.size(), file_.bytes().size()));
    return is_new;
  };
  for_each_json_member(header, {.bytes = kLongestHeader, .depth = 8, .memory = kMemberMemory}, file, kPrefixBytes, member);
  check_cover(file, tensors_, data_begin, data.size());
}

const TensorView* SafetensorsFile::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

std::vector<std::uint8_t> SafetensorsFile::read(const TensorView& view) const {
  std::vector<std::uint8_t> bytes(view.bytes.size());
  read(view, 0, bytes);
  return bytes;
}

std::vector<std::string> names_in_order(const SafetensorsFile& file) {
  std::vector<std::string> names;
  for (const Tensors::value_type* entry : in_order(file.tensors())) names.push_back(entry->first);
  return names;
}

std::uint64_t bytes_of(const TensorEntry& entry) {
  const std::string where = "tensor " + in_quotes(entry.name);
  const Dtype* const dtype = find_dtype(entry.dtype);
  if (dtype == nullptr) throw Error(ErrorCode::usage, unknown_dtype(entry.dtype), where);
  const bool negative = std::any_of(entry.shape.begin(), entry.shape.end(), [](std::int64_t extent) { return extent < 0; });
  const std::optional<std::uint64_t> bits = negative ? std::nullopt : bits_of(entry.shape, dtype->bits);
  if (!bits || *bits % 8 != 0) {
    throw Error(ErrorCode::usage, fmt::format("{} {} is no whole number of bytes", dtype->name, shape_text(entry.shape)), where);
  }
  return *bits / 8;
}

std::vector<std::uint8_t> safetensors_header(std::span<const TensorEntry> entries, const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header[std::string(kMetadataKey)] = metadata;
  std::set<std::string_view> names{kMetadataKey};
  std::uint64_t offset = 0;
  for (const TensorEntry& entry : entries) {
    if (!names.insert(entry.name).second) throw Error(ErrorCode::usage, "this name is taken already", "tensor " + in_quotes(entry.name));
    const std::uint64_t end = offset + bytes_of(entry);
    // Not operator[]: it looks for the name, one by one.
    header.items().push_back({entry.name, {{"dtype", entry.dtype}, {"shape", entry.shape}, {"data_offsets", Json::array({offset, end})}}});
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::vector<std::uint8_t> bytes;
  bytes.reserve(static_cast<std::size_t>(kPrefixBytes + text.size()));
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(text.size()) >> 8 * i));
  bytes.insert(bytes.end(), text.begin(), text.end());
  return bytes;
}

std::vector<std::uint8_t> safetensors_bytes(std::span<const TensorData> tensors, const std::map<std::string, std::string>& metadata) {
  std::vector<TensorEntry> entries;
  std::size_t total = 0;
  for (const TensorData& tensor : tensors) {
    entries.push_back({tensor.name, tensor.dtype, tensor.shape});
    if (bytes_of(entries.back()) != tensor.bytes.size()) {
      throw Error(ErrorCode::usage, fmt::format("{} {} does not take {} bytes", tensor.dtype, shape_text(tensor.shape), tensor.bytes.size()),
                  "tensor " + in_quotes(tensor.name));
    }
    total += tensor.bytes.size();
  }
  std::vector<std::uint8_t> bytes = safetensors_header(entries, metadata);
  bytes.reserve(bytes.size() + total);
  for (const TensorData& tensor : tensors) bytes.insert(bytes.end(), tensor.bytes.begin(), tensor.bytes.end());
  return bytes;
}

SafetensorsWriter::SafetensorsWriter(const std::filesystem::path& path, std::span<const TensorEntry> entries,
                                     const std::map<std::string, std::string>& metadata, bool force)
    : path_(path), file_(path, force), missing_(entries.size()) {
  const std::vector<std::uint8_t> header = safetensors_header(entries, metadata);
  header_size_ = header.size();
  std::uint64_t offset = header_size_;
  for (const TensorEntry& entry : entries) {
    const std::uint64_t size = bytes_of(entry);
    slots_.emplace(entry.name, Slot{offset, size, 0, false});
    offset += size;
  }
  size_ = offset;
  write(0, header);
}

void SafetensorsWriter::write(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
  if (offset == digested_) {
    digest_.add(bytes);
    digested_ += bytes.size();
  }
  file_.write_at(offset, bytes);
}

void SafetensorsWriter::set_metadata(std::span<const TensorEntry> entries, const std::map<std::string, std::string>& metadata) {
  const std::vector<std::uint8_t> header = safetensors_header(entries, metadata);
  if (header.size() != header_size_) {
    throw Error(ErrorCode::usage, fmt::format("the header would have {} bytes, not {}", header.size(), header_size_), path_.string());
  }
  digested_ = 0;
  digest_ = DigestStream();
  write(0, header);
}

std::string SafetensorsWriter::digest(const StopPoint& stop) const {
  if (!is_whole()) throw Error(ErrorCode::usage, "has not been written whole", path_.string());
  if (digested_ == size_) return digest_.text();
  DigestStream digest;
  std::vector<std::uint8_t> piece(static_cast<std::size_t>(std::min(kReread, size_)));
  for (std::uint64_t done = 0; done < size_; done += piece.size()) {
    stop.check();
    piece.resize(static_cast<std::size_t>(std::min(kReread, size_ - done)));
    file_.read_at(done, piece);
    digest.add(piece);
  }
  return digest.text();
}

/// A tensor that is not whole, with room for so many bytes more.
SafetensorsWriter::Slot& SafetensorsWriter::open_slot(std::string_view name, std::uint64_t more) {
  const std::string where = fmt::format("{}: tensor {}", path_.string(), in_quotes(name));
  const auto found = slots_.find(name);
  if (found == slots_.end()) throw Error(ErrorCode::usage, "is not in the header", where);
  Slot& slot = found->second;
  if (slot.written) throw Error(ErrorCode::usage, "is written a second time", where);
  if (more > slot.size - slot.come) {
    throw Error(ErrorCode::usage, fmt::format("has {} bytes where the header says {}", slot.come + more, slot.size), where);
  }
  return slot;
}

/// A tensor of which nothing has come.
SafetensorsWriter::Slot& SafetensorsWriter::take_slot(std::string_view name, std::uint64_t size) {
  Slot& slot = open_slot(name, size);
  if (slot.size == size && slot.come == 0) return slot;
  throw Error(ErrorCode::usage, fmt::format("has {} bytes where the header says {}", size, slot.size - slot.come),
              fmt::format("{}: tensor {}", path_.string(), in_quotes(name)));
}

void SafetensorsWriter::add(Slot& slot, std::span<const std::uint8_t> bytes) {
  write(slot.offset + slot.come, bytes);
  slot.come += bytes.size();
  if (slot.come < slot.size) return;
  slot.written = true;
  --missing_;
}

void SafetensorsWriter::append(std::string_view name, std::span<const std::uint8_t> bytes) { add(open_slot(name, bytes.size()), bytes); }

void SafetensorsWriter::put(std::string_view name, std::span<const std::uint8_t> bytes, const StopPoint& stop) {
  Slot& slot = take_slot(name, bytes.size());
  do {
    stop.check();
    add(slot, bytes.subspan(slot.come, std::min(kPiece, slot.size - slot.come)));
  } while (!slot.written);
}

void SafetensorsWriter::copy(std::string_view name, const SafetensorsFile& from, const TensorView& view, const StopPoint& stop) {
  Slot& slot = take_slot(name, view.bytes.size());
  std::vector<std::uint8_t> piece;
  do {
    stop.check();
    piece.resize(static_cast<std::size_t>(std::min(kPiece, slot.size - slot.come)));
    from.read(view, slot.come, piece);
    add(slot, piece);
  } while (!slot.written);
}

void SafetensorsWriter::commit() {
  for (const auto& [name, slot] : slots_) {
    if (!slot.written) throw Error(ErrorCode::usage, "was never written", fmt::format("{}: tensor {}", path_.string(), in_quotes(name)));
  }
  file_.commit();
}

}  // namespace mx::support
