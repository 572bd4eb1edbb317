#include "sim/sweep/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <exception>

#include "kernels/sweep/encode.hpp"
#include "model/error.hpp"
#include "model/numerics/rules.hpp"
#include "model/ordinary_mode.hpp"
#include "support/quote.hpp"

namespace mx::sim {
namespace {

/// SplitMix64's output function over i + its increment (golden/witness/FORMAT.md, "mix64_sum").
constexpr std::uint64_t mix(std::uint64_t i) {
  std::uint64_t z = i + 0x9E3779B97F4A7C15U;
  z ^= z >> 30U;
  z *= 0xBF58476D1CE4E5B9U;
  z ^= z >> 27U;
  z *= 0x94D049BB133111EBU;
  z ^= z >> 31U;
  return z;
}

std::uint64_t digest_by_model(int chunk, const SweepSubject& subject) {
  const std::uint64_t first = static_cast<std::uint64_t>(chunk) * kSweepChunkInputs;
  std::uint64_t digest = 0;
  for (std::uint64_t i = first; i < first + kSweepChunkInputs; ++i) {
    digest += (std::uint64_t{convert(static_cast<std::uint32_t>(i), kF32, *subject.to, subject.how)} + 1U) * mix(i);
  }
  return digest;
}

std::string_view name_of(NanRule rule) {
  switch (rule) {
    case NanRule::keep_payload: return "keep_payload";
    case NanRule::quiet_payload: return "quiet_payload";
    case NanRule::refused: return "refused";
    case NanRule::fixed: break;
  }
  return "fixed";
}

std::string_view name_of(Flush flush) {
  switch (flush) {
    case Flush::source: return "source";
    case Flush::target: return "target";
    case Flush::both: return "both";
    case Flush::none: break;
  }
  return "none";
}

int shard_number(std::string_view text, const std::string& whole) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= 1 && value <= kSweepChunks) return value;
  throw Error(ErrorCode::usage, fmt::format("{} is not a shard: give I/N with 1 <= I <= N <= {}", support::in_quotes(whole), kSweepChunks));
}

std::uint64_t first_pattern(int chunk) { return static_cast<std::uint64_t>(chunk) * kSweepChunkInputs; }

std::string plain_identity(const SweepSubject& subject) {
  const Conversion& how = subject.how;
  return fmt::format("from=f32 to={} rounding={} overflow={} nan_rule={} nan_positive={:#x} nan_negative={:#x} zero={:#x} negative={} flush={} by={}",
                     subject.to->name, mx::name_of(how.rounding), mx::name_of(how.overflow), name_of(how.nan_rule), how.nan_positive,
                     how.nan_negative, how.zero_code, how.negative_is_nan ? "nan" : "abs", name_of(how.flush), name_of(subject.by));
}

}  // namespace

std::string_view name_of(SweepBy by) { return by == SweepBy::twin ? "twin" : "model"; }

std::string identity(const SweepSubject& subject) {
  const Conversion& how = subject.how;
  const auto is_row = [&](const Profile& profile) {
    const Conversion* row = find_conversion(profile, kF32, *subject.to);
    return row != nullptr && *row == how;
  };
  // Rules that their user wrote are said whole.
  const bool is_named = std::ranges::any_of(all_profiles(), is_row) && !is_rules(subject.to->name);
  return plain_identity(subject) + (is_named ? std::string() : " rules=" + text_of(*subject.to, how));
}

void require_sweepable(const SweepSubject& subject) {
  const Conversion& how = subject.how;
  if (how.random_bits != 0) {
    throw Error(ErrorCode::usage, fmt::format("rounding '{}' takes random bits: its result is no function of the input", name_of(how.rounding)));
  }
  if (how.nan_rule == NanRule::refused) {
    throw Error(ErrorCode::usage, fmt::format("the conversion f32 -> {} refuses NaN: some inputs have no code", subject.to->name));
  }
  if (subject.by == SweepBy::model || kernels::has_encode(*subject.to, how)) return;
  throw Error(ErrorCode::unsupported,
              fmt::format("the twin has no conversion f32 -> {} with rounding {}, overflow {}: sweep it by the model (--reference)", subject.to->name,
                          name_of(how.rounding), name_of(how.overflow)));
}

std::uint64_t chunk_digest(int chunk, const SweepSubject& subject) {
  if (subject.by == SweepBy::model) return digest_by_model(chunk, subject);
  return kernels::sweep_digest(static_cast<std::uint32_t>(chunk), *subject.to, subject.how);
}

Shard shard_from(const std::string& text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::string_view whole = text;
  const Shard shard{shard_number(whole.substr(0, slash), text), shard_number(whole.substr(std::min(slash + 1, text.size())), text)};
  if (shard.index > shard.count) shard_number({}, text);
  return shard;
}

void sweep(const SweepSubject& subject, const Shard& shard, Digests& digests, const SweepHooks& hooks) {
  require_sweepable(subject);
  const std::vector<int> chunks = missing_chunks(digests, shard);
  bool stopped = false;
  std::exception_ptr failure;
  // No exception may leave a parallel or critical block: the first one waits until all threads are done.
  const auto guarded = [&](const auto& action) {
    try {
      action();
    } catch (...) {
      failure = std::current_exception();
      stopped = true;
    }
  };
#pragma omp parallel for schedule(dynamic, 1)
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    bool go = false;
#pragma omp critical(mxact_sweep)
    guarded([&] {
      stopped = stopped || (hooks.stop && hooks.stop());
      go = !stopped;
    });
    if (!go) continue;
    std::uint64_t digest = 0;
    std::exception_ptr thrown;
    const OrdinaryMode mode;
    try {
      digest = chunk_digest(chunks[i], subject);
    } catch (...) {
      thrown = std::current_exception();
    }
#pragma omp critical(mxact_sweep)
    guarded([&] {
      if (failure) return;
      if (thrown) std::rethrow_exception(thrown);
      digests[static_cast<std::size_t>(chunks[i])] = digest;
      if (hooks.finished) hooks.finished(chunks[i], digest);
    });
  }
  if (failure) std::rethrow_exception(failure);
}

std::vector<int> missing_chunks(const Digests& digests, const Shard& shard) {
  std::vector<int> missing;
  for (int chunk = 0; chunk < kSweepChunks; ++chunk) {
    if (shard.has(chunk) && !digests[static_cast<std::size_t>(chunk)]) missing.push_back(chunk);
  }
  return missing;
}

std::string chunks_text(const std::vector<int>& chunks) {
  std::string numbers;
  std::string patterns;
  for (std::size_t begin = 0; begin < chunks.size();) {
    std::size_t end = begin + 1;
    while (end < chunks.size() && chunks[end] == chunks[end - 1] + 1) ++end;
    const int first = chunks[begin];
    const int last = chunks[end - 1];
    const std::string comma = begin == 0 ? "" : ", ";
    numbers += comma + (first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last));
    patterns += comma + fmt::format("0x{:08x}-0x{:08x}", first_pattern(first), first_pattern(last + 1) - 1);
    begin = end;
  }
  return fmt::format("{} (fp32 {})", numbers, patterns);
}

std::string patterns_text(int chunk) { return fmt::format("0x{:08x}-0x{:08x}", first_pattern(chunk), first_pattern(chunk + 1) - 1); }

}  // namespace mx::sim
