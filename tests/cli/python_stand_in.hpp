#pragma once
// A Python that has the package, for what the program makes of its answers: a script that prints one.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace mx::tests {

inline constexpr std::string_view kLawsHeld =
    R"({"subject": "quantizer", "held": "quantizer mxfp4 ocp f32", "command": "cat", "seed": 0, "compared": 32, "answers": 2, "failure": "", "replay": "mxact laws"})";

/// What the program asks while it lives: it prints the text and ends with that status.
class PythonStandIn {
 public:
  PythonStandIn(const std::filesystem::path& folder, std::string_view text, int status) {
    const std::filesystem::path script = folder / "python-stand-in";
    std::ofstream(script) << "#!/bin/sh\ncat <<'END'\n" << text << "\nEND\nexit " << status << "\n";
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    setenv("MXACT_PYTHON", script.c_str(), 1);
  }
  ~PythonStandIn() { unsetenv("MXACT_PYTHON"); }
  PythonStandIn(const PythonStandIn&) = delete;
  PythonStandIn& operator=(const PythonStandIn&) = delete;
};

}  // namespace mx::tests
