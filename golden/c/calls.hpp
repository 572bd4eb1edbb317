#pragma once
// What every call of the C API does: ids to rows of the model's tables, codes checked, every exception into a status.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string_view>

#include "golden/c/mxact.h"
#include "model/error.hpp"
#include "model/moe/activation.hpp"
#include "model/numerics/block_rules.hpp"
#include "model/numerics/contract.hpp"
#include "model/numerics/format.hpp"
#include "model/numerics/rules.hpp"
#include "model/ordinary_mode.hpp"

namespace mx::golden::c_api {

/// Keeps a sentence for mxact_last_error, cut to what is kept without memory of its own.
void keep_error(const char* sentence) noexcept;

/// Runs the body in the ordinary floating-point mode, whatever the host's is, and turns what it throws into a status and a sentence.
template <typename Body>
std::int32_t guarded(const Body& body) noexcept {
  const OrdinaryMode mode;
  try {
    body();
    return MXACT_OK;
  } catch (const Error& error) {
    keep_error(error.what());
    return static_cast<std::int32_t>(error.code());
  } catch (const std::bad_alloc&) {
    keep_error(mxact_status_text(MXACT_RESOURCE));
    return MXACT_RESOURCE;
  } catch (...) {
    keep_error(mxact_status_text(MXACT_INTERNAL));
    return MXACT_INTERNAL;
  }
}

/// Throws Error(usage) unless it holds.
inline void require(bool holds, const char* what) {
  if (!holds) throw Error(ErrorCode::usage, what);
}

/// Ids from here on are of what a text of rules said; those below of the tables.
inline constexpr std::int32_t kFirstOwn = 1 << 20;

/// The row that an id stands for: its place in the table.
template <typename Row>
const Row& row_of(std::span<const Row> table, std::int32_t id) {
  require(id >= 0 && static_cast<std::size_t>(id) < table.size(), "no such id");
  return table[static_cast<std::size_t>(id)];
}

/// The place of the row of that name, which is in the table.
template <typename Row>
std::int32_t id_in(std::span<const Row> table, std::string_view name) {
  return static_cast<std::int32_t>(std::ranges::find(table, name, &Row::name) - table.begin());
}

/// The id of a name: `id` of it, or a negated status.
template <typename Id>
std::int32_t id_or_status(const char* name, const Id& id_of_name) noexcept {
  std::int32_t id = -MXACT_USAGE;
  const std::int32_t status = guarded([&] {
    require(name != nullptr, "no name");
    id = id_of_name(std::string_view(name));
  });
  return status == MXACT_OK ? id : -status;
}

/// The place of the row that a name finds.
template <typename Row, typename Find>
std::int32_t id_of(std::span<const Row> table, const char* name, const Find& find) noexcept {
  return id_or_status(name, [&](std::string_view text) { return id_in(table, find(text).name); });
}

/// The same of formats and profiles, which a text of rules may say too.
template <typename Row, typename Find>
std::int32_t id_with_own(std::span<const Row> table, const char* name, const Find& find) noexcept {
  return id_or_status(name, [&](std::string_view text) {
    const Row& row = find(text);
    const std::optional<std::int32_t> own = number_of_own(row);
    return own ? kFirstOwn + *own : id_in(table, row.name);
  });
}

/// The contract of an id: rows of both tables and records that were asked for.
inline const ContractRow& contract_of(std::int32_t id) {
  try {
    return mx::row_of(static_cast<Contract>(id));
  } catch (const Error&) {
    throw Error(ErrorCode::usage, "no such id");
  }
}

inline const Format& format_of(std::int32_t id) {
  const Format* own = id < kFirstOwn ? nullptr : own_format(id - kFirstOwn);
  return own == nullptr ? row_of(factor_formats(), id) : *own;
}

inline const Profile& profile_of(std::int32_t id) {
  const Profile* own = id < kFirstOwn ? nullptr : own_profile(id - kFirstOwn);
  return own == nullptr ? row_of(all_profiles(), id) : *own;
}
inline const BlockFormat& block_format_of(std::int32_t id) {
  const BlockFormat* own = id < kFirstOwn ? nullptr : own_block_format(id - kFirstOwn);
  return own == nullptr ? row_of(all_block_formats(), id) : *own;
}

inline TensorScale scale_of(const mxact_tensor* tensor) {
  TensorScale scale;
  if (tensor == nullptr) return scale;
  if (tensor->has_encode != 0) scale.encode = tensor->encode;
  if (tensor->has_decode != 0) scale.decode = tensor->decode;
  return scale;
}

inline void require_code(std::uint32_t code, const Format& format) {
  require(format.width == 32 || code >> format.width == 0, "a code with bits above its format's width");
}

inline void require_codes(std::span<const std::uint32_t> codes, const Format& format) {
  for (std::uint32_t code : codes) require_code(code, format);
}

/// `count` lanes of a caller. Throws Error(usage) for none, for more than `most` and for a null pointer.
inline std::span<const std::uint32_t> lanes_of(const std::uint32_t* lanes, std::size_t count, std::size_t most) {
  require(count > 0 && count <= most, "a number of elements out of range");
  require(lanes != nullptr, "a null pointer");
  return {lanes, count};
}

/// The caller's constants, or those of the activation's row.
inline moe::ActivationConstants constants_of(const mxact_constants* given, const moe::Activation& row) {
  return given == nullptr ? row.constants : moe::ActivationConstants{given->alpha, given->beta, given->limit, given->linear_beta};
}

}  // namespace mx::golden::c_api
