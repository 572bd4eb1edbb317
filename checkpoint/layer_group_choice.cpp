#include "checkpoint/layer_group_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "checkpoint/conversion.hpp"
#include "checkpoint/kernel_platforms.hpp"
#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::checkpoint {
namespace {

using families::BackendLayout;
using families::Setting;

void check_rank(const ConvertOptions& options) {
  const int ranks = options.setting.tp_size;
  if (options.rank >= 0 && options.rank < ranks) return;
  throw Error(ErrorCode::usage, fmt::format("rank {} is not in 0..{}: tp is {}", options.rank, ranks - 1, ranks));
}

/// An activation that is stated takes the place of the checkpoint's where converters can tell the two apart.
Setting setting_of(const Checkpoint& checkpoint, const BackendLayout& backend, const ConvertOptions& options,
                   const std::optional<families::ConverterActivation>& stated) {
  Conversion conversion = conversion_of(checkpoint, options.setting);
  if (stated && converter_activation(conversion.activation) != *stated) conversion.activation = families::name_of(*stated);
  return setting_for(checkpoint, conversion, backend.backend);
}

void check_form(const BackendLayout& backend, const Setting& setting) {
  if (backend.converts(setting.form, setting.engine)) return;
  const auto other = std::ranges::find_if(families::kConversionEngines, [&](deployment::Engine engine) {
    const BackendLayout* const row = families::find_backend_layout(backend.backend, setting.form.format, engine);
    return row != nullptr && row->converts(setting.form, engine);
  });
  throw Error(ErrorCode::usage,
              fmt::format("engine {} does not convert checkpoints of {} in {} order for it{}", deployment::name_of(setting.engine),
                          layout::name_of(setting.form.format), layout::name_of(setting.form.order),
                          other == families::kConversionEngines.end() ? "" : fmt::format("; engine {} does", mx::deployment::name_of(*other))),
              std::string(backend.backend));
}

/// Which backend is asked to convert a layer group.
struct Asked {
  int layer_group;
  const NamedBackend* named;  ///< null: the backend for all layer groups
  bool may_be_left;           ///< where the backend's converter refuses it
};

class Chooser {
 public:
  Chooser(const std::filesystem::path& source, const ConvertOptions& options)
      : options_(options),
        opened_(source, options.layer_group.value_or(0), options.setting.engine),
        count_(static_cast<int>(opened_.layer_groups().size())) {
    check_rank(options_);
    choice_.refusals.resize(static_cast<std::size_t>(count_));
  }

  LayerGroupChoice run() && {
    for (const NamedBackend& named : options_.named) check_meets(named);
    for (const Asked& asked : asked_groups()) {
      try {
        take(asked);
      } catch (const Error& error) {
        if (!asked.may_be_left) throw;
        choice_.refusals[static_cast<std::size_t>(asked.layer_group)] = error.what();
      }
    }
    return std::move(choice_);
  }

 private:
  std::optional<layout::Form> form_of(int layer_group) const {
    if (!opened_.layer_groups()[static_cast<std::size_t>(layer_group)].converts) return std::nullopt;
    return opened_.of_group(layer_group).layout_form();
  }

  /// The backend that is named for it: by its number before by its format.
  const NamedBackend* named_for(int layer_group) const {
    const std::optional<layout::Form> form = form_of(layer_group);
    const NamedBackend* found = nullptr;
    for (const NamedBackend& named : options_.named) {
      if (named.layer_group == layer_group) return &named;
      if (found == nullptr && named.format && form && form->format == *named.format) found = &named;
    }
    return found;
  }

  bool converts(int layer_group) const {
    const std::optional<layout::Form> form = form_of(layer_group);
    if (!form) return false;
    const BackendLayout* const row = families::find_backend_layout(options_.backend, form->format, options_.setting.engine);
    return row != nullptr && row->converts(*form, options_.setting.engine);
  }

  void check_meets(const NamedBackend& named) const {
    if (named.layer_group) {
      opened_.of_group(*named.layer_group);
      return;
    }
    std::string formats;
    for (int layer_group = 0; layer_group < count_; ++layer_group) {
      const std::optional<layout::Form> form = form_of(layer_group);
      if (form && form->format == *named.format) return;
      if (form) formats += fmt::format("{}{}", formats.empty() ? "" : ", ", layout::name_of(form->format));
    }
    throw Error(ErrorCode::usage,
                fmt::format("no layer group of the checkpoint is {}, for which {} is named{}{}", layout::name_of(*named.format), named.backend,
                            formats.empty() ? "" : "; there are ", formats),
                opened_.path().string());
  }

  std::vector<Asked> asked_groups() const {
    if (options_.layer_group) return {{*options_.layer_group, nullptr, false}};
    std::vector<Asked> asked;
    std::optional<int> unnamed;  // the first of them
    bool converts_one = false;
    for (int layer_group = 0; layer_group < count_; ++layer_group) {
      const NamedBackend* const named = named_for(layer_group);
      if (named == nullptr && !unnamed) unnamed = layer_group;
      const bool by_general = named == nullptr && !options_.backend.empty() && converts(layer_group);
      if (named != nullptr || by_general) asked.push_back({layer_group, named, by_general && converts_one});
      converts_one = converts_one || by_general;
    }
    if (options_.backend.empty() || converts_one) return asked;
    if (!unnamed)
      throw Error(ErrorCode::usage, "every layer group of the checkpoint has a backend of its own, and none is left for it", options_.backend);
    // Says why.
    return {{*unnamed, nullptr, false}};
  }

  void take(const Asked& asked) {
    Checkpoint checkpoint = opened_.of_group(asked.layer_group);
    checkpoint.require_convertible();
    const std::string& name = asked.named == nullptr ? options_.backend : asked.named->backend;
    const BackendLayout& backend = families::backend_layout_named(name, checkpoint.layout_form().format, options_.setting.engine);
    Setting setting =
        setting_of(checkpoint, backend, options_, asked.named != nullptr && asked.named->activation ? asked.named->activation : options_.activation);
    check_form(backend, setting);
    if (options_.asks_for_kernel && setting.form.format == layout::WeightFormat::mxfp4) {
      check_has_kernel(name, setting);
    } else if (options_.asks_for_kernel) {
      check_takes_device(backend.backend, setting, deployment::scheme_named(checkpoint.source_form().use.scheme));
    }
    families::check_needs(backend, setting);
    const int further = choice_.converted.empty() ? 0 : asked.layer_group + 1;
    choice_.converted.push_back({std::move(checkpoint), &backend, std::move(setting), further});
  }

  const ConvertOptions& options_;
  const Checkpoint opened_;
  const int count_;
  LayerGroupChoice choice_;
};

}  // namespace

LayerGroupChoice choose_layer_groups(const std::filesystem::path& source, const ConvertOptions& options) { return Chooser(source, options).run(); }

}  // namespace mx::checkpoint
