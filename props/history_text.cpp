// The history as a table for people.

#include <map>
#include <set>
#include <sstream>

#include "props/faults.hpp"
#include "props/history.hpp"

namespace mx::props {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string number_of(const std::string& law) { return law.substr(0, law.find_first_of("/-")); }

/// Laws named by a fault whose number is one of the property's.
std::vector<std::string> catching(const FaultRow& fault, const std::set<std::string>& property) {
  std::vector<std::string> laws;
  for (const std::string& law : words_of(fault.laws)) {
    if (property.contains(number_of(law))) laws.push_back(law);
  }
  return laws;
}

const FaultRow* fault_named(std::string_view id) {
  for (const FaultRow& row : all_faults()) {
    if (row.id == id) return &row;
  }
  return nullptr;
}

std::string linked(std::string_view reference) {
  static const std::map<std::string, std::string, std::less<>> owners{{"vllm", "vllm-project/vllm"},
                                                                      {"flashinfer", "flashinfer-ai/flashinfer"},
                                                                      {"sglang", "sgl-project/sglang"},
                                                                      {"aiter", "ROCm/aiter"},
                                                                      {"triton", "triton-lang/triton"},
                                                                      {"TensorRT-LLM", "NVIDIA/TensorRT-LLM"},
                                                                      {"oneDNN", "uxlfoundation/oneDNN"},
                                                                      {"iree", "iree-org/iree"},
                                                                      {"rocm-libraries", "ROCm/rocm-libraries"},
                                                                      {"torch-mlir", "llvm/torch-mlir"},
                                                                      {"vllm-ascend", "vllm-project/vllm-ascend"},
                                                                      {"DeepGEMM", "deepseek-ai/DeepGEMM"},
                                                                      {"tt-metal", "tenstorrent/tt-metal"},
                                                                      {"saturn-vectors", "ucb-bar/saturn-vectors"},
                                                                      {"ROCm/ATOM", "ROCm/ATOM"},
                                                                      {"1Cat-vLLM", "1CatAI/1Cat-vLLM"}};
  const std::size_t hash = reference.find('#');
  const std::string text(reference);
  return "[" + text + "](https://github.com/" + owners.at(text.substr(0, hash)) + "/issues/" + text.substr(hash + 1) + ")";
}

}  // namespace

std::string history_markdown() {
  std::string text = "| # | where | what went wrong | planted fault | noticed by |\n| --- | --- | --- | --- | --- |\n";
  for (const HistoryRow& row : all_history()) {
    const std::vector<std::string> numbers = words_of(row.property);
    const std::set<std::string> property(numbers.begin(), numbers.end());
    std::string where, faults;
    std::set<std::string> laws;
    for (std::string reference : words_of(row.reference)) {
      if (reference.back() == ',') reference.pop_back();
      where += (where.empty() ? "" : ", ") + linked(reference);
    }
    for (const std::string& id : words_of(row.faults)) {
      faults += (faults.empty() ? "`" : ", `") + id + "`";
      for (const std::string& law : catching(*fault_named(id), property)) laws.insert(law);
    }
    std::string noticed;
    for (const std::string& law : laws) noticed += (noticed.empty() ? "" : ", ") + law;
    text += "| " + std::to_string(row.number) + " | " + where + " | " + std::string(row.wrong) + " | " + faults + " | " + noticed + " |\n";
  }
  return text;
}

std::vector<std::string> laws_that_notice(const HistoryRow& row, std::string_view fault) {
  const std::vector<std::string> numbers = words_of(row.property);
  const FaultRow* const planted = fault_named(fault);
  return planted == nullptr ? std::vector<std::string>() : catching(*planted, {numbers.begin(), numbers.end()});
}

}  // namespace mx::props
