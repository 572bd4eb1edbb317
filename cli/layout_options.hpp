#pragma once
// Options that the layout verbs share.

#include <memory>
#include <string>
#include <vector>

#include "cli/output.hpp"
#include "cli/verb.hpp"
#include "model/families/setting_keys.hpp"
#include "verbs/layout/subject.hpp"

namespace mx::cli {

/// Choices as typed: one entry per option, "" when it was not given, and those of --set.
struct LayoutOptions {
  std::vector<std::string> values;
  std::vector<std::string> sets;
  bool json = false;

  /// Throws Error(usage) on a --set without "=".
  std::vector<golden::Field> fields() const;
};

/// Adds the option of one field of a setting; `value` is "" until it is given.
Option add_setting_option(Verb verb, const layout::SettingKey& key, std::string& value);

/// Adds --shape, --tensor, --engine and all the others, --set and --json.
void add_layout_options(Verb verb, LayoutOptions& options);

/// "E 1, half 2, I 128, K 256"
std::string axes_text(const std::vector<layout::Axis>& axes);
/// "org/repository path symbol at commit"
std::string source_text(const layout::Source& source);
Json source_json(const layout::Source& source);
Json digits_json(const layout::Layout& layout, const std::vector<layout::Digit>& digits);
/// One line per digit, slowest first.
std::string digits_text(const layout::Layout& layout, const std::vector<layout::Digit>& digits);

}  // namespace mx::cli
