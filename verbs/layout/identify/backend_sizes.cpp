#include "verbs/layout/identify/backend_sizes.hpp"

#include <algorithm>
#include <optional>

#include "checkpoint/rounding.hpp"

namespace mx::verbs {
namespace {

using families::BackendLayout;
using families::Setting;
using layout::Axis;
using layout::Form;
using layout::Role;
using layout::Sizes;

/// Elements that one index of a scale may stand for, beside 1 and the format's group.
constexpr std::int64_t kBlock = 128;
constexpr std::int64_t kLargest = std::int64_t{1} << 30;

/// Whether the tensor's axes, experts first and the reduction last, are those of the matrix.
bool is_matrix(const std::vector<Axis>& axes, Role role, const MatrixShape& matrix) {
  const std::size_t row_axes = layout::is_w13(role) && axes.size() > 1 ? 2 : 1;
  std::int64_t rows = 1;
  std::int64_t cols = 1;
  for (std::size_t i = 1; i < axes.size(); ++i) (i <= row_axes ? rows : cols) *= axes[i].extent;
  return axes.front().extent == matrix.batch && rows == matrix.rows && cols == matrix.cols;
}

/// The layer's sizes, of which the shape tells one or both; none when no layer has such a tensor.
std::optional<Sizes> sizes_for(Role role, const Form& form, const MatrixShape& matrix) {
  const std::int64_t group = std::max<std::int64_t>(layout::group_of(form.format), 1);
  const std::int64_t halves = layout::is_w13(role) && form.gated ? 2 : 1;
  const std::int64_t rows = matrix.rows / halves;
  for (std::int64_t length : {kUnknownSize, matrix.cols, matrix.cols * group, matrix.cols * kBlock}) {
    for (std::int64_t height : {kUnknownSize, rows, rows * kBlock}) {
      const Sizes sizes = layout::is_w13(role) ? Sizes{matrix.batch, height, length, group} : Sizes{matrix.batch, length, height, group};
      if (height < 1 || height > kLargest || length > kLargest || height % group != 0 || length % group != 0) continue;
      if (is_matrix(layout::logical_axes(role, sizes, form), role, matrix)) return sizes;
    }
  }
  return std::nullopt;
}

/// Forms that the row converts and that matter to the tensor: w2 lies the same way in all of them.
std::vector<Form> forms_of(const BackendLayout& row, Role role) {
  std::vector<Form> forms;
  for (layout::SourceOrder order : {layout::SourceOrder::gpt_oss, layout::SourceOrder::standard}) {
    for (bool gated : {true, false}) {
      const Form form{row.format, order, gated};
      // Without gate and up there are no two orders either.
      const bool told = !forms.empty() && (!layout::is_w13(role) || (!gated && !forms.back().gated));
      if (!told && families::engine_for(row, form)) forms.push_back(form);
    }
  }
  return forms;
}

}  // namespace

std::vector<Setting> settings_for(const BackendLayout& row, Role role, const MatrixShape& matrix) {
  std::vector<Setting> settings;
  if (!layout::has_role(row.format, role) || layout::unit_bits(role, row.format) != matrix.unit_bits) return settings;
  for (const Form& form : forms_of(row, role)) {
    const std::optional<Sizes> sizes = sizes_for(role, form, matrix);
    if (!sizes) continue;
    Setting setting{.sizes = *sizes, .padded = *sizes, .form = form, .engine = *families::engine_for(row, form)};
    std::vector<Sizes> tried;
    const std::optional<BackendChoice> taken = next_taken(BackendChoice{&row, role, setting});
    const bool same_layer = taken && taken->setting.sizes == *sizes;
    for (const Sizes& padded : {*sizes, checkpoint::rounded_up(row.backend, setting), same_layer ? taken->setting.padded : *sizes}) {
      if (std::ranges::find(tried, padded) != tried.end()) continue;
      tried.push_back(padded);
      setting.padded = padded;
      settings.push_back(setting);
    }
  }
  return settings;
}

}  // namespace mx::verbs
