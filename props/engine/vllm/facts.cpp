#include "props/engine/vllm/facts.hpp"

#include <algorithm>
#include <cctype>

namespace mx::props {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Python's int(text): blanks at the ends, a sign, digits in groups that single underscores join.
bool nonzero_integer(std::string text) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string::npos) throw EngineError{"ValueError"};
  text = text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
  if (text[0] == '-' || text[0] == '+') text.erase(0, 1);
  const bool groups = !text.empty() && text.front() != '_' && text.back() != '_' && text.find("__") == std::string::npos;
  if (!groups || text.find_first_not_of("0123456789_") != std::string::npos) throw EngineError{"ValueError"};
  return text.find_first_not_of("0_") != std::string::npos;
}

}  // namespace

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || text[at - 1] == ' ') && (end == text.size() || text[end] == ' ')) return true;
  }
  return false;
}

std::vector<std::string_view> texts_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

Facts::Facts(deployment::Engine of_engine, const deployment::Deployment& of)
    : engine(of_engine), deployment(of), weight(of.weight_key), activation(of.activation_key) {
  const deployment::ParallelRequest& parallel = of.parallel;
  const int ranks = parallel.tp * parallel.pcp * parallel.dp;
  const bool experts_split = parallel.enable_expert_parallel && ranks > 1;
  ep_size = experts_split ? ranks : 1;
  const bool more = engine >= deployment::kVllm2026_08 && (parallel.pcp > 1 || parallel.sp > 1);
  exchanges = experts_split && (parallel.dp > 1 || more);
}

bool Facts::is(std::string_view platform) const { return deployment::name_of(deployment.hardware.platform) == platform; }
int Facts::capability() const { return deployment.hardware.capability.value_or(0); }

bool Facts::gfx(std::string_view any_of) const {
  const auto words = texts_of(any_of);
  return is("rocm") &&
         std::any_of(words.begin(), words.end(), [&](std::string_view part) { return deployment.hardware.gcn_arch.find(part) != std::string::npos; });
}

bool Facts::fused_aiter() const {
  const bool runs = gfx(engine < deployment::kVllm2026_08 ? "gfx942 gfx950" : "gfx942 gfx950 gfx1250");
  return runs && deployment.software.aiter_found && word("VLLM_ROCM_USE_AITER") && word("VLLM_ROCM_USE_AITER_MOE", true);
}

bool Facts::exchange_is(std::string_view any_of) const { return exchanges && has_word(any_of, deployment.parallel.all2all_backend); }

bool Facts::keys_are(std::string_view weights, std::string_view activations) const {
  return has_word(weights, weight) && has_word(activations, activation);
}

bool Facts::integer(std::string_view variable, bool otherwise) const {
  const auto found = deployment.env.find(std::string(variable));
  return found == deployment.env.end() ? otherwise : nonzero_integer(found->second);
}

bool Facts::word(std::string_view variable, bool otherwise) const {
  const auto found = deployment.env.find(std::string(variable));
  if (found == deployment.env.end()) return otherwise;
  const std::string text = lower(found->second);
  return text == "1" || text == "true";
}

}  // namespace mx::props
