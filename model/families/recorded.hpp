#pragma once
// What "run" says of a row of the executions: on which data, of which size, whose kernel, on which device, and how many values were compared.

#include <cstdint>
#include <span>
#include <string_view>

#include "model/families/arithmetic.hpp"

namespace mx::families {

/// One recording, as rows name it.
struct RecordedRun {
  Recording recording;
  std::string_view data;      ///< what was computed, with its sizes
  std::string_view versions;  ///< that its entries name, libraries without the driver
  std::string_view device;
  std::int64_t values;  ///< recorded, each compared bit for bit
};
std::span<const RecordedRun> recorded_runs();
/// Of a recording that a row names; null: nothing is said of it.
const RecordedRun* find_run(const Recording& recording);

/// What a row was compared with on a device; empty: nothing there.
std::span<const Recording> recordings_on(const ExecutionRow& row, Arch arch);

}  // namespace mx::families
