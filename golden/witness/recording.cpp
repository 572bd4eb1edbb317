#include "golden/witness/recording.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <string_view>

#include "model/error.hpp"
#include "support/file.hpp"

namespace mx::golden {
namespace {

constexpr std::string_view kCompressed = ".gz";
constexpr int kGzipAlone = 15 + 16;  // zlib.h, inflateInit2: the largest window, and a gzip header
constexpr std::size_t kFirstPiece = std::size_t{1} << 20;

std::filesystem::path compressed(const std::filesystem::path& file) { return file.string() + std::string(kCompressed); }

struct Inflater {
  z_stream stream{};
  Inflater() {
    if (inflateInit2(&stream, kGzipAlone) != Z_OK) throw Error(ErrorCode::resource, "zlib has no memory to inflate");
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

std::vector<std::uint8_t> inflated(std::vector<std::uint8_t> packed, std::uint64_t limit, const std::string& where) {
  Inflater inflater;
  z_stream& stream = inflater.stream;
  stream.next_in = packed.data();
  stream.avail_in = static_cast<uInt>(packed.size());
  std::vector<std::uint8_t> bytes;
  for (int status = Z_OK; status != Z_STREAM_END;) {
    const std::size_t done = bytes.size();
    if (done > limit) throw Error(ErrorCode::input, fmt::format("inflates to more than the {} bytes allowed for such a file", limit), where);
    bytes.resize(static_cast<std::size_t>(std::min<std::uint64_t>(std::max(kFirstPiece, 2 * done), limit + 1)));
    stream.next_out = bytes.data() + done;
    stream.avail_out = static_cast<uInt>(bytes.size() - done);
    status = inflate(&stream, Z_NO_FLUSH);
    bytes.resize(bytes.size() - stream.avail_out);
    if (status == Z_BUF_ERROR || (status == Z_OK && stream.avail_in == 0 && stream.avail_out > 0)) {
      throw Error(ErrorCode::input, fmt::format("ends at byte {} amid its gzip data", packed.size()), where);
    }
    if (status != Z_OK && status != Z_STREAM_END) {
      throw Error(ErrorCode::input, fmt::format("breaks the gzip form at byte {}", stream.total_in), where);
    }
  }
  if (bytes.size() > limit) throw Error(ErrorCode::input, fmt::format("inflates to more than the {} bytes allowed for such a file", limit), where);
  if (stream.avail_in != 0) throw Error(ErrorCode::input, fmt::format("has {} bytes behind its gzip data", stream.avail_in), where);
  return bytes;
}

}  // namespace

std::filesystem::path recording_name(const std::filesystem::path& file) {
  std::error_code failure;
  return file.extension() != kCompressed || std::filesystem::is_directory(file, failure) ? file : file.parent_path() / file.stem();
}

bool has_recording(const std::filesystem::path& file) { return support::is_there(file) || support::is_there(compressed(file)); }

std::vector<std::uint8_t> read_recording(const std::filesystem::path& file, std::uint64_t limit) {
  if (support::is_there(file) || !support::is_there(compressed(file))) return support::read_file(file, limit);
  return inflated(support::read_file(compressed(file), limit), limit, compressed(file).string());
}

}  // namespace mx::golden
