#pragma once
// The main function of a program of laws: ours, and one of yours.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "props/law.hpp"

namespace mx::props {

/// A law with what it is held against.
struct HeldLaw {
  std::string id;  ///< the number of the catalogue, '/', the subject's name: "N2/mine"
  std::string statement;
  std::function<Outcome(const Law& law)> run;
};

/// PROGRAM [--regressions DIR] [--failures DIR] [--junit FILE] [ID...]: replays the files of DIR that are of this program, then runs the laws whose
/// id is one of the given ones or begins with one of them, all without an argument; prints a line for each, of a failure its message, and writes it
/// as a file where a directory is named; --junit writes all of it for continuous integration; --list and --help say what there is. Returns the exit
/// status: 0 all held, 1 not, 2 an option or law that there is not, or what an error of that code means.
int run_laws(std::string_view program, std::span<const HeldLaw> laws, std::span<char* const> arguments);

}  // namespace mx::props
