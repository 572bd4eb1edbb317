#include "cli/layout_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

#include "cli/env_option.hpp"
#include "model/engine/vllm/tables.hpp"
#include "model/error.hpp"
#include "model/families/carried.hpp"
#include "model/families/launch.hpp"
#include "model/families/libraries.hpp"
#include "model/families/memory.hpp"
#include "model/names.hpp"
#include "verbs/layout/deployment_choice.hpp"
#include "verbs/select/engine_notes.hpp"

namespace mx::cli {
namespace {

struct Choice {
  std::string_view key;
  std::string_view meaning;
};

/// Beside the fields of the setting.
constexpr std::array<Choice, 12> kChoices{{
    {"shape",
     "of a layer IxH or ExIxH (experts, intermediate, hidden), of a building block RxC or BxRxC (batch, rows, columns); or E=..,I=..,H=..; --tp "
     "divides a layer's I as the engine does"},
    {"rank-shape", "in the place of --shape: of one rank of --tp"},
    {"tensor", "of a layer: w13_weight, w13_weight_scale, w13_bias, w2_weight, w2_weight_scale, w2_bias, ..."},
    {"padded", "IxH that the layer is rounded up to before it is loaded (default: as the engine rounds MXFP4, else as the shape)"},
    {"format", "of the checkpoint: mxfp4, nvfp4, mxfp8, fp8_tensor, fp8_channel, fp8_block, int4, fp8_block_e8m0, fp8_pair"},
    {"block",
     "of fp8_block: rows and columns of what has a scale: 64 or 32 where the engine makes finer blocks (default 128, with --tp the engine's)"},
    {"unit-bits", "of a building block: bits of what it moves (default: its own, else 8)"},
    {"version", "of a building block's converter (default: the engine's)"},
    {"dp", "of a model in the place of NAME: data parallel size (default 1)"},
    {"all2all", "of a model: the exchange (default allgather_reducescatter)"},
    {"moe-backend", "of a model: the backend that is asked for (default auto)"},
    {"layer", "of a model: the kind of layers that this one belongs to (default: the first kind)"},
}};

/// The fields of a setting that have an option of their own: releases of libraries are --library's.
std::vector<const families::SettingKey*> own_keys() {
  std::vector<const families::SettingKey*> keys;
  for (const families::SettingKey& key : families::setting_keys()) {
    if (!families::is_of_library(key.key)) keys.push_back(&key);
  }
  return keys;
}

bool is_flag(const families::SettingKey& key) { return key.trials.size() == 2 && key.trials.front() == "no"; }

}  // namespace

std::vector<verbs::KeyValue> LayoutOptions::fields() const {
  std::vector<verbs::KeyValue> fields;
  std::size_t i = 0;
  const auto add = [&](std::string_view key) {
    if (!values[i].empty()) fields.push_back({std::string(key), values[i]});
    ++i;
  };
  for (const Choice& choice : kChoices) add(choice.key);
  for (const families::SettingKey* key : own_keys()) add(key->key);
  if (expert_parallel) fields.push_back({"ep", "yes"});
  for (const std::string& library : libraries) fields.push_back({"library", library});
  for (const auto& [name, value] : variables_of(variables)) fields.push_back({"env", fmt::format("{}={}", name, value)});
  for (const std::string& word : sets) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) throw Error(ErrorCode::usage, fmt::format("'{}' is not KEY=VALUE", word), "--set");
    fields.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  for (auto field = fields.begin(); field != fields.end(); ++field) {
    const bool may_repeat = field->key == "library" || field->key == "env";
    const auto same = [&](const verbs::KeyValue& other) { return same_name(other.key, field->key); };
    if (!may_repeat && std::any_of(fields.begin(), field, same)) throw Error(ErrorCode::usage, fmt::format("{} is given twice", field->key), "--set");
  }
  return fields;
}

std::vector<verbs::KeyValue> LayoutOptions::fields_of(std::string_view backend) const {
  std::vector<verbs::KeyValue> typed = fields();
  if (deployment.empty()) return typed;
  const std::string_view name = backend.substr(0, backend.find(','));
  if (verbs::layout_named(name).backends.empty())
    throw Error(ErrorCode::usage, "a building block is laid out by its --shape, not by a deployment", "--deployment");
  const deployment::Engine version = engine().empty() ? deployment::kDefaultEngine : deployment::engine_named(engine());
  std::vector<verbs::KeyValue> all = verbs::choices_on(support::load_deployment_file(deployment, {}, version), name);
  // Another layer's shape is not cut by this one's.
  if (std::ranges::any_of(typed, [](const verbs::KeyValue& field) { return field.key == "shape"; }))
    std::erase_if(all, [](const verbs::KeyValue& field) { return field.key == "rank-shape" || field.key == "padded"; });
  all.insert(all.end(), typed.begin(), typed.end());
  return all;
}

void add_library_option(Verb verb, std::vector<std::string>& libraries) {
  std::string names;
  for (const families::Library& library : families::libraries()) names += (names.empty() ? "" : ", ") + std::string(library.name);
  verb.add_option(
          "--library", libraries,
          fmt::format("NAME=RELEASE: a library's release other than the one that the engine asks for, as flashinfer=0.6.18; repeat for several "
                      "({})",
                      names))
      .repeated()
      .distinct('=');
}

void add_launch_option(Verb verb, std::string& launch) {
  std::string names;
  for (const families::LaunchKeyRow& row : families::launch_keys()) names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
  verb.add_option(
      "--launch", launch,
      fmt::format("KEY=NUMBER,...: of the kernels' launch, in the place of what the engine or this program chooses; w2.KEY: of the second "
                  "product alone ({}); tuned=FILE: of vLLM's Triton kernel the tiles of a tuned file",
                  names));
}

std::vector<std::string> libraries_of(const std::string& engine, const std::vector<std::string>& typed) {
  std::vector<std::string> libraries = families::libraries_asked_by(deployment::release_named(engine));
  libraries.insert(libraries.end(), typed.begin(), typed.end());
  families::Setting tried{.sizes = {}, .padded = {}, .form = {}, .engine = deployment::engine_named(engine)};
  families::choose_libraries(tried, libraries);
  return libraries;
}

void require_layout(std::string_view engine, std::string_view word) {
  if (engine.empty()) return;
  const std::string_view backend = word.substr(word.find_last_of('=') + 1);
  const auto is_it = [&](const auto& row) { return same_name(row.backend, backend); };
  if (std::ranges::any_of(families::all_backend_layouts(), is_it)) return;
  const deployment::Engine version = verbs::asked_engine(engine).engine;
  for (const std::string_view oracle : engine::oracle_names(version)) {
    for (const engine::BackendRow& row : engine::tables_of(version, oracle).backends) {
      if (row.versions.has(version) && same_name(row.name, backend))
        throw Error(ErrorCode::unsupported, fmt::format("{} of {} (oracle {}): no layout", row.name, deployment::name_of(version), oracle));
    }
  }
}

void note_conversion(verbs::Document& document, std::string_view engine, std::string_view backend, layout::WeightFormat format) {
  if (engine.empty()) return;
  const verbs::AskedEngine asked = verbs::asked_engine(engine);
  verbs::EngineNotes notes(document, asked);
  notes.libraries();
  notes.conversion(backend, families::standing_text(families::conversion_at(backend, format, asked.engine), asked.engine));
}

void note_conversion(verbs::Document& document, std::string_view engine, const verbs::Subject& subject) {
  if (const auto* choice = std::get_if<verbs::BackendChoice>(&subject.choice))
    note_conversion(document, engine, choice->row->backend, choice->row->format);
}

void note_variables(verbs::Document& document, const std::vector<verbs::KeyValue>& fields, const verbs::Subject& subject) {
  const auto* const choice = std::get_if<verbs::BackendChoice>(&subject.choice);
  std::map<std::string, std::string> env;
  for (const verbs::KeyValue& field : fields) {
    const std::size_t equals = field.value.find('=');
    if (field.key == "env" && equals != std::string::npos) env.insert_or_assign(field.value.substr(0, equals), field.value.substr(equals + 1));
  }
  if (choice != nullptr) note_variables(document, env, choice->setting.engine);
}

std::string LayoutOptions::engine() const {
  for (const verbs::KeyValue& field : fields()) {
    if (field.key == "engine") return field.value;
  }
  return {};
}

Option add_setting_option(Verb verb, const families::SettingKey& key, std::string& value) {
  const std::string meaning = fmt::format("{}: {}", key.meaning, key.takes);
  if (is_flag(key)) return verb.add_flag(fmt::format("--{}{{yes}}", key.key), value, meaning);
  return verb.add_option("--" + std::string(key.key), value, meaning);
}

void add_layout_options(Verb verb, LayoutOptions& options) {
  const std::vector<const families::SettingKey*> keys = own_keys();
  options.values.resize(kChoices.size() + keys.size());
  std::size_t i = 0;
  for (const Choice& choice : kChoices) verb.add_option("--" + std::string(choice.key), options.values[i++], std::string(choice.meaning));
  for (const families::SettingKey* key : keys) add_setting_option(verb, *key, options.values[i++]);
  verb.add_flag("--ep", options.expert_parallel, "of a model: ranks share its experts whole");
  add_library_option(verb, options.libraries);
  add_env_option(verb, options.variables);
  verb.add_option("--set", options.sets,
                  "KEY=VALUE: a parameter of a building block (mxact layout show NAME lists them), or any choice above; repeat for several")
      .repeated();
  add_json_option(verb, options.out);
}

void add_layout_deployment(Verb verb, LayoutOptions& options) {
  verb.add_option(
      "--deployment", options.deployment,
      "FILE: a deployment, which says the sizes on one of its ranks, format, device and all else of a backend; options beside it hold in its place");
}

}  // namespace mx::cli
