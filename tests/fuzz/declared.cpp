// Configurations of checkpoints: whatever one declares, by whatever patterns, is read or refused, as every engine version reads it. The first line is
// a module's name, the rest config.json.

#include <algorithm>
#include <span>
#include <string>

#include "checkpoint/configuration.hpp"
#include "support/json.hpp"
#include "tests/fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = mx::tests::text_of(data, size);
  for (const mx::deployment::Engine engine : mx::deployment::known_engines()) {
    mx::tests::expect_answer(text, [&] {
      const std::size_t end = std::min(text.find('\n'), text.size());
      constexpr mx::support::JsonLimits kLimits{.bytes = 1 << 16, .depth = 16, .memory = 1 << 22};
      const mx::support::Json json = mx::support::parse_json(std::span(data, size).subspan(std::min(end + 1, size)), kLimits, "config.json");
      if (!json.is_object()) return;
      const mx::checkpoint::Configuration configuration(json, mx::support::Json(), engine, "config.json");
      const mx::checkpoint::ModuleMethod method = configuration.method_of({.name = std::string(text.substr(0, end))});
      for (const mx::checkpoint::DeclaredFact& fact : method.facts)
        mx::tests::require(!fact.key.empty() && !fact.path.empty(), "a fact has a key and a place");
      mx::tests::require(!method.left || !method.quantized, "what a list leaves is not quantized");
    });
  }
  return 0;
}
