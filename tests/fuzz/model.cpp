// config.json of models, as engines serve them: whatever one says, each kind of its layers has an answer, or the file is refused.

#include <algorithm>
#include <set>

#include "checkpoint/served_model.hpp"
#include "model/audit/deployment_text.hpp"
#include "support/deployment_file.hpp"
#include "tests/fuzz/target.hpp"

namespace {

void use(const mx::checkpoint::ServedModel& model, mx::deployment::Engine engine) {
  std::set<int> layers;
  for (const mx::checkpoint::ServedKind& kind : model.kinds) {
    mx::tests::require(!kind.layers.empty() && std::ranges::is_sorted(kind.layers), "a kind has layers in their order");
    for (const int layer : kind.layers) mx::tests::require(layers.insert(layer).second && layer < model.reading.layers, "a layer is of one kind");
    const std::string text = mx::audit::info_text(engine, kind.oracle, kind.deployment);
    mx::tests::require(mx::support::parse_deployment_file(text, "written.info", {}, engine).oracle == kind.oracle,
                       "what it stands for is read again");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const mx::tests::ScratchFolder folder;
  const std::filesystem::path file = folder.write("config.json", data, size);
  for (const mx::deployment::Engine engine : mx::deployment::known_engines()) {
    mx::tests::expect_answer(mx::tests::text_of(data, size), [&] {
      use(mx::checkpoint::served_model(file, {.platform = "SM100", .parallel = {.tp = 2, .dp = 2, .enable_expert_parallel = true}, .engine = engine}),
          engine);
    });
  }
  return 0;
}
