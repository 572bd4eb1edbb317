// Configurations of checkpoints: whatever one declares, by whatever patterns, is read or refused. The first line is a module's name, the rest
// config.json.

#include "checkpoint/declared.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "support/json.hpp"
#include "tests/fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = mx::fuzz::text_of(data, size);
  mx::fuzz::expect_answer(text, [&] {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::array<std::string, 2> modules{std::string(text.substr(0, end)), "model.layers.0.mlp.experts"};
    constexpr mx::sim::JsonLimits kLimits{.bytes = 1 << 16, .depth = 16, .memory = 1 << 22};
    const mx::sim::Json json = mx::sim::parse_json(std::span(data, size).subspan(std::min(end + 1, size)), kLimits, "config.json");
    if (!json.is_object()) return;
    mx::sim::Declarations all;
    mx::sim::add_declarations(json, "", all);
    const mx::sim::Declared declared = mx::sim::declared_of(all, modules, "config.json");
    for (const mx::sim::DeclaredFact& fact : declared.facts)
      mx::fuzz::require(!fact.key.empty() && !fact.path.empty(), "a fact has a key and a place");
    mx::fuzz::require(declared.left.empty() || !all.left.empty(), "only a list leaves a module");
  });
  return 0;
}
