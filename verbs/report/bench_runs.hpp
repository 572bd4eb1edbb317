#pragma once
// The benchmarks of a run, as its pictures and tables need them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "verbs/report/run.hpp"

namespace mx::verbs {

/// One kernel: the median of its repetitions where there is one, else the mean of its runs.
struct Kernel {
  std::string name;
  std::int64_t repetitions = 0;
  std::optional<double> rate;    ///< units a second
  std::optional<double> limit;   ///< the machine's, of the same units
  std::optional<double> share;   ///< rate / limit
  std::optional<double> spread;  ///< coefficient of variation of the rate, or of the time where the rate has none
  std::string error;
};

/// In the order of the file; limits that are benchmarks of their own are those of their kernels too. Throws Error(input) on a negative counter.
std::vector<Kernel> kernels_of(const Run& run);

/// "12.3 G/s"
std::string per_second(double rate);

/// The name without how it was timed.
std::string short_name(std::string name);

}  // namespace mx::verbs
