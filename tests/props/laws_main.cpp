// mxact_laws [ID...]: runs the laws whose id is one of the given ones or begins with one of them; all without an argument.
// RC_PARAMS="reproduce=..." mxact_laws ID replays a failure.

#include <rapidcheck.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

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
constexpr mx::props::Law kDemo{"demo/failure", "fails on purpose: a sum of bytes is below 100", run_demo};

}  // namespace

int main(int argc, char** argv) {
  std::vector<mx::props::Law> laws;
  const auto wanted = [&](std::string_view id) {
    for (int i = 1; i < argc; ++i) {
      if (id.starts_with(argv[i])) return true;
    }
    return argc == 1;
  };
  for (const mx::props::Law& law : mx::props::all_laws()) {
    if (wanted(law.id)) laws.push_back(law);
  }
  if (argc > 1 && wanted(kDemo.id)) laws.push_back(kDemo);
  if (laws.empty()) {
    std::fprintf(stderr, "mxact_laws: no law of that name; the ids are:\n");
    for (const mx::props::Law& law : mx::props::all_laws()) std::fprintf(stderr, "  %s\n", std::string(law.id).c_str());
    return 2;
  }
  int failures = 0;
  for (const mx::props::Law& law : laws) {
    const mx::props::Outcome outcome = law.run(law);
    std::printf("%-6s %s (%llu cases): %s\n", outcome.held ? "held" : "BROKEN", std::string(law.id).c_str(),
                static_cast<unsigned long long>(outcome.cases), std::string(law.statement).c_str());
    std::printf("%s", outcome.counts.c_str());
    if (!outcome.held) {
      std::printf("%s\n", outcome.message.c_str());
      ++failures;
    }
  }
  return failures == 0 ? 0 : 1;
}
