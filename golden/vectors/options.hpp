#pragma once
// The choices that an operation is asked with, as words; each family of operations takes some of them.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "golden/vectors/op.hpp"

namespace mx::golden {

/// A choice that some operations have.
struct OptionKey {
  std::string_view key;  ///< "profile", typed as --profile
  std::string_view meaning;
};
/// Every choice of every family.
std::span<const OptionKey> all_option_keys();

/// The choices that were made.
class OpOptions {
 public:
  OpOptions() = default;
  explicit OpOptions(std::vector<OpSetting> given) : given_(std::move(given)) {}

  std::optional<std::string_view> get(std::string_view key) const;
  std::string get_or(std::string_view key, std::string_view standard) const { return std::string(get(key).value_or(standard)); }
  /// A whole number in [low, high]. Throws Error(usage) naming key, text and range.
  std::int64_t number_or(std::string_view key, std::int64_t standard, std::int64_t low, std::int64_t high) const;
  /// --edition; the latest one unless it was asked for. Throws Error(usage) for one that there is not.
  Edition edition() const;
  const std::vector<OpSetting>& given() const { return given_; }

 private:
  std::vector<OpSetting> given_;
};

/// Throws Error(usage) when a choice is not among `taken`: the operation's name, the choice, and those that it takes.
void require_taken(std::string_view op, const OpOptions& options, std::span<const std::string_view> taken);

}  // namespace mx::golden
