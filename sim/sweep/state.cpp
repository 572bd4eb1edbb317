#include "sim/sweep/state.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string_view>
#include <system_error>

#include "model/error.hpp"
#include "model/numerics/profile.hpp"
#include "model/numerics/rules.hpp"
#include "support/file.hpp"
#include "support/quote.hpp"

namespace mx::sim {
namespace {

constexpr std::string_view kHead = "mxact-sweep/2 ";
constexpr std::string_view kIdentity = " from=";                 ///< how an identity begins, after the build
constexpr std::uint64_t kLargestState = std::uint64_t{1} << 20;  ///< bytes; a whole sweep is 7 KiB

/// `line` 0 is the whole file.
[[noreturn]] void broken(const std::filesystem::path& path, std::size_t line, const std::string& message) {
  throw Error(ErrorCode::input, message, line == 0 ? path.string() : fmt::format("{}:{}", path.string(), line));
}

[[noreturn]] void refused(const std::filesystem::path& path, const std::string& what) {
  throw Error(ErrorCode::resource, what + ": " + std::generic_category().message(errno), path.string());
}

std::string content_of(const std::filesystem::path& path) {
  const std::vector<std::uint8_t> bytes = support::read_file(path, kLargestState);
  return {bytes.begin(), bytes.end()};
}

std::string chunk_line(int chunk, std::uint64_t digest) { return fmt::format("chunk {} 0x{:016x}\n", chunk, digest); }

/// A line is right when it is what would be written for the numbers that it holds.
bool read_chunk_line(std::string_view line, int& chunk, std::uint64_t& digest) {
  constexpr std::string_view kWord = "chunk ";
  if (!line.starts_with(kWord)) return false;
  const char* const end = line.data() + line.size();
  const auto number = std::from_chars(line.data() + kWord.size(), end, chunk);
  constexpr std::string_view kPrefix = " 0x";
  if (number.ec != std::errc() || !std::string_view(number.ptr, end).starts_with(kPrefix)) return false;
  const auto word = std::from_chars(number.ptr + kPrefix.size(), end, digest, 16);
  return word.ec == std::errc() && chunk >= 0 && chunk < kSweepChunks && chunk_line(chunk, digest) == std::string(line) + "\n";
}

void set_digest(Digests& digests, int chunk, std::uint64_t digest, const std::filesystem::path& path, std::size_t line) {
  std::optional<std::uint64_t>& known = digests[static_cast<std::size_t>(chunk)];
  if (known && *known != digest) {
    broken(path, line, fmt::format("chunk {} has digest 0x{:016x}, and 0x{:016x} elsewhere: one of them is wrong", chunk, digest, *known));
  }
  known = digest;
}

std::string head_line(const std::string& build, const std::string& identity) { return fmt::format("{}{} {}\n", kHead, build, identity); }

void read_head(std::string_view line, const std::filesystem::path& path, SweepRecord& record) {
  const std::size_t identity = line.find(kIdentity);
  if (!line.starts_with(kHead) || identity == std::string_view::npos || identity <= kHead.size()) {
    broken(path, 1, fmt::format("{} is not the head of a sweep's state", support::in_quotes(line)));
  }
  record.build = line.substr(kHead.size(), identity - kHead.size());
  record.identity = line.substr(identity + 1);
}

/// Whole lines only; `size` of them in bytes.
SweepRecord parse_state(std::string_view text, const std::filesystem::path& path, std::size_t& size) {
  SweepRecord record;
  std::size_t line_number = 0;
  size = 0;
  for (std::size_t end = 0; (end = text.find('\n', size)) != std::string_view::npos; size = end + 1) {
    const std::string_view line = text.substr(size, end - size);
    if (++line_number == 1) {
      read_head(line, path, record);
      continue;
    }
    int chunk = 0;
    std::uint64_t digest = 0;
    if (!read_chunk_line(line, chunk, digest)) broken(path, line_number, fmt::format("{} is not 'chunk C 0xDIGEST'", support::in_quotes(line)));
    set_digest(record.digests, chunk, digest, path, line_number);
  }
  return record;
}

void require_same(const SweepRecord& found, const std::string& build, const std::string& wanted, const std::filesystem::path& path) {
  if (found.identity != wanted)
    broken(path, 1, fmt::format("is a sweep of another conversion: {}, not {}", support::printable(found.identity), wanted));
  if (found.build != build) broken(path, 1, fmt::format("is a sweep by another build: {}, not {}", support::printable(found.build), build));
}

bool is_of(const SweepRecord& record, const Format& to, const Conversion& how) {
  return record.identity == identity({&to, how, SweepBy::twin}) || record.identity == identity({&to, how, SweepBy::model});
}

/// Of a sweep whose rules its user wrote; null where they do not read as its identity says.
const Format* target_by_rules(const SweepRecord& record) {
  constexpr std::string_view kTo = " to=", kRounding = " rounding=", kRules = " rules=";
  const std::string& identity = record.identity;
  const std::size_t to = identity.find(kTo), end = identity.find(kRounding), rules = identity.find(kRules);
  if (to == std::string::npos || end == std::string::npos || rules == std::string::npos || end < to) return nullptr;
  try {
    const Format& format = format_named(identity.substr(to + kTo.size(), end - to - kTo.size()));
    const Format& said = format_of_text(identity.substr(rules + kRules.size()));
    return is_of(record, format, conversion(profile_named(kOcp), kF32, said)) ? &format : nullptr;
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace

SweepRecord read_sweep_state(const std::filesystem::path& path) {
  const std::string text = content_of(path);
  std::size_t size = 0;
  SweepRecord record = parse_state(text, path, size);
  if (record.identity.empty()) broken(path, 1, "has no head of a sweep's state");
  return record;
}

const Format& target_of(const SweepRecord& record) {
  for (const Profile& profile : all_profiles()) {
    for (const Format& format : all_formats()) {
      const Conversion* how = find_conversion(profile, kF32, format);
      if (how != nullptr && is_of(record, format, *how)) return format;
    }
  }
  if (const Format* own = target_by_rules(record)) return *own;
  throw Error(ErrorCode::input, fmt::format("{} is the conversion of no profile", support::in_quotes(record.identity)));
}

SweepRecord merge_sweep_states(std::span<const std::filesystem::path> paths) {
  if (paths.empty()) throw Error(ErrorCode::input, "no state files to merge");
  SweepRecord merged;
  for (const std::filesystem::path& path : paths) {
    const SweepRecord record = read_sweep_state(path);
    if (merged.identity.empty()) {
      merged.identity = record.identity;
      merged.build = record.build;
    }
    require_same(record, merged.build, merged.identity, path);
    for (int chunk = 0; chunk < kSweepChunks; ++chunk) {
      const std::optional<std::uint64_t>& digest = record.digests[static_cast<std::size_t>(chunk)];
      if (digest) set_digest(merged.digests, chunk, *digest, path, 0);
    }
  }
  return merged;
}

SweepState::SweepState(const std::filesystem::path& path, const SweepSubject& subject, const std::string& build) : path_(path) {
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file_ < 0) refused(path, "cannot be opened");
  try {
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) refused(path, "is in use by another sweep");
    const std::string text = content_of(path);
    const std::string head = head_line(build, identity(subject));
    std::size_t size = 0;
    record_ = parse_state(text, path, size);
    if (size == 0 && !head.starts_with(text)) broken(path, 1, fmt::format("{} is not the head of a sweep's state", support::in_quotes(text)));
    if (size != 0) require_same(record_, build, identity(subject), path);
    if (size != text.size() && ::ftruncate(file_, static_cast<off_t>(size)) != 0) refused(path, "cannot be shortened to its whole lines");
    if (size == 0) append(head);
  } catch (...) {
    ::close(file_);
    throw;
  }
}

SweepState::~SweepState() { ::close(file_); }

void SweepState::add(int chunk, std::uint64_t digest) {
  append(chunk_line(chunk, digest));
  record_.digests[static_cast<std::size_t>(chunk)] = digest;
}

void SweepState::append(const std::string& line) {
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t count = ::write(file_, line.data() + done, line.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refused(path_, "cannot be written");
    done += static_cast<std::size_t>(count);
  }
  if (::fdatasync(file_) != 0) refused(path_, "cannot be written");
}

}  // namespace mx::sim
