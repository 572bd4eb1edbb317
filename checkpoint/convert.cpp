#include "checkpoint/convert.hpp"

#include <span>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint_conversion.hpp"
#include "checkpoint/staging.hpp"
#include "support/one_behind.hpp"

namespace mx::checkpoint {
namespace {

/// While one job is converted, the one before comes to the disk, and the system reads the next.
void convert_jobs(const CheckpointConversion& conversion, const std::filesystem::path& directory, const support::Progress& progress,
                  std::span<JobResult> results) {
  const std::uint64_t total = conversion.total_bytes();
  std::uint64_t done = 0;
  support::ReadAhead ahead;
  support::OneBehind committing;
  for (int job = 0; job < conversion.jobs(); ++job) {
    if (progress) progress(conversion.name_of(job), done, total);
    if (job + 1 < conversion.jobs()) ahead.start(conversion.tensors_of(job + 1));
    committing.run([&conversion, &result = results[static_cast<std::size_t>(job)], written = conversion.write(job, directory, false)]() mutable {
      result = conversion.commit(std::move(written));
    });
    done += conversion.bytes_of(job);
  }
  committing.wait();
  if (progress) progress("putting the files in place", total, total);
}

}  // namespace

ConvertReport convert_checkpoint(const std::filesystem::path& source, const std::filesystem::path& output, const ConvertOptions& options) {
  const CheckpointConversion conversion(source, options);
  StagedDirectory staged(output, std::span(&source, 1), options.force);
  staged.require_room(conversion.written_bytes());
  std::vector<LeftOut> left;
  std::vector<JobResult> results(static_cast<std::size_t>(conversion.jobs()));
  try {
    convert_jobs(conversion, staged.path(), options.progress, results);
    left = conversion.finish(staged.path(), results);
  } catch (const support::Stopped&) {
    return conversion.report({});
  }
  staged.commit();
  ConvertReport report = conversion.report(results);
  report.finished = true;
  report.left = std::move(left);
  return report;
}

}  // namespace mx::checkpoint
