#pragma once
// Versions of inference engines: which there are, how they are ordered, which release and which commit is which. A row of any table says for which
// versions it holds; no version's row ever answers for another.

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mx::deployment {

enum class Project : std::uint8_t { vllm };

/// An engine as it was in one month. Versions of one project are ordered by time.
struct Engine {
  Project project;
  int month;  ///< 100 * year + month: 202605

  auto operator<=>(const Engine&) const = default;
};

inline constexpr Engine kVllm2026_05{Project::vllm, 202605};
inline constexpr Engine kVllm2026_08{Project::vllm, 202608};
inline constexpr Engine kVllm2026_11{Project::vllm, 202611};

/// Who names no version means this one: the newest whose choices and conversions are both held to recordings.
inline constexpr Engine kDefaultEngine = kVllm2026_08;

/// Versions that a row describes: from `since` on, up to `until` and not with it.
struct Versions {
  Engine since;
  std::optional<Engine> until = std::nullopt;

  constexpr bool has(Engine engine) const { return engine.project == since.project && engine >= since && (!until || engine < *until); }
};

/// From a version on, whatever comes.
constexpr Versions since(Engine engine) { return {engine, std::nullopt}; }
/// All that came before a version.
constexpr Versions before(Engine engine) { return {kVllm2026_05, engine}; }
/// From one version up to another and not with it.
constexpr Versions between(Engine first, Engine end) { return {first, end}; }
inline constexpr Versions kNever{kVllm2026_05, kVllm2026_05};

/// Every known version, oldest first.
std::span<const Engine> known_engines();
std::string_view name_of(Engine engine);  ///< "vllm@2026-05"

/// The version that a user names: "vllm@2026-05" or "2026-05"; a release, "vllm==0.22.1"; a commit, "vllm@7e1b45a" or "7e1b45a", by at least 7
/// digits. Throws Error(unsupported) for a month, a release or a commit that no row maps, naming those that are mapped, and Error(usage) for what is
/// none of these.
Engine engine_named(std::string_view name);

/// The release that a name as engine_named takes it says, "0.29.0", itself or by its commit; empty for a month and for a commit of no release. Throws
/// as engine_named does.
std::string_view release_named(std::string_view name);

/// Throws Error(unsupported): "vllm@2026-11 has no tables of conversions; vllm@2026-05, vllm@2026-08 have".
[[noreturn]] void no_tables(Engine engine, std::span<const Engine> with, std::string_view what);
/// The same unless `engine` is one of `with`.
void require_tables(Engine engine, std::span<const Engine> with, std::string_view what);

}  // namespace mx::deployment
