// Changes of one row of the class table.

#include <array>

#include "tests/engine/vllm/mutants/mutate.hpp"

namespace mx::tests {
namespace {

using namespace deployment;
using namespace engine;
using Name = std::string_view;

/// In the order of ParallelFact.
constexpr std::array<Name, 8> kParallelFacts = {"fi_nvl_two_sided", "fi_nvl_one_sided", "deepep_ht", "all2all_kernels", "all2all_other", "eplb",
                                                "dp_above_one",     "ep_above_one"};

Changes<KeyPairs> pair_changes(const KeyPairs& pairs, const Asked& asked) {
  Changes<KeyPairs> all;
  add_changes(all, pairs, &KeyPairs::weights, "weights", bit_changes(pairs.weights, quant_key_names(mx::deployment::kVllm2026_05), asked.weights));
  add_changes(all, pairs, &KeyPairs::activations, "activations",
              bit_changes(pairs.activations, quant_key_names(mx::deployment::kVllm2026_05), asked.activations));
  return all;
}

Changes<std::span<const DeviceRule>> device_changes(Store& store, std::span<const DeviceRule> rules) {
  return list_changes(
      store, rules, {.swap = false}, [](const DeviceRule&) { return "rule"; },
      [&](const DeviceRule& rule) {
        Changes<DeviceRule> all;
        add_changes(all, rule, &DeviceRule::where, "where", where_changes(store, rule.where));
        add_changes(all, rule, &DeviceRule::switched_on, "switches", variable_changes(store, rule.switched_on));
        if (rule.probe != nullptr) {
          DeviceRule unprobed = rule;
          unprobed.probe = nullptr;
          all.push_back({"probe dropped", unprobed});
        }
        return all;
      });
}

Changes<std::span<const QuantRule>> quant_changes(Store& store, std::span<const QuantRule> rules, const Asked& asked) {
  return list_changes(
      store, rules, {.swap = false}, [](const QuantRule&) { return "rule"; },
      [&](const QuantRule& rule) {
        Changes<QuantRule> all;
        add_changes(all, rule, &QuantRule::where, "where", where_changes(store, rule.where));
        add_changes(all, rule, &QuantRule::pairs, "pairs",
                    list_changes(
                        store, rule.pairs, {.swap = false}, [](const KeyPairs&) { return "pair"; },
                        [&](const KeyPairs& pairs) { return pair_changes(pairs, asked); }));
        return all;
      });
}

Changes<std::span<const RoutingRule>> routing_changes(Store& store, std::span<const RoutingRule> rules, const Asked& asked, Mask not_taken_anyway) {
  return list_changes(
      store, rules, {.swap = false}, [](const RoutingRule&) { return "rule"; },
      [&](const RoutingRule& rule) {
        Changes<RoutingRule> all;
        add_changes(all, rule, &RoutingRule::keys, "keys", pair_changes(rule.keys, asked));
        add_changes(all, rule, &RoutingRule::methods, "methods",
                    bit_changes(rule.methods, routing_names(mx::deployment::kVllm2026_05), not_taken_anyway));
        return all;
      });
}

/// The keys that are left when the class has taken the pair.
Asked taken_keys(const KernelClass& row, const Asked& asked) {
  Asked taken{0, 0, asked.as_half};
  for (const QuantRule& rule : row.quant) {
    for (const KeyPairs& pairs : rule.pairs) {
      taken.weights |= pairs.weights & asked.weights;
      taken.activations |= pairs.activations & asked.activations;
    }
  }
  return taken;
}

Changes<ActivationFormat> format_changes(ActivationFormat format) {
  const bool standard = format == ActivationFormat::standard;
  return {{"other", standard ? ActivationFormat::batched_experts : ActivationFormat::standard}};
}

Changes<HummingGemm> gemm_changes(HummingGemm gemm) {
  Changes<HummingGemm> all;
  using enum HummingGemm;
  for (const HummingGemm other : {not_humming, indexed, grouped_contiguous, grouped_masked}) {
    if (other != gemm) all.push_back({"other " + std::to_string(static_cast<int>(other)), other});
  }
  return all;
}

Changes<Name> word_changes(Name word, Name other) { return {{"other", word == other ? Name() : other}}; }

}  // namespace

Changes<KernelClass> class_changes(Store& store, const KernelClass& row, const Asked& asked) {
  Changes<KernelClass> all;
  if (!asked.as_half) {
    add_changes(all, row, &KernelClass::format, "format", format_changes(row.format));
    add_changes(all, row, &KernelClass::monolithic, "monolithic", flipped(row.monolithic));
    add_changes(all, row, &KernelClass::humming_alone, "humming alone", flipped(row.humming_alone));
  }
  // A class without a GEMM type of Humming is asked for none.
  if (!asked.as_half && row.humming != HummingGemm::not_humming) add_changes(all, row, &KernelClass::humming, "humming", gemm_changes(row.humming));
  if (!asked.as_half && !row.humming_alone) {
    add_changes(all, row, &KernelClass::halves, "halves", name_changes(store, row.halves));
    add_changes(all, row, &KernelClass::only_dtype, "only_dtype", word_changes(row.only_dtype, "float16"));
    add_changes(all, row, &KernelClass::routings, "routings", bit_changes(row.routings, routing_names(mx::deployment::kVllm2026_05)));
    add_changes(all, row, &KernelClass::more_routings, "more_routings",
                routing_changes(store, row.more_routings, taken_keys(row, asked), ~row.routings));
    add_changes(all, row, &KernelClass::batch_invariant, "batch_invariant", flipped(row.batch_invariant));
    add_changes(all, row, &KernelClass::lora, "lora", flipped(row.lora));
    add_changes(all, row, &KernelClass::device_code, "device_code", word_changes(row.device_code, "device+aiter_hint"));
  }
  if (row.halves.empty() && !row.humming_alone) {
    add_changes(all, row, &KernelClass::devices, "devices", device_changes(store, row.devices));
    add_changes(all, row, &KernelClass::takes_no_act_and_mul, "no_act_and_mul", flipped(row.takes_no_act_and_mul));
    add_changes(all, row, &KernelClass::activations, "activations", bit_changes(row.activations, activation_names(mx::deployment::kVllm2026_05)));
    add_changes(all, row, &KernelClass::quant, "quant", quant_changes(store, row.quant, asked));
    add_changes(all, row, &KernelClass::refused_parallel, "parallel", bit_changes(row.refused_parallel, kParallelFacts));
  }
  return all;
}

}  // namespace mx::tests
