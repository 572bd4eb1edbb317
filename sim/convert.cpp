#include "sim/convert.hpp"

#include <future>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/conversion_job.hpp"
#include "sim/staging.hpp"

namespace mx::sim {
namespace {

/// Waits for the disk beside the work on the next unit. One file at a time.
class Committer {
 public:
  void commit(SafetensorsWriter writer) {
    wait();
    pending_ = std::async(std::launch::async, [held = std::move(writer)]() mutable { held.commit(); });
  }
  void wait() {
    if (pending_.valid()) pending_.get();
  }

 private:
  std::future<void> pending_;
};

}  // namespace

ConvertReport convert_checkpoint(const std::filesystem::path& source, const std::filesystem::path& output, const ConvertOptions& options) {
  const ConversionJob job(source, options);
  StagedDirectory staged(output, std::span(&source, 1), options.force);
  std::vector<UnitResult> results;
  const std::uint64_t total = job.total_bytes();
  std::uint64_t done = 0;
  Committer committer;
  for (int unit = 0; unit < job.units(); ++unit) {
    if (options.progress) options.progress(job.name_of(unit), done, total);
    if (options.stop && options.stop()) return job.report(results);
    std::optional<WrittenUnit> written = job.write(unit, staged.path(), false);
    if (!written) return job.report(results);
    results.push_back(std::move(written->result));
    committer.commit(std::move(written->writer));
    done += job.bytes_of(unit);
  }
  committer.wait();
  job.finish(staged.path(), results);
  staged.commit();
  ConvertReport report = job.report(results);
  report.finished = true;
  return report;
}

}  // namespace mx::sim
