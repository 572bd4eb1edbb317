#pragma once
// What the files of the extension share. Python's side checks types and shapes and says what is wrong with them; here are names, sizes and bits.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "kernels/codec/codec.hpp"
#include "model/numerics/profile.hpp"
#include "model/ordinary_mode.hpp"
#include "support/json.hpp"

namespace mx::python {

namespace nb = nanobind;

/// Bytes of an array, which Python's side has made contiguous.
using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Room = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
inline std::span<const std::uint8_t> span_of(const Bytes& bytes) { return {bytes.data(), bytes.size()}; }
inline std::span<std::uint8_t> span_of(const Room& room) { return {room.data(), room.size()}; }

/// The best tier of this processor, on as many threads as mxact.threads() says.
kernels::Workers workers();

/// What three names stand for, found once in each thread: a search through the tables costs more than what is done with a small array.
template <class Found, class Find>
const Found& known(const std::string& first, const std::string& second, const std::string& third, const Find& find) {
  thread_local std::unordered_map<std::string, Found> all;
  const std::string key = first + '\n' + second + '\n' + third;
  const auto place = all.find(key);
  return place != all.end() ? place->second : all.emplace(key, find()).first->second;
}

/// The profile's dequantizer, without a profile the exact product. Throws Error as dequantizer().
Dequantizer dequantizer_of(const std::optional<std::string>& profile, const BlockFormat& format, const Format& target);

/// What Python has for a JSON value, and the reverse: Error(input) for what JSON has not, naming the key.
nb::object to_python(const support::Json& json);
support::Json to_json(nb::handle value, const std::string& where, const std::string& key = {}, int depth = 0);

void bind_call_cache(nb::module_& module);
void bind_affine(nb::module_& module);
void bind_audit(nb::module_& module);
void bind_inspect(nb::module_& module);
void bind_blocks(nb::module_& module);
void bind_causes(nb::module_& module);
void bind_conversions(nb::module_& module);
void bind_converter(nb::module_& module);
void bind_flags(nb::module_& module);
void bind_kernels(nb::module_& module);
void bind_layers(nb::module_& module);
void bind_layouts(nb::module_& module);
void bind_made_by(nb::module_& module);
void bind_moe(nb::module_& module);
void bind_operations(nb::module_& module);
void bind_products(nb::module_& module);
void bind_room(nb::module_& module);
void bind_scoreboard(nb::module_& module);
void bind_select(nb::module_& module);
void bind_stages(nb::module_& module);
void bind_tables(nb::module_& module);
void bind_threads(nb::module_& module);
void bind_verbs(nb::module_& module);

}  // namespace mx::python
