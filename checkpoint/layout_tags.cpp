#include "checkpoint/layout_tags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "checkpoint/setting_json.hpp"
#include "kernels/zeros.hpp"
#include "model/error.hpp"
#include "support/digest.hpp"
#include "support/fnv1a.hpp"
#include "support/json.hpp"
#include "support/json_fields.hpp"
#include "support/quote.hpp"
#include "support/tensor_reads.hpp"

namespace mx::checkpoint {
namespace {

using layout::Layout;
using layout::PackedTensor;
using layout::Role;

constexpr support::JsonLimits kLimits{.bytes = std::uint64_t{1} << 20, .depth = 8, .memory = std::uint64_t{64} << 20};

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw Error(ErrorCode::input, message, where); }

/// Of the steps of a view program.
class Digest : public support::Fnv1a {
 public:
  using support::Fnv1a::add;
  void add(const std::vector<std::int64_t>& numbers) { add_all(numbers); }

  void operator()(const layout::Split& s) { add({s.axis, s.inner}); }
  void operator()(const layout::Merge& s) { add({s.axis, s.count}); }
  void operator()(const layout::Permute& s) { add({s.order.begin(), s.order.end()}); }
  void operator()(const layout::Flip& s) { add(s.axis); }
  void operator()(const layout::Pad& s) { add({s.axis, s.extent, static_cast<std::int64_t>(s.content)}); }
  void operator()(const layout::Slice& s) { add({s.axis, s.begin, s.length}); }
  void operator()(const layout::Repeat& s) { add({s.axis, s.times}); }
  void operator()(const layout::Explode& s) { add(s.bits); }
  void operator()(const layout::Pack&) {}
  void operator()(const layout::Table& s) {
    add(s.axis);
    add(s.source);
  }
};

/// How the container calls units of memory; the first row that fits.
struct DtypeRow {
  std::string_view cast;  // empty: any
  int bits;               // 0: any other number of them, as bytes
  std::string_view name;
  int element_bits;
};
constexpr std::array<DtypeRow, 4> kDtypes{{
    {"bf16_to_fp16", 16, "F16", 16},
    {"", 16, "BF16", 16},
    {"", 32, "F32", 32},
    {"", 0, "U8", 8},
}};

support::Json parse(const std::string& text, const std::string& where) {
  return support::parse_json(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), kLimits, where);
}

void check_version(support::JsonFields& fields) {
  const std::int64_t version = fields.integer("version", 0, INT32_MAX);
  if (version == kTagsVersion) return;
  fail(fields.where(),
       fmt::format(
           "the tags have version {}, this program reads version {}: convert the checkpoint again, or restore it with the mxact that wrote them",
           version, kTagsVersion));
}

Role read_role(support::JsonFields& fields) {
  const std::string name = fields.text("role");
  try {
    return layout::role_named(name);
  } catch (const Error& error) {
    fail(fields.where(), error.what());
  }
}

support::Json axes_json(const std::vector<layout::Axis>& axes) {
  support::Json json = support::Json::array();
  for (const layout::Axis& axis : axes) json.push_back({{"axis", axis.name}, {"extent", axis.extent}});
  return json;
}

std::vector<layout::Axis> read_axes(const support::Json& json, const std::string& where) {
  std::vector<layout::Axis> axes;
  for (const support::Json& entry : json) {
    support::JsonFields fields(entry, where + ": logical");
    axes.push_back({fields.text("axis"), fields.integer("extent", 1, std::int64_t{1} << 40)});
    fields.finish();
  }
  return axes;
}

std::string axes_text(const std::vector<layout::Axis>& axes) {
  std::string text;
  for (const layout::Axis& axis : axes) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", axis.name, axis.extent);
  return "[" + text + "]";
}

/// Where the number of the expert stands in the name of a tensor that each expert has.
constexpr std::string_view kExpertMark = "{e}";
constexpr std::array<std::string_view, 3> kHalfNames{"none", "gate", "up"};

std::string name_with(const std::string& pattern, int expert) {
  const std::size_t at = pattern.find(kExpertMark);
  return pattern.substr(0, at) + std::to_string(expert) + pattern.substr(at + kExpertMark.size());
}

/// The pattern of a tensor's name: "model.layers.0.mlp.experts.{e}.gate_proj.weight".
std::string pattern_of(const SourceTensor& tensor) {
  if (tensor.expert < 0) return tensor.entry.name;
  const std::string number = "." + std::to_string(tensor.expert) + ".";
  std::string pattern = tensor.entry.name;
  return pattern.replace(pattern.rfind(number) + 1, number.size() - 2, kExpertMark);
}

/// The tensors of all experts that have one name but for the number, shard by shard.
void read_numbered(const support::Json& json, const std::string& where, std::int64_t experts, std::vector<SourceTensor>& tensors) {
  support::JsonFields fields(json, where);
  const Role role = read_role(fields);
  const std::string half_name = fields.text("half");
  const auto half = std::ranges::find(kHalfNames, half_name);
  if (half == kHalfNames.end()) fail(where, fmt::format("'half' is {}, neither none nor gate nor up", support::in_quotes(half_name)));
  const support::TensorEntry entry{fields.text("name"), fields.text("dtype"), fields.integers("shape")};
  if (entry.name.find(kExpertMark) == std::string::npos) fail(where, fmt::format("'name' is {}, without {}", support::in_quotes(entry.name), kExpertMark));
  int expert = 0;
  for (const support::Json& run : fields.array("shards")) {
    support::JsonFields part(run, where + ": shards");
    const std::string shard = part.text("shard");
    const std::int64_t count = part.integer("experts", 1, experts - expert);
    part.finish();
    for (std::int64_t i = 0; i < count; ++i, ++expert) {
      const int half_index = static_cast<int>(half - kHalfNames.begin()) - 1;
      tensors.push_back({role, expert, half_index, {name_with(entry.name, expert), entry.dtype, entry.shape}, shard});
    }
  }
  fields.finish();
}

void read_source(const support::Json& json, const std::string& where, std::int64_t experts, std::vector<SourceTensor>& tensors) {
  if (json.is_object() && json.contains("shards")) return read_numbered(json, where, experts, tensors);
  support::JsonFields fields(json, where);
  tensors.push_back({read_role(fields), -1, -1, {fields.text("name"), fields.text("dtype"), fields.integers("shape")}, fields.text("shard")});
  if (json.is_object() && json.contains("input_major")) tensors.back().input_major = fields.integer("input_major", 0, 1) == 1;
  fields.finish();
}

/// The experts' tensors come expert by expert: those of one kind are gathered.
support::Json source_json(const std::vector<SourceTensor>& tensors) {
  support::Json json = support::Json::array();
  std::map<std::string, std::size_t> kinds;
  for (const SourceTensor& tensor : tensors) {
    const std::string pattern = pattern_of(tensor);
    const auto [kind, is_new] = kinds.emplace(pattern, json.size());
    if (is_new) {
      support::Json entry{{"role", layout::name_of(tensor.role)}};
      if (tensor.expert >= 0) entry["half"] = kHalfNames[static_cast<std::size_t>(std::int64_t{tensor.half} + 1)];
      entry.update({{"name", pattern}, {"dtype", tensor.entry.dtype}, {"shape", tensor.entry.shape}});
      if (tensor.expert >= 0)
        entry["shards"] = support::Json::array();
      else
        entry["shard"] = tensor.shard;
      if (tensor.input_major) entry["input_major"] = 1;
      json.push_back(std::move(entry));
    }
    if (tensor.expert < 0) continue;
    support::Json& shards = json[kind->second]["shards"];
    if (shards.empty() || shards.back()["shard"] != tensor.shard) shards.push_back({{"shard", tensor.shard}, {"experts", 0}});
    shards.back()["experts"] = shards.back()["experts"].get<int>() + 1;
  }
  return json;
}

PackedTag read_tensor(const support::Json& json, const std::string& where) {
  support::JsonFields fields(json, where);
  PackedTag tag{read_role(fields), fields.text("name"), {}, fields.text("program"), fields.text("cast"), fields.text("content")};
  tag.logical = read_axes(fields.array("logical"), where);
  if (json.contains("kernel")) tag.kernel = read_kernel_tag(fields.at("kernel"), where + ": kernel");
  fields.finish();
  return tag;
}

/// Sizes that the file cannot hold are no sizes to build a program for.
void check_extent(const LayerTags& tags, const support::SafetensorsFile& file) {
  std::uint64_t held = 0;
  for (const auto& [name, view] : file.tensors()) held += view.bytes.size();
  const layout::Sizes& padded = tags.setting.padded;
  for (const Role role : {Role::w13_weight, Role::w2_weight}) {
    const Layout memory = layout::canonical(role, padded, tags.setting.form);
    // A conversion may cut less than the last tile of each axis off, never half of a tensor.
    if (static_cast<std::uint64_t>(memory.bytes()) / 2 <= held) continue;
    fail(file.path().string(), fmt::format("the tags speak of {} {}, {} bytes, but the file holds {} in all", layout::name_of(role),
                                           axes_text(memory.logical()), memory.bytes(), held));
  }
}

/// The tensor that the backend's program describes, as the file holds it, without its bytes.
PackedTensor checked_tensor(const LayerTags& tags, const PackedTag& tag, const families::BackendLayout& backend, const support::SafetensorsFile& file) {
  const std::string where = fmt::format("{}: tensor {}", file.path().string(), support::in_quotes(tag.name));
  layout::TensorPlan plan = backend.build(tag.role, tags.setting);
  PackedTensor tensor{tag.role, std::move(plan.layout), plan.cast, {}};
  if (tag.logical != tensor.layout.logical()) {
    fail(where, fmt::format("the tags say {}, but the setting makes it {}", axes_text(tag.logical), axes_text(tensor.layout.logical())));
  }
  if (tag.cast != tensor.cast->name) {
    fail(where, fmt::format("the tags name the cast {}, but {} uses {}", support::in_quotes(tag.cast), tags.backend, tensor.cast->name));
  }
  if (const std::string digest = program_digest(tensor.layout); tag.program != digest) {
    fail(where, fmt::format("was packed by the program {}, but that of {} for these tags is {}", support::in_quotes(tag.program), tags.backend, digest));
  }
  const support::TensorEntry expected = packed_entry(tags.prefix, tensor);
  if (tag.name != expected.name) fail(where, fmt::format("should be named {}", support::in_quotes(expected.name)));
  const support::TensorView* const view = file.find(tag.name);
  if (view == nullptr) fail(where, "is in the tags, but not in the file");
  if (view->dtype->name != expected.dtype || view->shape != expected.shape) {
    fail(where,
         fmt::format("is {} {}, but the tags make it {} {}", view->dtype->name, support::shape_text(view->shape), expected.dtype, support::shape_text(expected.shape)));
  }
  if (tag.kernel && tag.kernel != kernel_tag(backend, tag.role, tags.setting))
    fail(where, fmt::format("the tags say {}, which is not what {} makes of them", text_of(*tag.kernel), tags.backend));
  return tensor;
}

}  // namespace

MemoryPart part_of(int expert, int half, std::int64_t experts) {
  const std::uint64_t halves = half < 0 ? 1 : 2;
  if (expert < 0) return {half < 0 ? 0U : static_cast<std::uint64_t>(half), halves};
  return {static_cast<std::uint64_t>(expert) * halves + (half < 0 ? 0U : static_cast<std::uint64_t>(half)),
          static_cast<std::uint64_t>(experts) * halves};
}

bool is_one_number(Role role, const layout::Sizes& sizes, const layout::Form& form) {
  return layout::has_role(form.format, role) && layout::logical_axes(role, sizes, form).size() == 1;
}

std::string program_digest(const Layout& layout) {
  Digest digest;
  std::vector<std::int64_t> extents;
  for (const layout::Axis& axis : layout.logical()) extents.push_back(axis.extent);
  digest.add(extents);
  digest.add(layout.unit_bits());
  for (const layout::Step& step : layout.steps()) {
    digest.add(static_cast<std::int64_t>(step.index()));
    std::visit([&](const auto& s) { digest(s); }, step);
  }
  return digest.text();
}

std::string packed_name(std::string_view prefix, Role role) { return fmt::format("{}.experts.{}", prefix, layout::name_of(role)); }

support::TensorEntry packed_entry(std::string_view prefix, const PackedTensor& tensor) {
  const Layout& layout = tensor.layout;
  const auto dtype = std::ranges::find_if(kDtypes, [&](const DtypeRow& row) {
    return (row.cast.empty() || row.cast == tensor.cast->name) && (row.bits == 0 || row.bits == layout.grain_bits());
  });
  support::TensorEntry entry{packed_name(prefix, tensor.role), std::string(dtype->name), {}};
  std::int64_t places = 1;
  for (const layout::Axis& axis : layout.view()) {
    entry.shape.push_back(axis.extent);
    places *= axis.extent;
  }
  // Units that are no whole elements are counted with their neighbours on the last axis, and all in a row where that axis is odd.
  const std::int64_t unit = layout.bytes() * 8 / places;
  if (unit > dtype->element_bits) {
    entry.shape.push_back(unit / dtype->element_bits);
  } else if (unit < dtype->element_bits) {
    const std::int64_t in_element = dtype->element_bits / unit;
    if (entry.shape.back() % in_element != 0) entry.shape = {places};
    entry.shape.back() /= in_element;
  }
  return entry;
}

std::string layer_name(int layer, int further) { return fmt::format("layer {}{}", layer, further == 0 ? "" : fmt::format(" of layer group {}", further)); }

layout::Sizes LayerTags::whole_sizes() const {
  layout::Sizes sizes = setting.sizes;
  sizes.intermediate = intermediate > 0 ? intermediate : sizes.intermediate * setting.tp_size;
  // A checkpoint's own squares have the usual side: finer ones are what a rank made of them.
  if (layout::has_squares(setting.form.format)) sizes.group = 1;
  return sizes;
}

std::string text_of(const LayerTags& tags) {
  support::Json json{{"version", kTagsVersion}, {"backend", tags.backend}, {"prefix", tags.prefix},
            {"layer", tags.layer},     {"rank", tags.rank},       {"setting", setting_json(tags.setting)}};
  if (tags.further > 0) json["family"] = tags.further;
  if (tags.intermediate > 0) json["intermediate"] = tags.intermediate;
  if (tags.inputs) json["input_scales"] = inputs_json(*tags.inputs);
  json["source"] = source_json(tags.source);
  for (const char* key : {"tensors", "losses"}) json[key] = support::Json::array();
  for (const PackedTag& tag : tags.tensors) {
    json["tensors"].push_back({{"role", layout::name_of(tag.role)},
                               {"name", tag.name},
                               {"program", tag.program},
                               {"cast", tag.cast},
                               {"content", tag.content},
                               {"logical", axes_json(tag.logical)}});
    if (tag.kernel) json["tensors"].back()["kernel"] = json_of(*tag.kernel);
  }
  for (const layout::Loss& loss : tags.losses) json["losses"].push_back(loss_json(loss));
  return json.dump();
}

LayerTags read_layer_tags(const std::string& text, const std::string& where) {
  const std::string place = fmt::format("{}: {}", where, kLayerTagsKey);
  const support::Json json = parse(text, place);
  support::JsonFields fields(json, place);
  check_version(fields);
  LayerTags tags{fields.text("backend"),
                 fields.text("prefix"),
                 static_cast<int>(fields.integer("layer", 0, INT32_MAX)),
                 static_cast<int>(fields.integer("rank", 0, INT32_MAX)),
                 read_setting(fields.at("setting"), place + ": setting"),
                 {},
                 {},
                 {}};
  if (json.contains("family")) tags.further = static_cast<int>(fields.integer("family", 1, INT32_MAX));
  if (json.contains("input_scales")) tags.inputs = read_inputs(fields.at("input_scales"), place + ": input_scales");
  if (json.contains("intermediate")) tags.intermediate = fields.integer("intermediate", 1, tags.setting.sizes.intermediate * tags.setting.tp_size);
  if (tags.intermediate % tags.setting.sizes.group != 0)
    fail(place, fmt::format("intermediate size {} is not a multiple of the group of {}", tags.intermediate, tags.setting.sizes.group));
  if (tags.rank >= tags.setting.tp_size) fail(place, fmt::format("rank {} of {}", tags.rank, tags.setting.tp_size));
  for (const support::Json& entry : fields.array("source")) read_source(entry, place + ": source", tags.setting.sizes.experts, tags.source);
  for (const support::Json& entry : fields.array("tensors")) tags.tensors.push_back(read_tensor(entry, place + ": tensors"));
  for (const support::Json& entry : fields.array("losses")) tags.losses.push_back(read_loss(entry, place + ": losses"));
  fields.finish();
  return tags;
}

support::Json loss_json(const layout::Loss& loss) {
  support::Json json = {{"role", layout::name_of(loss.role)}, {"what", loss.what}, {"units", loss.units}};
  if (loss.kept > 0) json["kept"] = loss.kept;
  if (loss.replaced) json["replaced"] = true;
  return json;
}

layout::Loss read_loss(const support::Json& json, const std::string& where) {
  support::JsonFields fields(json, where);
  layout::Loss loss{read_role(fields), fields.text("what"), fields.integer("units", 1, INT64_MAX)};
  if (json.contains("kept")) loss.kept = fields.integer("kept", 1, loss.units);
  if (json.contains("replaced")) {
    const support::Json& replaced = fields.at("replaced");
    if (!replaced.is_boolean()) fail(fields.where() + ": replaced", "expected true or false");
    loss.replaced = replaced.get<bool>();
  }
  fields.finish();
  return loss;
}

std::string shard_tags_text(const std::vector<std::string>& order) { return support::Json{{"version", kTagsVersion}, {"order", order}}.dump(); }

std::vector<std::string> read_shard_tags(const std::string& text, const std::string& where) {
  const std::string place = fmt::format("{}: {}", where, kShardTagsKey);
  const support::Json json = parse(text, place);
  support::JsonFields fields(json, place);
  check_version(fields);
  std::vector<std::string> order = fields.texts("order");
  fields.finish();
  return order;
}

bool is_converted(const support::SafetensorsFile& file) {
  return file.metadata().contains(std::string(kLayerTagsKey)) || file.metadata().contains(std::string(kShardTagsKey));
}

families::PackedLayer packed_outline(const LayerTags& tags, const support::SafetensorsFile& file) {
  const std::string where = file.path().string();
  check_extent(tags, file);
  families::PackedLayer packed{tags.backend, tags.setting, {}, tags.losses};
  try {
    const families::BackendLayout& backend = families::backend_layout_named(tags.backend, tags.setting.form.format, tags.setting.engine);
    families::check_needs(backend, tags.setting);
    for (const PackedTag& tag : tags.tensors) {
      if (packed.find(tag.role) != nullptr) fail(where, fmt::format("the tags list {} twice", layout::name_of(tag.role)));
      packed.tensors.push_back(checked_tensor(tags, tag, backend, file));
    }
  } catch (const Error& error) {
    // What the tags ask for and the model refuses is wrong in the file.
    if (error.code() == ErrorCode::input) throw;
    fail(where, fmt::format("the tags are of no conversion: {}", error.what()));
  }
  if (file.tensors().size() != packed.tensors.size()) {
    const auto extra = std::ranges::find_if(file.tensors(), [&](const auto& entry) {
      return std::ranges::none_of(tags.tensors, [&](const PackedTag& tag) { return tag.name == entry.first; });
    });
    fail(fmt::format("{}: tensor {}", where, support::in_quotes(extra->first)), "is in the file, but not in the tags");
  }
  return packed;
}

families::PackedLayer read_packed_layer(const LayerTags& tags, const support::SafetensorsFile& file, const support::StopPoint& stop) {
  families::PackedLayer packed = packed_outline(tags, file);
  std::vector<support::TensorRead> reads;
  for (std::size_t i = 0; i < packed.tensors.size(); ++i) {
    const support::TensorView& view = *file.find(tags.tensors[i].name);
    packed.tensors[i].bytes = kernels::zeros(view.bytes.size());
    reads.push_back({{&file, &view}, packed.tensors[i].bytes});
  }
  support::read_tensors(reads, stop);
  return packed;
}

std::string changed_content(const PackedTag& tag, const std::string& digest) {
  if (digest == tag.content) return {};
  return fmt::format("{} was written with the digest {}, but its bytes have {}", tag.name, support::in_quotes(tag.content), digest);
}

}  // namespace mx::checkpoint
