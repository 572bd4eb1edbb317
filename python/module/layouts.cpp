// One layout: elements, addresses and memory.

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <mutex>

#include "kernels/relayout/tensor.hpp"
#include "model/error.hpp"
#include "model/layout/address_map.hpp"
#include "model/layout/element_map.hpp"
#include "python/module/memory.hpp"
#include "verbs/layout/where.hpp"

namespace mx::python {
namespace {

using Indexes = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using IndexRoom = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Axes = std::vector<std::pair<std::string, std::int64_t>>;

Axes axes_of(const std::vector<layout::Axis>& axes) {
  Axes all;
  for (const layout::Axis& axis : axes) all.emplace_back(axis.name, axis.extent);
  return all;
}

/// A tensor's way into memory, opened once for any number of questions. It never changes: any thread may ask.
class Handle {
 public:
  Handle(const std::string& name, const Fields& fields) : subject_(verbs::resolve(query_of(name, fields))), elements_(subject_.layout) {
    const layout::Layout& of = subject_.layout;
    const auto* backend = std::get_if<verbs::BackendChoice>(&subject_.choice);
    tensor_bits_ = backend != nullptr ? layout::unit_bits(backend->role, backend->setting.form.format) : of.unit_bits();
    before_ = layout::Layout(
        backend != nullptr ? layout::logical_axes(backend->role, backend->setting.sizes, backend->setting.form) : of.axes_before(0), tensor_bits_);
  }

  std::string spec() const { return verbs::spec_of(subject_.choice); }
  Axes axes() const { return axes_of(elements_.layout().logical()); }
  Axes memory_axes() const { return axes_of(elements_.layout().view()); }
  std::int64_t size() const { return subject_.layout.cosize(); }
  std::int64_t bytes() const { return elements_.layout().bytes(); }
  int address_bits() const { return elements_.layout().grain_bits(); }
  /// Axes of the weights that scales have not: name and extent; the scales' axis, or none where one scale covers all; elements of an index.
  std::vector<std::tuple<std::string, std::int64_t, std::string, std::int64_t>> covered() const {
    std::vector<std::tuple<std::string, std::int64_t, std::string, std::int64_t>> axes;
    for (const verbs::CoveredAxis& axis : verbs::covered_axes(subject_.choice)) axes.emplace_back(axis.name, axis.extent, axis.axis, axis.elements);
    return axes;
  }
  /// Axes of the tensor itself and bits of its elements, before the converter's cast.
  std::pair<Axes, int> tensor() const { return {axes_of(before_.logical()), tensor_bits_}; }
  int memory_bits() const { return elements_.layout().unit_bits(); }

  /// The address of each coordinate, or -1; coordinates one after the other.
  void where(const Indexes& coordinates, const IndexRoom& addresses) const {
    const nb::gil_scoped_release unlocked;
    const std::size_t axes = elements_.layout().logical().size();
    const std::span<const std::int64_t> all(coordinates.data(), coordinates.size());
    for (std::size_t i = 0; i < addresses.size(); ++i) addresses.data()[i] = elements_.at(all.subspan(i * axes, axes));
  }

  /// The coordinate at each address, one after the other; -1, -2 or -3 on every axis where there is padding, as Layout::gather has them.
  void what(const Indexes& addresses, const IndexRoom& coordinates) const {
    const nb::gil_scoped_release unlocked;
    const layout::AddressMap& map = address_map();
    const std::vector<layout::Axis>& axes = elements_.layout().logical();
    std::int64_t* coordinate = coordinates.data();
    for (std::size_t i = 0; i < addresses.size(); ++i, coordinate += axes.size()) {
      std::int64_t entry = 0;
      map.read(addresses.data()[i], {&entry, 1});
      for (std::size_t axis = axes.size(); axis-- > 0;) {
        coordinate[axis] = entry < 0 ? entry : entry % axes[axis].extent;
        if (entry >= 0) entry /= axes[axis].extent;
      }
    }
  }

  std::string content(std::int64_t address) const { return verbs::content_text(elements_.layout(), address); }

  nb::object apply(const Bytes& tensor) const {
    return moved([&] { return kernels::relayout::kMoveByPlans.place(before_, span_of(tensor), plan()); });
  }
  nb::object restore(const Bytes& memory) const {
    return moved([&] { return kernels::relayout::kMoveByPlans.take(plan(), span_of(memory), before_); });
  }

 private:
  /// Made when it is first asked for: its tables may be as large as an expert.
  const layout::AddressMap& address_map() const {
    std::call_once(mapped_, [this] { addresses_.emplace(subject_.layout); });
    return *addresses_;
  }
  layout::TensorPlan plan() const { return {subject_.layout, subject_.cast}; }

  template <class Move>
  static nb::object moved(const Move& move) {
    std::vector<std::uint8_t> bytes;
    {
      const nb::gil_scoped_release unlocked;
      const OrdinaryMode mode;
      const Team team;
      bytes = move();
    }
    return bytes_of(std::move(bytes));
  }

  verbs::Subject subject_;
  layout::ElementMap elements_;
  mutable std::once_flag mapped_;
  mutable std::optional<layout::AddressMap> addresses_;
  int tensor_bits_ = 0;
  layout::Layout before_{{{"all", 1}}, 8};
};

}  // namespace

void bind_layouts(nb::module_& module) {
  nb::class_<Handle>(module, "Layout")
      .def(nb::init<const std::string&, const Fields&>(), nb::arg("name"), nb::arg("fields"))
      .def("spec", &Handle::spec)
      .def("axes", &Handle::axes)
      .def("memory_axes", &Handle::memory_axes)
      .def("covered", &Handle::covered)
      .def("tensor", &Handle::tensor)
      .def("size", &Handle::size)
      .def("bytes", &Handle::bytes)
      .def("address_bits", &Handle::address_bits)
      .def("memory_bits", &Handle::memory_bits)
      .def("where", &Handle::where, nb::arg("coordinates"), nb::arg("addresses"))
      .def("what", &Handle::what, nb::arg("addresses"), nb::arg("coordinates"))
      .def("content", &Handle::content, nb::arg("address"))
      .def("apply", &Handle::apply, nb::arg("tensor"))
      .def("restore", &Handle::restore, nb::arg("memory"));
}

}  // namespace mx::python
