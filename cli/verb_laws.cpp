// mxact laws: somebody else's program, behind a pipe, under the laws. They live in the package for Python, which draws cases and shrinks those that
// fail; this verb asks it, and says what it answered as every verb does.

#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/document.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress_line.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "support/child.hpp"
#include "verbs/laws/laws_document.hpp"

namespace mx::cli {
namespace {

constexpr support::JsonLimits kAnswer{.bytes = std::uint64_t{16} << 20, .depth = 8, .memory = std::uint64_t{256} << 20};

/// Statuses of the package beside 0, with which its answer is a document: those of an error, whose sentence it is then, and of a Python without it.
constexpr std::array kErrors{std::pair{2, ErrorCode::usage}, std::pair{83, ErrorCode::input}, std::pair{84, ErrorCode::unsupported},
                             std::pair{86, ErrorCode::resource}};
constexpr int kLacks = 4;

/// For Python's -c, so that the package is the installed one whatever stands in this folder.
constexpr std::string_view kAsk = R"(import sys
sys.path = [folder for folder in sys.path if folder]
try:
    from mxact.testing._command import main
except ImportError as lacks:
    print(lacks)
    sys.exit(4)
sys.exit(main(sys.argv[1:], for_program=True)))";

struct LawsOptions {
  std::vector<std::string> words;  ///< the package's options, as they were typed
  std::vector<std::string> command;
  DocumentOptions out;
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// MXACT_PYTHON's, else the first of PATH, which is that of a virtual environment that is active.
std::string python() {
  const char* const named = std::getenv("MXACT_PYTHON");
  return named != nullptr && *named != '\0' ? named : "python3";
}

int laws(const std::string& subject, const LawsOptions& options) {
  require_outputs(options.out);
  std::vector<std::string> words{python(), "-c", std::string(kAsk), subject};
  words.insert(words.end(), options.words.begin(), options.words.end());
  words.emplace_back("--");
  words.insert(words.end(), options.command.begin(), options.command.end());
  const InterruptWatch watch;
  try {
    const support::ChildAnswer answer = [&] {
      ProgressLine line;
      line.show("holding " + options.command.front() + " to the law");
      return support::ask_child(words, kAnswer.bytes, [&] { return watch.interrupted(); });
    }();
    for (const auto& [status, code] : kErrors) {
      if (answer.status == status) throw Error(code, first_line(answer.output));
    }
    if (answer.status == kLacks) {
      throw Error(ErrorCode::unsupported,
                  "the laws are the package's for Python: " + first_line(answer.output) +
                      "; pip install '.[testing]' in the checkout brings it, MXACT_PYTHON names another Python",
                  words[0]);
    }
    if (watch.interrupted()) return interrupted_status();
    if (answer.status != 0) throw Error(ErrorCode::resource, "the package for Python ended with status " + std::to_string(answer.status), words[0]);
    return show(verbs::laws_document(support::parse_json(answer.output, kAnswer, "the package for Python")), options.out);
  } catch (const support::Stopped&) {
    return interrupted_status();
  }
}

/// An option that the package reads. Those without a value's name are flags.
struct LawsOption {
  const char* name;
  const char* meaning;
  bool takes_value = true;
  bool required = false;
};
struct LawsSubject {
  const char* name;
  const char* meaning;
  const char* word;  ///< by its place; null: none
  const char* word_meaning;
  std::vector<LawsOption> options;
};

std::vector<LawsSubject> subjects() {
  const std::vector<LawsOption> layer{{"--engine", "version of the engine, as `mxact engine list` has it"},
                                      {"--platform", "SM100, gfx950, ..."},
                                      {"--format", "of the weights: mxfp4, nvfp4, mxfp8, fp8_tensor, fp8_channel, fp8_block, int4"},
                                      {"--order", "of w13's rows: gpt_oss or standard"},
                                      {"--no-bias", "layers without biases", false}};
  std::vector<LawsOption> kernel{{"--contract", "the contract that both products follow"},
                                 {"--backend", "the backend whose kernels are meant"},
                                 {"--order-proof", "inputs whose sums are exact in any order", false},
                                 {"--activation", "SWIGLUOAI or SILU", true, true},
                                 {"--limit", "of gate and up, in the place of the activation's own"}};
  kernel.insert(kernel.end(), layer.begin(), layer.end());
  const std::vector<LawsOption> sizes{{"--format", "of the weights: mxfp4, mxfp8, nvfp4, fp8_tensor, fp8_channel, fp8_block", true, true},
                                      {"--activation", "SWIGLUOAI or SILU", true, true},
                                      {"--sizes", "experts, intermediate and hidden size, as 8,256,256: multiples of 128"},
                                      {"--top-k", "experts of a token (2)"},
                                      {"--bias", "layers with biases", false}};
  std::vector<LawsOption> power{{"--tokens", "rows of both arrays (4)"},
                                {"--constants", "limit=7,alpha=1.7,beta=1, in the place of the activation's own"},
                                {"--activations", "what both products take: mxfp8, fp8-token, ..., as `mxact verify` names them (none: bfloat16)"},
                                {"--contract", "of what is expected; it is then the only right kernel"},
                                {"--engine", "whose backends are right kernels, as `mxact engine list` has it"},
                                {"--dtype", "of both arrays: float32, bfloat16 or float16 (bfloat16)"},
                                {"--data", "of plain,cancelling,wide,small,subnormal,nan,ties (all that apply)"},
                                {"--wrong", "names of wrong kernels (all)"},
                                {"--measure", "errors are the number distance of each answer; without it they are counted in what passes", false},
                                {"--at-least", "the part of the wrong kernels that must be caught on all data (1, where no names are given)"},
                                {"--never-passes", "names of wrong kernels that must be caught"},
                                {"--passes-right", "every right kernel must pass, too", false}};
  std::vector<LawsOption> batch{{"--most", "tokens of the largest batch, 2 to 1,024 (1024)"},
                                {"--varies", "of repeated,slots,padding,among,place,load (all)"}};
  power.insert(power.begin(), sizes.begin(), sizes.end());
  batch.insert(batch.begin(), sizes.begin(), sizes.end());
  return {{"quantizer",
           "blocks into codes and scales",
           "FORMAT",
           "a block format, as `mxact formats` lists them",
           {{"--profile", "whose rounding and scales", true, true},
            {"--source", "f32, bf16 or fp16 (f32)"},
            {"--tensor-scale", "a number, or 'given': one is drawn for each request"}}},
          {"converter", "a layer into a backend's memory", "BACKEND", "as `mxact layout list` lists them", layer},
          {"oracle",
           "deployments to backends",
           nullptr,
           nullptr,
           {layer[0], {"--oracle", "whose deployments (mxfp4)"}, {"--needs-only", "any choice whose kernels keep their needs", false}}},
          {"kernel", "a layer of experts", nullptr, nullptr, kernel},
          {"power", "a comparison of two arrays: which wrong kernels it lets through", nullptr, nullptr, power},
          {"batch", "a layer of experts: the same bits whatever else is in the batch", nullptr, nullptr, batch}};
}

constexpr LawsOption kCommon[] = {{"--seed", "of everything that is drawn: the same seed draws the same cases (0)"},
                                  {"--examples", "cases that are drawn one by one (100)"},
                                  {"--timeout", "seconds within which a case is answered (60)"}};

void add_option(Verb verb, LawsOptions& options, const LawsOption& one) {
  const std::string name = one.name;
  if (one.takes_value) {
    verb.add_option(
            name, [&options, name](const std::string& value) { options.words.push_back(name + "=" + value); }, one.meaning)
        .required(one.required);
  } else {
    verb.add_switch(
        name, [&options, name] { options.words.push_back(name); }, one.meaning);
  }
}

}  // namespace

void add_laws(Verb app, Action& action) {
  const Verb verb = app.add_verb("laws", "hold a program of any language, behind a pipe, to the laws (docs/python.md has the frames)");
  verb.require_verb();
  for (const LawsSubject& subject : subjects()) {
    const Verb of = verb.add_verb(subject.name, subject.meaning);
    const auto options = std::make_shared<LawsOptions>();
    if (subject.word != nullptr) {
      of.add_option(
            subject.word, [&words = options->words](const std::string& word) { words.push_back(word); }, subject.word_meaning)
          .required();
    }
    // The reader of command lines sets a space before a word like -inf.
    const auto as_typed = [](const std::string& word) { return word.starts_with(" -") ? word.substr(1) : word; };
    of.add_option("COMMAND", options->command, "the program and its words, behind --").required().empty_too().transform(as_typed);
    for (const LawsOption& one : subject.options) add_option(of, *options, one);
    for (const LawsOption& one : kCommon) add_option(of, *options, one);
    add_check_options(of, options->out);
    of.callback([&action, options, name = std::string(subject.name)] { action = [options, name] { return laws(name, *options); }; });
  }
}

}  // namespace mx::cli
