#include "cli/serving_options.hpp"

#include <array>
#include <utility>

#include "cli/engine_option.hpp"
#include "cli/env_option.hpp"
#include "cli/numbers.hpp"
#include "model/error.hpp"

namespace mx::cli {

verbs::AskedFor ServingOptions::asked(const std::string& oracle) const {
  const auto size = [](int typed) { return typed == 0 ? std::nullopt : std::optional(typed); };
  return {.engine = engine,
          .oracle = oracle,
          .env = variables_of(variables),
          .platform = platform,
          .tp = size(tp),
          .dp = size(dp),
          .expert_parallel = expert_parallel,
          .all2all = all2all,
          .moe_backend = moe_backend};
}

void ServingOptions::require_none(const std::string& why) const {
  const std::array<std::pair<const char*, bool>, 8> options{{{"--platform", !platform.empty()},
                                                             {"--tp", tp != 0},
                                                             {"--dp", dp != 0},
                                                             {"--ep", expert_parallel},
                                                             {"--all2all", !all2all.empty()},
                                                             {"--moe-backend", !moe_backend.empty()},
                                                             {"--layer", layer.has_value()},
                                                             {"--env", !variables.empty()}}};
  for (const auto& [option, is_typed] : options) {
    if (is_typed) throw Error(ErrorCode::usage, std::string(option) + " is for " + why);
  }
}

void add_placement_options(Verb verb, ServingOptions& options, bool layer) {
  constexpr int kMostRanks = 4096;
  verb.add_option("--platform", options.platform, "of a model: a card (B200, MI355X, \"RTX PRO 6000\") or a platform (SM100, gfx950)");
  verb.add_option("--tp", options.tp, "of a model: tensor parallel size (default 1)").check(whole_number_in(1, kMostRanks));
  verb.add_option("--dp", options.dp, "of a model: data parallel size (default 1)").check(whole_number_in(1, kMostRanks));
  verb.add_flag("--ep", options.expert_parallel, "of a model: ranks share its experts whole");
  verb.add_option("--all2all", options.all2all, "of a model: the exchange (default allgather_reducescatter)");
  verb.add_option("--moe-backend", options.moe_backend, "of a model: the backend that is asked for (default auto)");
  if (layer) verb.add_option("--layer", options.layer, "of a model: the kind of layers that this one belongs to (default: the first kind)");
  add_env_option(verb, options.variables);
}

Option add_serving_options(Verb verb, ServingOptions& options, bool layer) {
  const Option engine = add_engine_option(verb, options.engine);
  add_placement_options(verb, options, layer);
  return engine;
}

}  // namespace mx::cli
