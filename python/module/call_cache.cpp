// A cache of calls by their dtypes and names. With small arrays, names, checks and plans cost more than the work: Python's side stores what they came
// to once it has answered, and an array that lies as the kernels read it needs nothing more.

#define PY_ARRAY_UNIQUE_SYMBOL mxact_numpy
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "kernels/codec/whole_bytes.hpp"
#include "kernels/sweep/codes.hpp"
#include "python/module/core.hpp"

namespace mx::python {
namespace {

using Bits = std::optional<std::uint32_t>;

/// Larger arrays take the memory of results that were dropped, and their work hides what the rest costs.
constexpr std::size_t kMostNumbers = std::size_t{1} << 19;
/// From so many on other threads of Python run meanwhile.
constexpr std::size_t kUnlockFrom = 4096;

/// What a call is known by: dtypes, texts, and objects that cannot change.
template <std::size_t N>
using Key = std::array<PyObject*, N>;

bool is_same(PyObject* a, PyObject* b) {
  if (a == b) return true;
  return a != nullptr && PyUnicode_CheckExact(a) != 0 && PyUnicode_CheckExact(b) != 0 && PyUnicode_Compare(a, b) == 0;
}

std::size_t hash_of(PyObject* part) {
  return PyUnicode_CheckExact(part) != 0 ? static_cast<std::size_t>(PyObject_Hash(part)) : reinterpret_cast<std::uintptr_t>(part) >> 4U;
}

/// The calls of one function. A later call takes the place of an earlier one; the keys live as long as their entry. For the holder of
/// Python's lock alone; never destroyed, since the interpreter ends first.
template <std::size_t N, class Known>
class CallCache {
 public:
  Known* find(const Key<N>& key) {
    Slot& slot = slots_[place(key)];
    for (std::size_t i = 0; i < N; ++i) {
      if (!is_same(slot.key[i].ptr(), key[i])) return nullptr;
    }
    return &*slot.known;
  }

  void keep(const Key<N>& key, Known&& known) {
    Slot& slot = slots_[place(key)];
    slot.known = std::move(known);
    for (std::size_t i = 0; i < N; ++i) slot.key[i] = nb::borrow(key[i]);
  }

 private:
  struct Slot {
    std::array<nb::object, N> key;
    std::optional<Known> known;
  };

  static std::size_t place(const Key<N>& key) {
    std::size_t hash = 0;
    for (PyObject* part : key) hash = hash * 31 + hash_of(part);
    return (hash ^ hash >> 17U) % kSlots;
  }

  static constexpr std::size_t kSlots = 64;
  std::array<Slot, kSlots> slots_;
};

/// An array of NumPy itself whose memory is that of C, or none.
PyArrayObject* plain_array(PyObject* x) {
  if (!PyArray_CheckExact(x)) return nullptr;
  auto* const array = reinterpret_cast<PyArrayObject*>(x);
  return PyArray_ISCARRAY_RO(array) ? array : nullptr;
}

PyObject* dtype_of(PyArrayObject* array) { return reinterpret_cast<PyObject*>(PyArray_DESCR(array)); }
std::span<const std::byte> memory_of(PyArrayObject* array) {
  return {static_cast<const std::byte*>(PyArray_DATA(array)), static_cast<std::size_t>(PyArray_NBYTES(array))};
}
std::span<const std::uint8_t> bytes_of(PyArrayObject* array) {
  return {static_cast<const std::uint8_t*>(PyArray_DATA(array)), static_cast<std::size_t>(PyArray_NBYTES(array))};
}

/// A fresh array, whose content is not defined.
struct Made {
  Made(int axes, const npy_intp* shape, const nb::object& dtype)
      : object(nb::steal(PyArray_NewFromDescr(&PyArray_Type, reinterpret_cast<PyArray_Descr*>(nb::object(dtype).release().ptr()), axes, shape,
                                              nullptr, nullptr, 0, nullptr))) {
    if (!object.is_valid()) throw nb::python_error();
  }
  PyArrayObject* array() const { return reinterpret_cast<PyArrayObject*>(object.ptr()); }
  std::span<std::uint8_t> bytes() const {
    return {static_cast<std::uint8_t*>(PyArray_DATA(array())), static_cast<std::size_t>(PyArray_NBYTES(array()))};
  }
  std::span<std::byte> memory() const { return std::as_writable_bytes(bytes()); }

  nb::object object;
};

template <class Work>
void run(std::size_t numbers, const Work& work) {
  const OrdinaryMode mode;
  if (numbers < kUnlockFrom) return work();
  const nb::gil_scoped_release unlocked;
  work();
}

struct KnownConversion {
  const Format* from;
  const Format* to;
  const Conversion* how;
  std::shared_ptr<const kernels::CodeConversion> ready;
  std::size_t codes = 0;  ///< that came so far
  nb::object results;     ///< their dtype
};
CallCache<4, KnownConversion>& conversions() {
  static auto& all = *new CallCache<4, KnownConversion>;
  return all;
}

nb::object convert_cached(nb::handle x, nb::handle to, nb::handle profile, nb::handle source) {
  PyArrayObject* const array = plain_array(x.ptr());
  if (array == nullptr) return nb::none();
  const auto count = static_cast<std::size_t>(PyArray_SIZE(array));
  if (count == 0 || count > kMostNumbers) return nb::none();
  KnownConversion* const known = conversions().find({dtype_of(array), to.ptr(), profile.ptr(), source.ptr()});
  if (known == nullptr) return nb::none();
  known->codes += count;
  if (known->ready->wants_table(known->codes)) {
    known->ready = std::make_shared<kernels::CodeConversion>(*known->from, *known->how, *known->to, known->codes);
  }
  const Made made(PyArray_NDIM(array), PyArray_DIMS(array), known->results);
  run(count, [&, ready = known->ready] { (*ready)(memory_of(array), made.memory(), workers()); });
  return made.object;
}

void cache_conversion(const nb::object& dtype, const nb::object& to, const nb::object& profile, const nb::object& source, const std::string& from,
                      const nb::object& results) {
  KnownConversion known;
  known.from = &format_named(from);
  known.to = &format_named(nb::cast<std::string>(to));
  known.how = &conversion(profile_named(nb::cast<std::string>(profile)), *known.from, *known.to);
  known.ready = std::make_shared<kernels::CodeConversion>(*known.from, *known.how, *known.to, 0);
  known.results = results;
  conversions().keep({dtype.ptr(), to.ptr(), profile.ptr(), source.ptr()}, std::move(known));
}

/// The blocks of an array whose last axis they lie along: rows, numbers of a row, scales of a row. None where they do not fill it.
struct Rows {
  std::size_t rows;
  std::size_t cols;
  std::size_t scales;
};
std::optional<Rows> rows_of(PyArrayObject* array, const BlockFormat& format) {
  const int axes = PyArray_NDIM(array);
  if (axes == 0 || PyArray_SIZE(array) == 0) return std::nullopt;
  const auto cols = static_cast<std::size_t>(PyArray_DIM(array, axes - 1));
  const std::size_t block = format.block == 0 ? cols : static_cast<std::size_t>(format.block);
  if (cols % block != 0 || static_cast<std::size_t>(PyArray_SIZE(array)) > kMostNumbers) return std::nullopt;
  return Rows{static_cast<std::size_t>(PyArray_SIZE(array)) / cols, cols, cols / block};
}

bool is_last(nb::handle axis, int axes) {
  if (!PyLong_CheckExact(axis.ptr())) return false;
  int overflow = 0;
  const long value = PyLong_AsLongAndOverflow(axis.ptr(), &overflow);
  return overflow == 0 && (value == -1 || value == axes - 1);
}

/// The members of a Quantized, and no arguments. Never destroyed, since the interpreter ends first.
struct Names {
  nb::object codes = nb::steal(PyUnicode_InternFromString("codes"));
  nb::object scales = nb::steal(PyUnicode_InternFromString("scales"));
  nb::object axis = nb::steal(PyUnicode_InternFromString("axis"));
  nb::object format = nb::steal(PyUnicode_InternFromString("format"));
  nb::object profile = nb::steal(PyUnicode_InternFromString("profile"));
  nb::object tensor_scale = nb::steal(PyUnicode_InternFromString("tensor_scale"));
  nb::object nothing = nb::steal(PyTuple_New(0));
};
const Names& names() {
  static const Names& all = *new Names;
  return all;
}

void set(const nb::object& members, const nb::object& name, const nb::object& value) {
  if (PyDict_SetItem(members.ptr(), name.ptr(), value.ptr()) != 0) throw nb::python_error();
}

struct KnownQuantizer {
  kernels::Quantizing how;
  const BlockFormat* format;
  nb::object type;     ///< Quantized
  nb::object members;  ///< as a call left them
  nb::object codes;    ///< dtypes
  nb::object scales;
};
CallCache<5, KnownQuantizer>& quantizers() {
  static auto& all = *new CallCache<5, KnownQuantizer>;
  return all;
}

nb::object quantized(const KnownQuantizer& known, const Made& codes, const Made& scales, int axis) {
  const nb::object members = nb::steal(PyDict_Copy(known.members.ptr()));
  if (!members.is_valid()) throw nb::python_error();
  set(members, names().codes, codes.object);
  set(members, names().scales, scales.object);
  set(members, names().axis, nb::int_(axis));
  auto* const type = reinterpret_cast<PyTypeObject*>(known.type.ptr());
  const nb::object q = nb::steal(type->tp_new(type, names().nothing.ptr(), nullptr));
  if (!q.is_valid() || PyObject_GenericSetDict(q.ptr(), members.ptr(), nullptr) != 0) throw nb::python_error();
  return q;
}

nb::object quantize_cached(nb::handle x, nb::handle format, nb::handle profile, nb::handle axis, nb::handle tensor_scale, nb::handle source,
                           nb::handle flags) {
  PyArrayObject* const array = plain_array(x.ptr());
  if (array == nullptr || flags.ptr() != Py_False || !is_last(axis, PyArray_NDIM(array))) return nb::none();
  const KnownQuantizer* const known = quantizers().find({dtype_of(array), format.ptr(), profile.ptr(), tensor_scale.ptr(), source.ptr()});
  if (known == nullptr) return nb::none();
  const auto rows = rows_of(array, *known->format);
  if (!rows) return nb::none();
  const int axes = PyArray_NDIM(array);
  std::array<npy_intp, NPY_MAXDIMS> shape;
  std::copy_n(PyArray_DIMS(array), axes, shape.begin());
  const Made codes(axes, shape.data(), known->codes);
  shape[static_cast<std::size_t>(axes) - 1] = static_cast<npy_intp>(rows->scales);
  const Made scales(axes, shape.data(), known->scales);
  run(rows->rows * rows->cols, [&, how = known->how] {
    kernels::quantize_whole_bytes(memory_of(array), {rows->rows, rows->cols}, how, {codes.bytes(), scales.bytes()}, workers());
  });
  return quantized(*known, codes, scales, axes - 1);
}

/// Of blocks that lie along one axis alone.
void cache_quantizer(const nb::object& dtype, const nb::object& format, const nb::object& profile, const nb::object& tensor_scale,
                     const nb::object& source, const std::string& kind, Bits encode, Bits decode, Bits amax_bound, const nb::object& q) {
  const BlockFormat& of = block_format_named(nb::cast<std::string>(format));
  if (of.block_rows != 1) return;
  const Format& from = format_named(kind);
  kernels::Quantizing how(recipe(profile_named(nb::cast<std::string>(profile)), of, from), from, {encode, decode, amax_bound});
  const nb::object codes = q.attr("codes").attr("dtype");
  const nb::object scales = q.attr("scales").attr("dtype");
  const nb::object members = nb::steal(PyDict_Copy(nb::object(q.attr("__dict__")).ptr()));
  set(members, names().codes, nb::none());
  set(members, names().scales, nb::none());
  quantizers().keep({dtype.ptr(), format.ptr(), profile.ptr(), tensor_scale.ptr(), source.ptr()},
                    {std::move(how), &of, nb::borrow(q.type()), members, codes, scales});
}

struct KnownDequantizer {
  kernels::Dequantizing how;
  const BlockFormat* format;
  nb::object numbers;  ///< their dtype
};
CallCache<9, KnownDequantizer>& dequantizers() {
  static auto& all = *new CallCache<9, KnownDequantizer>;
  return all;
}

/// What dequantize() looks at in a Quantized.
struct Parts {
  explicit Parts(nb::handle q) : members(nb::steal(PyObject_GenericGetDict(q.ptr(), nullptr))) {
    if (!members.is_valid()) PyErr_Clear();  // it has none, and is no Quantized
  }
  PyObject* of(const nb::object& name) const {
    PyObject* const part = members.is_valid() ? PyDict_GetItem(members.ptr(), name.ptr()) : nullptr;
    return part == nullptr ? Py_None : part;
  }
  nb::object members;
};

nb::object dequantize_cached(nb::handle q, nb::handle to, nb::handle profile, nb::handle tensor_scale) {
  const Parts parts(q);
  PyArrayObject* const codes = plain_array(parts.of(names().codes));
  PyArrayObject* const scales = plain_array(parts.of(names().scales));
  if (codes == nullptr || scales == nullptr || !is_last(parts.of(names().axis), PyArray_NDIM(codes))) return nb::none();
  const KnownDequantizer* const known =
      dequantizers().find({q.type().ptr(), dtype_of(codes), dtype_of(scales), parts.of(names().format), parts.of(names().profile),
                           parts.of(names().tensor_scale), to.ptr(), profile.ptr(), tensor_scale.ptr()});
  if (known == nullptr) return nb::none();
  const auto rows = rows_of(codes, *known->format);
  const int axes = PyArray_NDIM(codes);
  if (!rows || PyArray_NDIM(scales) != axes || PyArray_DIM(scales, axes - 1) != static_cast<npy_intp>(rows->scales)) return nb::none();
  if (!std::equal(PyArray_DIMS(codes), PyArray_DIMS(codes) + axes - 1, PyArray_DIMS(scales))) return nb::none();
  const Made numbers(axes, PyArray_DIMS(codes), known->numbers);
  run(rows->rows * rows->cols, [&, how = known->how] {
    kernels::dequantize_whole_bytes({bytes_of(codes), bytes_of(scales)}, {rows->rows, rows->cols}, how, numbers.memory(), workers());
  });
  return numbers.object;
}

/// `profile` none: the exact product.
void cache_dequantizer(const nb::object& q, const nb::object& to, const nb::object& profile, const nb::object& tensor_scale,
                       const std::optional<std::string>& by, Bits encode, Bits decode, const nb::object& numbers) {
  const Parts parts(q);
  PyArrayObject* const codes = plain_array(parts.of(names().codes));
  PyArrayObject* const scales = plain_array(parts.of(names().scales));
  if (codes == nullptr || scales == nullptr) return;
  const BlockFormat& format = block_format_named(nb::cast<std::string>(nb::handle(parts.of(names().format))));
  if (format.block_rows != 1) return;
  kernels::Dequantizing how(dequantizer_of(by, format, format_named(nb::cast<std::string>(to))), {encode, decode});
  dequantizers().keep({q.type().ptr(), dtype_of(codes), dtype_of(scales), parts.of(names().format), parts.of(names().profile),
                       parts.of(names().tensor_scale), to.ptr(), profile.ptr(), tensor_scale.ptr()},
                      {std::move(how), &format, numbers});
}

}  // namespace

void bind_call_cache(nb::module_& module) {
  if (_import_array() < 0) throw nb::python_error();
  module.def("convert_cached", convert_cached, nb::arg("x").none(), nb::arg("to").none(), nb::arg("profile").none(), nb::arg("source").none());
  module.def("cache_conversion", cache_conversion, nb::arg("dtype"), nb::arg("to"), nb::arg("profile"), nb::arg("source").none(), nb::arg("format"),
             nb::arg("results"));
  module.def("quantize_cached", quantize_cached, nb::arg("x").none(), nb::arg("format").none(), nb::arg("profile").none(), nb::arg("axis").none(),
             nb::arg("tensor_scale").none(), nb::arg("source").none(), nb::arg("flags").none());
  module.def("cache_quantizer", cache_quantizer, nb::arg("dtype"), nb::arg("format"), nb::arg("profile"), nb::arg("tensor_scale").none(),
             nb::arg("source").none(), nb::arg("kind"), nb::arg("encode").none(), nb::arg("decode").none(), nb::arg("amax_bound").none(),
             nb::arg("q"));
  module.def("dequantize_cached", dequantize_cached, nb::arg("q").none(), nb::arg("to").none(), nb::arg("profile").none(),
             nb::arg("tensor_scale").none());
  module.def("cache_dequantizer", cache_dequantizer, nb::arg("q"), nb::arg("to"), nb::arg("profile").none(), nb::arg("tensor_scale").none(),
             nb::arg("by").none(), nb::arg("encode").none(), nb::arg("decode").none(), nb::arg("numbers"));
}

}  // namespace mx::python
