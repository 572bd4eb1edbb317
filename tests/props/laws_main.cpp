// mxact_laws [--regressions DIR] [--failures DIR] [ID...]: the laws on the model. RC_PARAMS="reproduce=..." mxact_laws ID replays a failure.

#include <rapidcheck.h>

#include <string>
#include <string_view>
#include <vector>

#include "props/program.hpp"
#include "tests/props/all_laws.hpp"

namespace {

mx::props::Outcome run_demo(const mx::props::Law& law) {
  return mx::props::check_property(law, [] {
    const auto bytes = *rc::gen::container<std::vector<unsigned char>>(20, rc::gen::inRange<unsigned char>(0, 100));
    int sum = 0;
    for (unsigned char byte : bytes) sum += byte;
    RC_ASSERT(sum < 100);
  });
}

/// A property that does not hold, to see what a failure looks like and that it replays.
constexpr std::string_view kDemo = "demo/failure";

}  // namespace

int main(int argc, char** argv) {
  const std::span<char* const> arguments(argv + 1, static_cast<std::size_t>(argc - 1));
  std::vector<mx::props::HeldLaw> laws;
  for (const mx::props::Law& law : mx::tests::all_laws()) laws.push_back({std::string(law.id), std::string(law.statement), law.run});
  bool demo = false;
  for (const std::string_view word : arguments) demo = demo || word == kDemo;
  if (demo) laws.push_back({std::string(kDemo), "fails on purpose: a sum of bytes is below 100", run_demo});
  return mx::props::run_laws("mxact_laws", laws, arguments);
}
