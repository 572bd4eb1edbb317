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
  const std::string_view text = mx::tests::text_of(data, size);
  mx::tests::expect_answer(text, [&] {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::array<std::string, 2> modules{std::string(text.substr(0, end)), "model.layers.0.mlp.experts"};
    constexpr mx::support::JsonLimits kLimits{.bytes = 1 << 16, .depth = 16, .memory = 1 << 22};
    const mx::support::Json json = mx::support::parse_json(std::span(data, size).subspan(std::min(end + 1, size)), kLimits, "config.json");
    if (!json.is_object()) return;
    mx::checkpoint::Declarations all;
    mx::checkpoint::add_declarations(json, "", all);
    const mx::checkpoint::Declared declared = mx::checkpoint::declared_of(all, modules, "config.json");
    for (const mx::checkpoint::DeclaredFact& fact : declared.facts)
      mx::tests::require(!fact.key.empty() && !fact.path.empty(), "a fact has a key and a place");
    mx::tests::require(declared.left.empty() || !all.left.empty(), "only a list leaves a module");
  });
  return 0;
}
