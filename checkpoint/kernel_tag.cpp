#include "checkpoint/kernel_tag.hpp"

#include <fmt/format.h>

#include "model/families/kernel_form.hpp"
#include "support/json_fields.hpp"

namespace mx::checkpoint {

std::optional<KernelTag> kernel_tag(const families::BackendLayout& row, layout::Role role, const families::Setting& setting) {
  const std::optional<families::KernelForm> form = families::kernel_form(row, role, setting);
  if (!form) return std::nullopt;
  return KernelTag{std::string(form->dtype), form->shape, form->strides};
}

support::Json json_of(const KernelTag& tag) { return {{"dtype", tag.dtype}, {"shape", tag.shape}, {"strides", tag.strides}}; }

KernelTag read_kernel_tag(const support::Json& json, const std::string& where) {
  support::JsonFields fields(json, where);
  KernelTag tag{fields.text("dtype"), fields.integers("shape"), fields.integers("strides")};
  fields.finish();
  return tag;
}

std::string text_of(const KernelTag& tag) {
  std::int64_t next = 1;
  bool is_dense = true;
  for (std::size_t axis = tag.shape.size(); axis-- > 0;) {
    is_dense = is_dense && tag.strides[axis] == next;
    next *= tag.shape[axis];
  }
  const std::string shape = fmt::format("{} [{}]", tag.dtype, fmt::join(tag.shape, ", "));
  return is_dense ? shape : fmt::format("{}, strides [{}]", shape, fmt::join(tag.strides, ", "));
}

}  // namespace mx::checkpoint
