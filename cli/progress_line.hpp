#pragma once
// How far a verb is, on stderr.

#include <string>

namespace mx::cli {

/// A line on stderr that is redrawn in place; silent unless stderr is a terminal.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(const std::string& text, double fraction);

 private:
  bool enabled_;
  bool drawn_ = false;
};

}  // namespace mx::cli
