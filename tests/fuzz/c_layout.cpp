// Layouts opened through the C API: name and choices as typed, any sizes; addresses and elements, memory there and back, in place and too short.

#include <array>
#include <string>
#include <vector>

#include "golden/c/mxact.h"
#include "tests/fuzz/target.hpp"

namespace {

using mx::tests::require;

bool is_answer(std::int32_t status) {
  return status == MXACT_OK ||
         ((status == MXACT_USAGE || status == MXACT_UNSUPPORTED || status == MXACT_RESOURCE || status == 3) && *mxact_last_error() != 0);
}

void ask(const mxact_layout* layout, mx::tests::Bytes& bytes) {
  constexpr std::int64_t kSmall = 1 << 14;
  mxact_layout_facts facts{};
  require(mxact_layout_facts_of(layout, &facts) == MXACT_OK && facts.axes > 0 && facts.axes <= MXACT_MOST_AXES, "an opened layout has axes");
  std::array<std::int64_t, MXACT_MOST_AXES> element{};
  for (int i = 0; i < 64; ++i) {
    const std::int64_t address = static_cast<std::int64_t>(bytes.word()) * 65537 % facts.size;
    require(mxact_layout_map(layout, MXACT_TO_ELEMENTS, &address, 1, element.data()) == MXACT_OK, "every address holds something");
    if (element[0] < 0) continue;
    std::int64_t found = -1;
    require(mxact_layout_map(layout, MXACT_TO_ADDRESSES, element.data(), 1, &found) == MXACT_OK, "every element is asked for");
    std::array<std::int64_t, MXACT_MOST_AXES> again{};
    require(found >= 0 && mxact_layout_map(layout, MXACT_TO_ELEMENTS, &found, 1, again.data()) == MXACT_OK && again == element,
            "an element is where it is");
    element[bytes.pick(facts.axes)] = static_cast<std::int32_t>(bytes.word());
    require(is_answer(mxact_layout_map(layout, MXACT_TO_ADDRESSES, element.data(), 1, element.data())), "any index is answered");
  }
  if (facts.tensor_bytes > kSmall || facts.memory_bytes > kSmall) return;
  std::vector<std::uint8_t> tensor(facts.tensor_bytes), memory(facts.memory_bytes), back(facts.tensor_bytes);
  for (std::uint8_t& byte : tensor) byte = bytes.byte();
  const std::int32_t status = mxact_layout_apply(layout, tensor.data(), tensor.size(), memory.data(), memory.size());
  require(is_answer(status), "any tensor is moved or refused");
  if (status == MXACT_OK) require(is_answer(mxact_layout_restore(layout, memory.data(), memory.size(), back.data(), back.size())), "and comes back");
  for (std::uint8_t& byte : memory) byte = bytes.byte();
  require(is_answer(mxact_layout_restore(layout, memory.data(), memory.size(), back.data(), back.size())), "any memory is restored or refused");
  require(mxact_layout_apply(layout, tensor.data(), tensor.size() + 1, memory.data(), memory.size()) == MXACT_USAGE, "another size is refused");
  require(mxact_layout_apply(layout, nullptr, tensor.size(), memory.data(), memory.size()) == MXACT_USAGE, "a null pointer is refused");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // "NAME;key=value,...;ENGINE;I J K" and any bytes behind.
  std::string text(mx::tests::text_of(data, size));
  std::array<std::string, 4> parts;
  std::size_t at = 0;
  for (std::string& part : parts) {
    const std::size_t end = std::min(text.find(';', at), text.size());
    part = text.substr(at, end - at);
    at = std::min(end + 1, text.size());
  }
  mx::tests::Bytes bytes(data + at, size - at);
  std::array<std::uint32_t, 3> shape{};
  for (std::size_t i = 0, digit = 0; i < parts[3].size() && digit < shape.size(); ++i) {
    if (parts[3][i] == ' ') {
      ++digit;
    } else {
      shape[digit] = shape[digit] * 10 + static_cast<std::uint32_t>(parts[3][i] - '0');
    }
  }
  for (std::uint32_t& extent : shape) extent %= 1 << 13;
  mxact_layout* layout = nullptr;
  const std::int32_t status =
      mxact_layout_open(parts[0].c_str(), shape.data(), parts[1].c_str(), parts[2].empty() ? nullptr : parts[2].c_str(), &layout);
  require(is_answer(status) && (layout != nullptr) == (status == MXACT_OK), "a layout is opened or refused");
  if (layout != nullptr) ask(layout, bytes);
  mxact_layout_close(layout);
  return 0;
}
