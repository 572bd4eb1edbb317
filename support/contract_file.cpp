#include "support/contract_file.hpp"

#include <cstdint>
#include <vector>

#include "model/error.hpp"
#include "model/numerics/contract.hpp"
#include "support/file.hpp"

namespace mx::support {
namespace {

constexpr std::uint64_t kMostBytes = 1 << 16;
constexpr std::string_view kBlanks = " \t\r";

std::string_view without_blanks_around(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace

std::string record_of_lines(std::string_view text) {
  std::string record;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    line = without_blanks_around(line.substr(0, line.find('#')));
    if (!line.empty()) record += (record.empty() ? "" : ":") + std::string(line);
  }
  return record;
}

std::string contract_word(std::string_view word) {
  if (!word.starts_with('@')) return std::string(word);
  const std::string path(word.substr(1));
  if (path.empty()) throw Error(ErrorCode::usage, "'@' is followed by the name of a file with a record", "contract");
  const std::vector<std::uint8_t> bytes = read_file(path, kMostBytes);
  const std::string record = record_of_lines({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (record.empty()) throw Error(ErrorCode::input, "no field of a contract is in it", path);
  try {
    const ContractRow& row = row_of(contract_named(record));
    return is_record(record) ? text_of(row) : std::string(row.name);
  } catch (const Error& error) {
    throw Error(ErrorCode::input, error.what(), path);
  }
}

}  // namespace mx::support
