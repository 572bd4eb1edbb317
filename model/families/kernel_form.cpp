#include "model/families/kernel_form.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <variant>

#include "model/families/family.hpp"
#include "model/families/fnuz.hpp"

namespace mx::families {
namespace {

using layout::Axis;
using layout::Role;
using layout::WeightFormat;

/// What an axis of a view counts.
/// `stack`: experts' rows, one below the other.
enum class Counts : std::uint8_t { experts, rows, stack, columns, bits, several };

/// Axes along a row: elements, groups, blocks of 128.
bool is_of_columns(std::string_view axis) { return axis == "K" || axis == "G" || axis == "KB"; }

/// Follows the axes of a view program and the sizes that padding gives them.
class Follower {
 public:
  explicit Follower(const layout::Layout& layout) : layout_(layout) {
    const std::size_t axes = layout.steps().empty() ? layout.view().size() : layout.axes_before(0).size();
    const std::vector<Axis>& first = layout.steps().empty() ? layout.view() : layout.axes_before(0);
    for (std::size_t axis = 0; axis < axes; ++axis) {
      counts_.push_back(axis == 0 ? Counts::experts : is_of_columns(first[axis].name) ? Counts::columns : Counts::rows);
      extent_of(counts_.back()) *= first[axis].extent;
    }
  }

  std::optional<MatrixExtents> extents() {
    for (std::size_t i = 0; i < layout_.steps().size() && holds_; ++i) {
      axes_ = layout_.axes_before(i);
      std::visit([this](const auto& step) { take(step); }, layout_.steps()[i]);
    }
    if (!holds_) return std::nullopt;
    const std::vector<Axis>& view = layout_.view();
    bool rows_fastest = false;
    for (std::size_t axis = view.size(); axis-- > 0;) {
      if (view[axis].extent == 1 || counts_[axis] == Counts::bits) continue;
      rows_fastest = counts_[axis] == Counts::rows || counts_[axis] == Counts::stack;
      break;
    }
    return MatrixExtents{experts_, rows_, columns_, rows_fastest};
  }

 private:
  std::int64_t& extent_of(Counts counts) {
    return counts == Counts::experts ? experts_ : counts == Counts::rows ? rows_ : counts == Counts::columns ? columns_ : ignored_;
  }

  void resize(int axis, std::int64_t extent) {
    const Counts counts = counts_[static_cast<std::size_t>(axis)];
    const std::int64_t before = axes_[static_cast<std::size_t>(axis)].extent;
    holds_ = counts != Counts::several && counts != Counts::bits;
    if (counts == Counts::stack) {
      // Rows behind the last expert's: the stack is one matrix.
      rows_ = experts_ * rows_ / before * extent;
      experts_ = 1;
    } else if (holds_) {
      extent_of(counts) = extent_of(counts) / before * extent;
    }
  }

  static Counts merged(Counts a, Counts b) {
    const auto is_of_stack = [](Counts counts) { return counts == Counts::experts || counts == Counts::rows || counts == Counts::stack; };
    return is_of_stack(a) && is_of_stack(b) ? Counts::stack : Counts::several;
  }

  void take(const layout::Split& step) { counts_.insert(counts_.begin() + step.axis, counts_[static_cast<std::size_t>(step.axis)]); }
  void take(const layout::Merge& step) {
    const auto first = counts_.begin() + step.axis;
    for (int i = 1; i < step.count; ++i) {
      if (first[i] != *first && axes_[static_cast<std::size_t>(step.axis + i)].extent != 1)
        *first = axes_[static_cast<std::size_t>(step.axis)].extent == 1 ? first[i] : merged(*first, first[i]);
    }
    counts_.erase(first + 1, first + step.count);
  }
  void take(const layout::Permute& step) {
    std::vector<Counts> moved = counts_;
    for (std::size_t i = 0; i < step.order.size(); ++i) moved[i] = counts_[static_cast<std::size_t>(step.order[i])];
    counts_ = std::move(moved);
  }
  void take(const layout::Flip& /*step*/) {}
  void take(const layout::Table& /*step*/) {}
  void take(const layout::Pack& /*step*/) {}
  void take(const layout::Pad& step) { resize(step.axis, step.extent); }
  void take(const layout::Slice& step) { resize(step.axis, step.length); }
  void take(const layout::Repeat& step) { resize(step.axis, axes_[static_cast<std::size_t>(step.axis)].extent * step.times); }
  void take(const layout::Explode& /*step*/) { counts_.push_back(Counts::bits); }

  const layout::Layout& layout_;
  std::vector<Counts> counts_;
  std::vector<Axis> axes_;
  std::int64_t experts_ = 1, rows_ = 1, columns_ = 1, ignored_ = 1;
  bool holds_ = true;
};

FormShape bias_rows(const FormParts& p) { return {{p.memory.experts, p.memory.rows}}; }
FormPart part_of(Role role) {
  if (layout::is_weight(role)) return FormPart::weight;
  if (layout::is_bias(role)) return FormPart::bias;
  return role == Role::w13_global_scale || role == Role::w2_global_scale ? FormPart::global : FormPart::scale;
}

const KernelFormRow* find_row(const BackendLayout& row, Role role, const Setting& setting) {
  const auto family = std::ranges::find(all_families(), row.family, &Family::name);
  if (family == all_families().end() || (*family)->forms.rows == nullptr) return nullptr;
  const std::span<const KernelFormRow> rows = *(*family)->forms.rows;
  const auto found = std::ranges::find_if(rows, [&](const KernelFormRow& one) {
    return (one.backend.empty() || one.backend == row.backend) && (!one.format || *one.format == row.format) && one.part == part_of(role) &&
           (one.when == nullptr || one.when(setting));
  });
  return found == rows.end() ? nullptr : &*found;
}

std::string_view fp8_name(const Setting& setting) { return has_fnuz(setting) ? "float8_e4m3fnuz" : "float8_e4m3fn"; }
std::string_view params_name(const Setting& setting) { return setting.params_dtype == ParamsDtype::fp16 ? "float16" : "bfloat16"; }

/// Of a part that its row says nothing of, by the bits of a unit of memory.
std::string_view usual_dtype(Role role, const Setting& setting, const layout::TensorPlan& plan) {
  const int bits = plan.layout.unit_bits();
  switch (part_of(role)) {
    case FormPart::weight: return bits == 8 ? fp8_name(setting) : "uint8";
    case FormPart::scale:
      return bits == 32 ? "float32" : bits == 16 ? params_name(setting) : setting.form.format == WeightFormat::nvfp4 ? "float8_e4m3fn" : "uint8";
    case FormPart::global: return "float32";
    case FormPart::bias: break;
  }
  return bits == 32 ? "float32" : plan.cast->keeps() ? params_name(setting) : "float16";
}

int bits_of(std::string_view dtype) {
  if (dtype.ends_with("32")) return 32;
  return dtype.ends_with("16") ? 16 : 8;
}

std::vector<std::int64_t> dense(std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

/// Rows and columns of the logical tensor.
std::pair<std::int64_t, std::int64_t> logical_matrix(const layout::Layout& layout) {
  std::int64_t rows = 1, columns = 1;
  const std::vector<Axis>& axes = layout.steps().empty() ? layout.view() : layout.axes_before(0);
  for (std::size_t axis = 1; axis < axes.size(); ++axis) (is_of_columns(axes[axis].name) ? columns : rows) *= axes[axis].extent;
  return {rows, columns};
}

}  // namespace

FormShape form_transposed(std::int64_t experts, std::int64_t a, std::int64_t b) { return {{experts, a, b}, {a * b, 1, a}}; }

FormShape form_by_rows(const FormParts& p) {
  const std::int64_t columns = p.memory.columns / p.unit;
  return {{p.memory.experts, p.memory.rows, columns}};
}

FormShape form_of_lines(const FormParts& p) {
  const std::int64_t columns = p.memory.columns / p.unit;
  if (!p.memory.rows_fastest) return form_by_rows(p);
  return {{p.memory.experts, p.rows, p.columns / p.unit}, {p.memory.rows * columns, 1, p.memory.rows}};
}

FormShape form_by_columns(const FormParts& p) {
  const std::int64_t columns = p.memory.columns / p.unit;
  return p.memory.rows_fastest ? FormShape{{p.memory.experts, columns, p.memory.rows}} : form_transposed(p.memory.experts, columns, p.memory.rows);
}

FormShape form_of_numbers(const FormParts& p) { return {{p.memory.experts}}; }

FormShape form_of_tiles(const FormParts& p) { return {{p.memory.experts, p.memory.columns / 16, p.memory.rows * p.bits / 2}}; }

FormShape form_of_scales(const FormParts& p) { return {{p.memory.experts, p.memory.columns, p.memory.rows}}; }

std::optional<MatrixExtents> extents_in_memory(const layout::Layout& layout) { return Follower(layout).extents(); }

std::optional<KernelForm> kernel_form(const BackendLayout& row, Role role, const Setting& setting) {
  const layout::TensorPlan plan = row.build(role, setting);
  const std::optional<MatrixExtents> memory = extents_in_memory(plan.layout);
  const KernelFormRow* const form = find_row(row, role, setting);
  if (!memory || (form != nullptr && form->shape == nullptr)) return std::nullopt;
  const int unit_bits = plan.layout.unit_bits();
  std::string_view dtype = form == nullptr || form->dtype.empty() ? usual_dtype(role, setting, plan) : form->dtype;
  if (dtype == kParamsDtype) dtype = params_name(setting);
  // A scale of a byte that lies in a word with its three neighbours.
  if (dtype == kScaleWord) dtype = unit_bits == 8 ? "int32" : "float32";
  const auto [rows, columns] = logical_matrix(plan.layout);
  const std::int64_t unit = std::max<std::int64_t>(bits_of(dtype) / unit_bits, 1);
  const FormParts parts{*memory, rows, columns, unit, unit_bits};
  auto* const usual = part_of(role) == FormPart::bias ? bias_rows : plan.layout.logical().size() == 1 ? form_of_numbers : form_by_rows;
  const FormShape shape = (form == nullptr ? usual : form->shape)(parts);
  const std::int64_t elements = std::accumulate(shape.shape.begin(), shape.shape.end(), std::int64_t{1}, std::multiplies<>());
  const bool is_dense = shape.strides.empty();
  if (is_dense && elements * bits_of(dtype) != plan.layout.bytes() * 8) return std::nullopt;
  return KernelForm{dtype, shape.shape, is_dense ? dense(shape.shape) : shape.strides, form == nullptr ? row.source.path : form->source};
}

}  // namespace mx::families
