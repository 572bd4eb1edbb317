#include "checkpoint/convert.hpp"

#include <span>
#include <utility>
#include <vector>

#include "checkpoint/conversion_job.hpp"
#include "checkpoint/staging.hpp"
#include "support/one_behind.hpp"

namespace mx::checkpoint {
namespace {

/// While one unit is converted, the one before comes to the disk, and the system reads the next.
void convert_units(const ConversionJob& job, const std::filesystem::path& directory, const support::Progress& progress, std::span<UnitResult> results) {
  const std::uint64_t total = job.total_bytes();
  std::uint64_t done = 0;
  support::ReadAhead ahead;
  support::OneBehind committing;
  for (int unit = 0; unit < job.units(); ++unit) {
    if (progress) progress(job.name_of(unit), done, total);
    if (unit + 1 < job.units()) ahead.start(job.tensors_of(unit + 1));
    committing.run([&job, &result = results[static_cast<std::size_t>(unit)], written = job.write(unit, directory, false)]() mutable {
      result = job.commit(std::move(written));
    });
    done += job.bytes_of(unit);
  }
  committing.wait();
  if (progress) progress("putting the files in place", total, total);
}

}  // namespace

ConvertReport convert_checkpoint(const std::filesystem::path& source, const std::filesystem::path& output, const ConvertOptions& options) {
  const ConversionJob job(source, options);
  StagedDirectory staged(output, std::span(&source, 1), options.force);
  staged.require_room(job.written_bytes());
  std::vector<LeftOut> left;
  std::vector<UnitResult> results(static_cast<std::size_t>(job.units()));
  try {
    convert_units(job, staged.path(), options.progress, results);
    left = job.finish(staged.path(), results);
  } catch (const support::Stopped&) {
    return job.report({});
  }
  staged.commit();
  ConvertReport report = job.report(results);
  report.finished = true;
  report.left = std::move(left);
  return report;
}

}  // namespace mx::checkpoint
