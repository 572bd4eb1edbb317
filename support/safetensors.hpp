#pragma once
// The safetensors container, read within bounds. Source: huggingface/safetensors README (format) and safetensors/src/tensor.rs (checks).

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/digest.hpp"
#include "support/file.hpp"
#include "support/stop.hpp"

namespace mx::support {

/// One tensor type of the container.
struct Dtype {
  std::string_view name;  ///< "BF16"
  int bits;               ///< of one element
};
/// In the order of the reference: by alignment. Source: huggingface/safetensors, safetensors/src/tensor.rs, Dtype and Dtype::bitsize.
std::span<const Dtype> all_dtypes();

/// A tensor inside a mapped file: a view, valid while the file lives.
struct TensorView {
  const Dtype* dtype;
  std::vector<std::int64_t> shape;
  std::span<const std::uint8_t> bytes;
  std::uint64_t file_offset;  ///< of the first byte, for messages
};

/// "[8, 512, 8, 16]"
std::string shape_text(std::span<const std::int64_t> shape);

/// One file. Construction checks everything: header length against file size and 100 MB before any allocation, strict JSON of depth 8, no duplicate
/// names, names and metadata bounded, known dtypes, at most 32 axes, checked shape products, ranges sorted without holes or overlaps and covering all
/// data (zero-sized tensors too). Throws Error(input) naming file, byte offset or tensor, value and rule.
/// Memory: the tables of the header only, at most twice the file and 4 MiB; data stay mapped.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::map<std::string, TensorView, std::less<>>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  const std::filesystem::path& path() const { return file_.path(); }
  std::uint64_t size() const { return file_.bytes().size(); }  ///< of the file
  /// Gives the memory of a tensor's bytes back until they are read again.
  void release(const TensorView& view) const { file_.release(view.bytes); }
  /// A tensor's bytes from `begin` on, into `out`, also where another program shortens the file. Throws Error(input) as MappedFile::read does.
  void read(const TensorView& view, std::uint64_t begin, std::span<std::uint8_t> out) const { file_.read(view.file_offset + begin, out); }
  std::vector<std::uint8_t> read(const TensorView& view) const;
  /// Advises the system that these bytes of a tensor are read soon.
  void expect(const TensorView& view, std::uint64_t begin, std::uint64_t size) const { file_.expect(view.file_offset + begin, size); }
  /// Throws Error(input) when the file is no longer what was opened.
  void check_unchanged() const { file_.check_unchanged(); }
  /// The tensor of that name, or null.
  const TensorView* find(std::string_view name) const;

 private:
  MappedFile file_;
  std::map<std::string, TensorView, std::less<>> tensors_;
  std::map<std::string, std::string> metadata_;
};

/// Names of a file's tensors in the order of their bytes.
std::vector<std::string> names_in_order(const SafetensorsFile& file);

/// What the header says of a tensor to write.
struct TensorEntry {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
};

/// A tensor to write.
struct TensorData {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;
};

/// Bytes of a tensor. Throws Error(usage) on an unknown dtype or a shape without a whole number of bytes.
std::uint64_t bytes_of(const TensorEntry& entry);

/// The bytes before the data of tensors that follow each other in the given order: length, JSON, spaces up to a multiple of 8 bytes.
/// Throws Error(usage) as bytes_of does, and on a repeated or reserved name.
std::vector<std::uint8_t> safetensors_header(std::span<const TensorEntry> entries, const std::map<std::string, std::string>& metadata);

/// Serializes tensors in the given order. Throws Error(usage) as safetensors_header does, and on a size that disagrees.
std::vector<std::uint8_t> safetensors_bytes(std::span<const TensorData> tensors, const std::map<std::string, std::string>& metadata);

/// A file whose tensors arrive one by one, in any order; it is there once all of them are.
class SafetensorsWriter {
 public:
  /// Throws as safetensors_header and NewFile do.
  SafetensorsWriter(const std::filesystem::path& path, std::span<const TensorEntry> entries, const std::map<std::string, std::string>& metadata,
                    bool force);

  /// Throws Error(usage) when the header does not list the tensor, when it came before or has another size; otherwise as NewFile::write_at, and
  /// Stopped.
  void put(std::string_view name, std::span<const std::uint8_t> bytes, const StopPoint& stop = StopPoint());
  /// The same from a tensor of a file, piece by piece; throws as SafetensorsFile::read does too.
  void copy(std::string_view name, const SafetensorsFile& from, const TensorView& view, const StopPoint& stop = StopPoint());
  /// The next bytes of a tensor that comes in parts, one behind the other. Throws as put does.
  void append(std::string_view name, std::span<const std::uint8_t> bytes);
  /// Other metadata in the place of those that were given, in a header of the same length: for what the tensors had to be known for. Throws
  /// Error(usage) when the length is another one.
  void set_metadata(std::span<const TensorEntry> entries, const std::map<std::string, std::string>& metadata);
  /// Digest of the file; what did not come from beginning to end is read again. Throws Error(usage) when a tensor has not come; Stopped.
  std::string digest(const StopPoint& stop = StopPoint()) const;
  /// As NewFile::sync.
  void sync() { file_.sync(); }
  /// Bytes of the file.
  std::uint64_t size() const { return size_; }
  /// Whether every tensor has come.
  bool is_whole() const { return missing_ == 0; }
  /// Throws Error(usage) naming a tensor that never came; otherwise as NewFile::commit.
  void commit();

 private:
  struct Slot {
    std::uint64_t offset;
    std::uint64_t size;
    std::uint64_t come;  ///< bytes of it
    bool written;
  };
  Slot& open_slot(std::string_view name, std::uint64_t more);
  Slot& take_slot(std::string_view name, std::uint64_t size);
  void add(Slot& slot, std::span<const std::uint8_t> bytes);
  void write(std::uint64_t offset, std::span<const std::uint8_t> bytes);

  std::filesystem::path path_;
  std::map<std::string, Slot, std::less<>> slots_;
  NewFile file_;
  DigestStream digest_;
  std::uint64_t digested_ = 0;  ///< bytes from the beginning
  std::uint64_t header_size_ = 0;
  std::uint64_t size_ = 0;
  std::size_t missing_;  ///< tensors that have not come
};

}  // namespace mx::support
