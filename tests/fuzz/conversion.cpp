// What conversions keep between their steps: the first line says what the rest is, a plan, a record of a unit, the tags of a layer or of a shard.
// What is taken is written and read again as the same.

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/job_plan.hpp"
#include "checkpoint/layout_tags.hpp"
#include "tests/fuzz/target.hpp"

namespace {

using mx::tests::ScratchFolder;

const ScratchFolder& folder() {
  static const ScratchFolder made;
  return made;
}

std::filesystem::path file_with(std::string_view text) {
  return folder().write("input.json", reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

/// What is written of what was read.
std::string plan_again(const std::string& text) { return mx::checkpoint::text_of(mx::checkpoint::read_plan(file_with(text))); }
std::string unit_again(const std::string& text) { return mx::checkpoint::text_of(mx::checkpoint::read_record(file_with(text))); }
std::string layer_again(const std::string& text) { return mx::checkpoint::text_of(mx::checkpoint::read_layer_tags(text, "input")); }
std::string shard_again(const std::string& text) { return mx::checkpoint::shard_tags_text(mx::checkpoint::read_shard_tags(text, "input")); }

struct Kind {
  std::string_view name;
  std::string (*again)(const std::string& text);
};
constexpr std::array<Kind, 4> kKinds{{{"plan", plan_again}, {"unit", unit_again}, {"layer", layer_again}, {"shard", shard_again}}};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = mx::tests::text_of(data, size);
  const std::size_t end = std::min(text.find('\n'), text.size());
  const auto* const kind = std::ranges::find(kKinds, text.substr(0, end), &Kind::name);
  if (kind == kKinds.end()) return 0;
  mx::tests::expect_answer(text, [&] {
    const std::string written = kind->again(std::string(text.substr(std::min(end + 1, size))));
    mx::tests::require(kind->again(written) == written, "what is taken is written and read again as the same");
  });
  return 0;
}
