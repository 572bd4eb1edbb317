#include "verbs/sweep/sweep_document.hpp"

#include <fmt/core.h>

#include "verbs/numbers/conversion_text.hpp"

namespace mx::verbs {
namespace {

std::string digest_text(std::uint64_t digest) { return fmt::format("0x{:016x}", digest); }

void add_against(Document& document, const Swept& swept, std::size_t compared) {
  const RecordedSweep& recorded = *swept.recorded;
  const std::vector<int> differing = differing_chunks(swept.digests, recorded);
  document.value("against", {{"recorded", recorded.name}, {"compared", compared}, {"differing", differing}});
  document.line(fmt::format("{} of {} chunks differ from {}", differing.size(), compared, recorded.name));
  for (int chunk : differing) {
    const auto i = static_cast<std::size_t>(chunk);
    document.line(fmt::format("chunk {} (fp32 {}): recorded {}, here {}", chunk, sim::patterns_text(chunk), digest_text(recorded.digests[i]),
                              digest_text(*swept.digests[i])));
  }
  document.ended(differing.empty() ? 0 : 1);
}

void add_digests(Document& document, const Swept& swept) {
  document.value("complete", sim::missing_chunks(swept.digests, swept.shard).empty());
  document.value("digest", "mix64_sum");
  Table chunks{"chunks", {{"chunk", "chunk"}, {"inputs", "fp32 inputs"}, {"digest", "digest"}}};
  for (int chunk = 0; chunk < sim::kSweepChunks; ++chunk) {
    const std::optional<std::uint64_t>& digest = swept.digests[static_cast<std::size_t>(chunk)];
    if (digest) chunks.add({chunk, sim::patterns_text(chunk), digest_text(*digest)});
  }
  const std::size_t known = chunks.rows.size();
  document.table(std::move(chunks));
  if (swept.recorded) add_against(document, swept, known);
}

}  // namespace

Document sweep_document(const sim::SweepSubject& subject, const Profile& profile, const Swept& swept) {
  const std::string_view by = sim::name_of(subject.by);
  Document document{"sweep"};
  document.value("format", subject.to->name);
  document.value("profile", profile.name);
  document.value("conversion", conversion_json(subject.how, *subject.to));
  document.value("computed_by", by);
  document.value("shard", fmt::format("{}/{}", swept.shard.index, swept.shard.count));
  document.line(fmt::format("f32 -> {}, profile {}: {}; by the {}", subject.to->name, profile.name, short_text(subject.how), by));
  add_digests(document, swept);
  return document;
}

Document sweep_merge_document(const sim::SweepRecord& merged, const std::vector<std::string>& states, const Swept& swept) {
  Document document{"sweep-merge"};
  document.value("states", states);
  document.value("conversion", merged.identity);
  document.value("build", merged.build);
  document.line(fmt::format("{} state{} of one sweep: {}; {}", states.size(), states.size() == 1 ? "" : "s", merged.identity, merged.build));
  add_digests(document, swept);
  return document;
}

}  // namespace mx::verbs
