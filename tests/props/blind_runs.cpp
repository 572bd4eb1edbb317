#include "tests/props/blind_runs.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <sstream>

#include "tests/props/fault_runs.hpp"
#include "tests/props/processes.hpp"

namespace mx::props {
namespace {

FaultySide side_of(const FaultRow& row) { return area_of(row) == "layouts" ? FaultySide::conversion : FaultySide::execution; }

std::int64_t differing(std::span<const float> a, std::span<const float> b) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i]) ? 1 : 0;
  return count;
}

/// A line for each backend and kind of data: their places, elements, elements that differ, a digit for each tolerance; or "threw".
void try_outputs(const FaultRow& row, std::span<const std::vector<float>> clean, unsigned limit_seconds, const Say& say) {
  std::size_t at = 0;
  for (std::size_t backend = 0; backend < blind_backends().size(); ++backend) {
    for (std::size_t data = 0; data < data_rows().size(); ++data, ++at) {
      const std::vector<float>& expected = clean[at];
      std::ostringstream line;
      alarm(limit_seconds);
      try {
        const std::vector<float> actual = outputs(blind_backends()[backend], data_rows()[data], row.fault, side_of(row));
        line << backend << ' ' << data << ' ' << expected.size() << ' ' << differing(expected, actual) << ' ';
        for (const Tolerance& tolerance : all_tolerances()) line << (tolerance.accepts(expected, actual) ? '1' : '0');
      } catch (const std::exception&) {
        line << "threw";
      }
      alarm(0);
      say(line.str());
    }
  }
}

BlindFault fault_of(const FaultRow& row, const Said& said) {
  BlindFault fault{&row, {}, 0};
  for (const std::string& line : said.lines) {
    std::istringstream words(line);
    std::size_t backend = 0;
    std::size_t data = 0;
    BlindRun run{};
    std::string accepted;
    if (!(words >> backend >> data >> run.elements >> run.differ >> accepted)) {
      ++fault.threw;
      continue;
    }
    run.backend = &blind_backends()[backend];
    run.data = &data_rows()[data];
    for (const char digit : accepted) run.accepted.push_back(digit == '1');
    fault.runs.push_back(std::move(run));
  }
  // What a crash or a limit kept from being tried was noticed too.
  fault.threw = static_cast<int>(blind_backends().size() * data_rows().size() - fault.runs.size());
  return fault;
}

}  // namespace

bool reaches_outputs(const FaultRow& row) {
  const std::string_view area = area_of(row);
  return area == "numerics" || area == "layouts" || area == "moe" || area == "simulator";
}

std::vector<BlindFault> run_blind(std::span<const FaultRow> faults, int jobs, unsigned limit_seconds, const std::function<void(std::size_t)>& done) {
  std::vector<std::vector<float>> clean;
  for (const BackendRow& backend : blind_backends()) {
    for (const DataRow& data : data_rows()) clean.push_back(outputs(backend, data, fault::Fault::none, FaultySide::execution));
  }
  const auto work = [&](std::size_t i, const Say& say) { try_outputs(faults[i], clean, limit_seconds, say); };
  const std::vector<Said> said = in_processes(faults.size(), jobs, work, done);
  std::vector<BlindFault> all;
  for (std::size_t i = 0; i < faults.size(); ++i) all.push_back(fault_of(faults[i], said[i]));
  return all;
}

}  // namespace mx::props
