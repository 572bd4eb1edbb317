#include "tests/props/blind_runs.hpp"

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <sstream>

#include "tests/props/fault_runs.hpp"
#include "tests/props/processes.hpp"

namespace mx::tests {
namespace {

FaultySide side_of(const props::FaultRow& row) { return area_of(row) == "layouts" ? FaultySide::conversion : FaultySide::execution; }

/// Where outputs come from.
enum class Source { layers, parts };
constexpr std::array kSources{Source::layers, Source::parts};

std::vector<Outputs> outputs_of(Source source, fault::Fault fault, FaultySide side) {
  if (source == Source::layers) return layer_outputs(fault, side);
  fault::set_active(fault);
  std::vector<Outputs> parts = part_outputs();
  fault::set_active(fault::Fault::none);
  return parts;
}

/// What a rule can be asked about: places whose right value is a number. A NaN is near nothing, not even another NaN.
struct Compared {
  std::vector<float> expected;
  std::vector<float> actual;
  std::int64_t differ = 0;
};
Compared compared(const std::vector<float>& expected, const std::vector<float>& actual) {
  Compared result;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!std::isfinite(expected[i])) continue;
    result.expected.push_back(expected[i]);
    result.actual.push_back(actual[i]);
    result.differ += std::bit_cast<std::uint32_t>(expected[i]) != std::bit_cast<std::uint32_t>(actual[i]) ? 1 : 0;
  }
  return result;
}

/// A line for each of the clean outputs that the fault has too: its number, elements, elements that differ, a digit for each tolerance.
void try_outputs(const props::FaultRow& row, std::span<const Outputs> clean, unsigned limit_seconds, const Say& say) {
  for (const Source source : kSources) {
    alarm(limit_seconds);
    const std::vector<Outputs> faulty = outputs_of(source, row.fault, side_of(row));
    alarm(0);
    for (const Outputs& actual : faulty) {
      const auto right = std::ranges::find_if(clean, [&](const Outputs& o) { return o.backend == actual.backend && o.data == actual.data; });
      if (right == clean.end() || right->values.size() != actual.values.size()) continue;
      const Compared both = compared(right->values, actual.values);
      if (both.expected.empty()) continue;
      std::ostringstream line;
      line << right - clean.begin() << ' ' << both.expected.size() << ' ' << both.differ << ' ';
      for (const props::Tolerance& tolerance : props::all_tolerances()) line << (tolerance.accepts(both.expected, both.actual) ? '1' : '0');
      say(line.str());
    }
  }
}

BlindFault fault_of(const props::FaultRow& row, std::span<const Outputs> clean, const Said& said) {
  BlindFault fault{&row, {}, 0, why_no_numbers(row)};
  for (const std::string& line : said.lines) {
    std::istringstream words(line);
    std::size_t at = 0;
    BlindRun run{};
    std::string accepted;
    if (!(words >> at >> run.elements >> run.differ >> accepted)) continue;
    run.backend = clean[at].backend;
    run.data = clean[at].data;
    for (const char digit : accepted) run.accepted.push_back(digit == '1');
    fault.runs.push_back(std::move(run));
  }
  // What threw, crashed or hung was noticed.
  fault.threw = static_cast<int>(clean.size() - fault.runs.size());
  return fault;
}

}  // namespace

std::vector<BlindFault> run_blind(std::span<const props::FaultRow> faults, int jobs, unsigned limit_seconds,
                                  const std::function<void(std::size_t)>& done) {
  // Processes work side by side, and a child would wait for ever for the threads that its parent had: there are to be none.
  omp_set_num_threads(1);
  std::vector<Outputs> clean;
  for (const Source source : kSources) std::ranges::move(outputs_of(source, fault::Fault::none, FaultySide::execution), std::back_inserter(clean));
  const auto is_number = [](float value) { return std::isfinite(value); };
  std::erase_if(clean, [&](const Outputs& outputs) { return std::ranges::none_of(outputs.values, is_number); });
  const auto work = [&](std::size_t i, const Say& say) {
    if (why_no_numbers(faults[i]).empty()) try_outputs(faults[i], clean, limit_seconds, say);
  };
  const std::vector<Said> said = in_processes(faults.size(), jobs, work, done);
  std::vector<BlindFault> all;
  for (std::size_t i = 0; i < faults.size(); ++i) all.push_back(fault_of(faults[i], clean, said[i]));
  return all;
}

}  // namespace mx::tests
