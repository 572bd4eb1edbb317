// mxact laws as users type it, with a stand-in for the package for Python, whose own tests run both together (python/tests/test_laws_verb.py).

#include <string>

#include "tests/catch.hpp"
#include "tests/cli/python_stand_in.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/sim/verify/scratch.hpp"

using mx::tests::PythonStandIn;
using mx::tests::Run;
using mx::tests::run_mxact;

namespace {

const std::string kLaws = "laws quantizer mxfp4 --profile ocp -- ./mine";

std::string answer(int answers, const std::string& failure) {
  return R"({"subject": "quantizer", "held": "quantizer mxfp4 ocp", "command": "./mine", "seed": 7, "compared": 9, "answers": )" +
         std::to_string(answers) + R"(, "failure": ")" + failure + R"(", "replay": "mxact laws quantizer --seed=7"})";
}

}  // namespace

TEST_CASE("laws says what the package for Python answers") {
  const mx::tests::ScratchDirectory scratch;
  {
    const PythonStandIn python(scratch.path(), answer(3, ""), 0);
    const Run held = run_mxact(kLaws);
    CHECK(held.status == 0);
    CHECK(held.out == "law       quantizer mxfp4 ocp\ncommand   ./mine\nseed      7\ncompared  9\nPASSED\n");
    CHECK(held.err.empty());
  }
  {
    const PythonStandIn python(scratch.path(), answer(3, "codes differ\\nat 0"), 0);
    const Run failed = run_mxact(kLaws);
    CHECK(failed.status == 1);
    CHECK(failed.out.ends_with("\n\ncodes differ\nat 0\nreplay: mxact laws quantizer --seed=7\nFAILED\n"));
  }
  {
    const PythonStandIn python(scratch.path(), answer(0, "it hangs"), 0);
    const Run nothing = run_mxact(kLaws);
    CHECK(nothing.status == 5);
    CHECK(nothing.out.find("it answered nothing\nit hangs\n") != std::string::npos);
  }
  {
    // A first answer that is none is wrong all the same.
    std::string said = answer(0, "the command answers more than its arrays have");
    said.replace(said.rfind('}'), 1, R"(, "heard": true})");
    const PythonStandIn python(scratch.path(), said, 0);
    const Run failed = run_mxact(kLaws);
    CHECK(failed.status == 1);
    CHECK(failed.out.find("\n\nthe command answers more than its arrays have\nreplay: ") != std::string::npos);
    CHECK(failed.out.find("it answered nothing") == std::string::npos);
  }
}

TEST_CASE("laws power says what a comparison lets through, and what it fails") {
  const mx::tests::ScratchDirectory scratch;
  const std::string judged = R"("data": "plain"})";
  const std::string power =
      R"({"layer": "mxfp4", "wrong": [{"name": "zeros", "what": "every output is 0", "passes": {"small": true}, "smallest": "1 token", "error": 0.5, )" +
      judged + R"(, {"name": "nan", "what": "every output is NaN", "passes": {"small": false}, "smallest": "", "error": null, )" + judged +
      R"(], "right": [{"name": "A", "what": "a", "passes": {"plain": false}, "smallest": "", "error": 2, )" + judged +
      R"(], "unseen": [], "elsewhere": [], "refuses": ["ties"], "unit": "times what passes", "parts": null, "why": "no limit parts them", )"
      R"("passing": ["zeros"], "failing": ["A"], "share": 0.5})";
  const PythonStandIn python(scratch.path(),
                             R"({"subject": "power", "held": "power mxfp4", "command": "./mine", "seed": 7, "compared": 9, "answers": 3, "power": )" +
                                 power + R"(, "failure": "it passes zeros", "replay": "mxact laws power"})",
                             0);
  const Run failed = run_mxact("laws power --format mxfp4 --activation SILU -- ./mine");
  CHECK(failed.status == 1);
  CHECK(failed.out.find("mxfp4: 1 of 2 wrong kernels are caught, 0 of 1 right ones pass; errors times what passes\n") != std::string::npos);
  CHECK(failed.out.find("wrong, and passes  what               error  on\nzeros              every output is 0  0.5    1 token\n") !=
        std::string::npos);
  CHECK(failed.out.find("right, and fails  what  error  on\nA                 a     2      plain\n") != std::string::npos);
  CHECK(failed.out.find("the comparison fails the right answer itself on ties data: nothing is judged there\nno limit parts them\n") !=
        std::string::npos);
  CHECK(mx::tests::run_json("laws power --format mxfp4 --activation SILU ./mine", 1)["power"] == mx::tests::parsed(power));
  const std::string run = scratch.path() / "power.json", page = scratch.path() / "power.html";
  CHECK(run_mxact("laws power --format mxfp4 --activation SILU --json -- ./mine > '" + run + "'").status == 1);
  CHECK(run_mxact("report '" + run + "' -o '" + page + "'").status == 1);
}

TEST_CASE("laws says why there is no answer") {
  const mx::tests::ScratchDirectory scratch;
  const auto error = [&](std::string_view text, int status) {
    const PythonStandIn python(scratch.path(), text, status);
    return run_mxact(kLaws);
  };
  const Run refused = error("profile: unknown profile 'ocq'", 2);
  CHECK(refused.status == 2);
  CHECK(refused.err == "mxact: error: profile: unknown profile 'ocq'\n");
  const Run unknown = error("engine vllm@2026-12 is not known: vllm@2026-05 is", 84);
  CHECK(unknown.status == 4);
  CHECK(unknown.err == "mxact: error: engine vllm@2026-12 is not known: vllm@2026-05 is\n");
  const Run lacks = error("No module named 'mxact'", 4);
  CHECK(lacks.status == 4);
  CHECK(lacks.err.find("the laws are the package's for Python: No module named 'mxact'; pip install") != std::string::npos);
  CHECK(error("Traceback", 1).status == 6);
  CHECK(error("no JSON", 0).status == 3);
  CHECK(error("{}", 0).status == 3);
  setenv("MXACT_PYTHON", "/nowhere/python", 1);
  CHECK(run_mxact(kLaws).status == 4);
  unsetenv("MXACT_PYTHON");
}

TEST_CASE("laws asks for a subject and a command") {
  CHECK(run_mxact("laws").status == 2);
  CHECK(run_mxact("laws quantise -- ./mine").status == 2);
  CHECK(run_mxact("laws quantizer mxfp4 -- ./mine").status == 2);
  CHECK(run_mxact("laws quantizer mxfp4 --profile ocp").status == 2);
}
