#include "model/engine/vllm/architecture/layers.hpp"

#include <algorithm>
#include <charconv>
#include <set>

namespace mx::engine {
namespace {

using deployment::ConfigValue;

constexpr std::int64_t kMostLayers = 1 << 16;

/// What a transformers class makes of a NemotronH file that has neither a pattern nor a list.
constexpr std::string_view kUsualPattern = "ME*-";

/// Kinds of the layers of a pattern: true where there are experts.
std::vector<bool> pattern_of(const FieldReader& fields) {
  std::vector<bool> experts;
  for (const std::string_view name : {"layers_block_type", "layer_types"}) {
    for (const std::string& type : fields.words(name)) experts.push_back(type == "moe");
    if (!experts.empty()) return experts;
  }
  const std::string letters = fields.word({"hybrid_override_pattern", kUsualPattern});
  for (const char letter : letters) {
    if (std::string_view("M*E-").find(letter) == std::string_view::npos)
      fields.fail(fields.called("hybrid_override_pattern") + " has the letter '" + std::string(1, letter) + "', must be of M, *, E and -");
    experts.push_back(letter == 'E');
  }
  return experts;
}

std::int64_t first_of(const ArchitectureRow& row, const FieldReader& fields) {
  return row.first.exists() ? fields.size(row.first, 0, kMostLayers) : 0;
}

std::int64_t step_of(const ArchitectureRow& row, const FieldReader& fields, std::int64_t low) {
  return row.step.exists() ? fields.size(row.step, low, kMostLayers) : 1;
}

/// "3,4,5" or a list; none where the field is missing.
std::set<std::int64_t> enumerated(const FieldReader& fields) {
  constexpr std::string_view kName = "moe_layers_enum";
  const ConfigValue* const value = fields.given(kName);
  if (value == nullptr) return {};
  std::set<std::int64_t> numbers;
  if (!value->is(ConfigValue::Kind::text)) {
    for (const std::int64_t number : fields.integers(kName)) numbers.insert(number);
    return numbers;
  }
  std::string_view rest = value->text;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string_view part = rest.substr(0, comma);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || end != part.data() + part.size())
      fields.fail(fields.called(kName) + " is " + value->written() + ", must be numbers with commas between them");
    numbers.insert(number);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return numbers;
}

[[noreturn]] void too_short(const FieldReader& fields, std::string_view name, std::size_t has, int count) {
  fields.fail(fields.called(name) + " has " + std::to_string(has) + " entries for " + std::to_string(count) + " layers");
}

/// Layers as a list of words or numbers says, or null where it says nothing.
std::vector<int> listed_sparse(const FieldReader& fields, int count) {
  const std::vector<std::string> types = fields.words("mlp_layer_types");
  if (types.empty()) return {};
  if (types.size() < static_cast<std::size_t>(count)) too_short(fields, "mlp_layer_types", types.size(), count);
  std::vector<int> layers;
  for (int i = 0; i < count; ++i) {
    if (types[static_cast<std::size_t>(i)] == "sparse") layers.push_back(i);
  }
  return layers;
}

template <typename Has>
std::vector<int> those(int count, const Has& has) {
  std::vector<int> layers;
  for (int i = 0; i < count; ++i) {
    if (has(i)) layers.push_back(i);
  }
  return layers;
}

std::vector<int> behind_dense(const ArchitectureRow& row, const FieldReader& fields, int count) {
  const std::int64_t first = first_of(row, fields), step = step_of(row, fields, 1);
  return those(count, [&](int i) { return i >= first && i % step == 0; });
}

std::vector<int> by_frequency(const ArchitectureRow& row, const FieldReader& fields, int count) {
  constexpr std::string_view kName = "moe_layer_freq";
  const ConfigValue* const value = fields.given(kName);
  if (value == nullptr) return row.first.exists() ? behind_dense(row, fields, count) : std::vector<int>();
  if (value->is(ConfigValue::Kind::integer)) return {};  // the class looks at lists alone
  const std::vector<std::int64_t> numbers = fields.integers(kName);
  if (numbers.size() < static_cast<std::size_t>(count)) too_short(fields, kName, numbers.size(), count);
  return those(count, [&](int i) { return numbers[static_cast<std::size_t>(i)] != 0; });
}

std::vector<int> by_sparse_step(const ArchitectureRow& row, const FieldReader& fields, int count) {
  const std::vector<std::int64_t> dense = fields.integers("mlp_only_layers");
  const std::int64_t step = step_of(row, fields, 1);
  return those(count, [&](int i) { return (i + 1) % step == 0 && std::ranges::find(dense, i) == dense.end(); });
}

std::vector<int> by_span(const ArchitectureRow& row, const FieldReader& fields, int count) {
  const std::int64_t first = first_of(row, fields), step = step_of(row, fields, 1), given = fields.size(row.last, -1, kMostLayers);
  const std::int64_t last = given == -1 ? count - 1 : given;
  return those(count, [&](int i) { return i >= first && i <= last && (i + 1) % step == 0; });
}

std::vector<int> by_enumeration(const ArchitectureRow& row, const FieldReader& fields, int count) {
  if (fields.given("mlp_layer_types") != nullptr) return listed_sparse(fields, count);
  if (fields.given("moe_layers_enum") == nullptr) {
    if (!row.first.exists())
      fields.fail(fields.called("moe_layers_enum") + " is missing, and its configuration class has no default that the engine can read");
    return behind_dense(row, fields, count);
  }
  const std::set<std::int64_t> numbers = enumerated(fields);
  return those(count, [&](int i) { return numbers.contains(i); });
}

std::vector<int> by_rule(const ArchitectureRow& row, const FieldReader& fields, int count) {
  switch (row.rule) {
    case SparseRule::all: return those(count, [](int) { return true; });
    case SparseRule::behind_dense: return behind_dense(row, fields, count);
    case SparseRule::sparse_step: return by_sparse_step(row, fields, count);
    case SparseRule::interleaved: {
      const std::int64_t step = step_of(row, fields, 0);
      return those(count, [&](int i) { return step > 0 && (i + 1) % step == 0; });
    }
    case SparseRule::offset: {
      const std::int64_t step = step_of(row, fields, 1), first = first_of(row, fields);
      return those(count, [&](int i) { return i % step == first; });
    }
    case SparseRule::span: return by_span(row, fields, count);
    case SparseRule::frequency_list: return by_frequency(row, fields, count);
    case SparseRule::types: return fields.given("mlp_layer_types") != nullptr ? listed_sparse(fields, count) : behind_dense(row, fields, count);
    case SparseRule::enumerated: return by_enumeration(row, fields, count);
    case SparseRule::pattern: break;
  }
  const std::vector<bool> experts = pattern_of(fields);
  return those(count, [&](int i) { return experts[static_cast<std::size_t>(i)]; });
}

/// The fields that decided, for a model that has no layer with experts.
std::string deciding(const ArchitectureRow& row, const FieldReader& fields) {
  std::string text;
  const auto add = [&](std::string_view name) {
    const ConfigValue* const value = name.empty() ? nullptr : fields.given(name);
    // A row's field may be one of the lists below, too.
    const bool is_said = !name.empty() && text.find(fields.called(name) + " is ") != std::string::npos;
    if (value != nullptr && !is_said) text += (text.empty() ? "" : ", ") + fields.called(name) + " is " + value->written();
  };
  for (const std::string_view name : {row.first.names[0], row.last.names[0], row.step.names[0]}) add(name);
  for (const std::string_view name :
       {"mlp_only_layers", "moe_layer_freq", "mlp_layer_types", "moe_layers_enum", "layers_block_type", "hybrid_override_pattern"}) {
    if (fields.was_asked(name)) add(name);
  }
  return text;
}

}  // namespace

int layer_count(const ArchitectureRow& row, const FieldReader& fields) {
  if (row.rule == SparseRule::pattern) return static_cast<int>(pattern_of(fields).size());
  return static_cast<int>(fields.size(row.layers, 1, kMostLayers));
}

std::vector<int> expert_layers(const ArchitectureRow& row, const FieldReader& fields, int count) {
  std::vector<int> layers = by_rule(row, fields, count);
  if (!layers.empty()) return layers;
  fields.unsupported("no experts: none of its " + std::to_string(count) + " layers has any, " + deciding(row, fields));
}

}  // namespace mx::engine
