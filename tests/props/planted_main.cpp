// mxact_planted FAULT: a quantizer, a converter, an oracle and a layer of experts with one planted fault, as somebody else's program. Python's tests
// hold it to the laws that the package has for the outside. A request is a line of JSON, then as many bytes as its "bytes" says; so is an answer,
// which has "error" where there is none.

#include <cstdio>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "kernels/codec/whole_bytes.hpp"
#include "model/engine/vllm/select.hpp"
#include "model/error.hpp"
#include "model/families/convert.hpp"
#include "model/fault.hpp"
#include "model/moe/arithmetic.hpp"
#include "model/moe/layer.hpp"
#include "model/numerics/profile.hpp"
#include "props/faults.hpp"
#include "sim/execute/run_backend.hpp"
#include "support/deployment_file.hpp"
#include "support/json.hpp"
#include "verbs/layout/subject.hpp"

namespace {

using namespace mx;
using namespace mx::deployment;
using support::Json;

struct Answer {
  Json head = Json::object();
  std::vector<std::uint8_t> bytes;
};

std::optional<std::uint32_t> number_of(const Json& request, const char* key) {
  return request[key].is_null() ? std::nullopt : std::optional(request[key].get<std::uint32_t>());
}

/// The model's own recipe block by block: the kernels are a second program, which faults of the model leave alone.
void quantize_by_model(const std::vector<std::uint8_t>& elements, const kernels::Shape& shape, const Format& source, const Recipe& recipe,
                       const TensorScale& tensor, std::uint8_t* codes, std::uint8_t* scales) {
  const BlockFormat& format = *recipe.format;
  const std::size_t word = source == kF32 ? 4 : 2;
  const std::size_t scale_bytes = *format.scale == kF32 ? 4 : 1;
  const auto block_rows = static_cast<std::size_t>(format.block_rows);
  const std::size_t columns = format.block == 0 ? shape.cols : static_cast<std::size_t>(format.block) / block_rows;
  for (std::size_t row = 0; row < shape.rows; row += block_rows) {
    for (std::size_t column = 0; column < shape.cols; column += columns) {
      std::vector<std::uint32_t> block;
      std::vector<std::size_t> places;
      for (std::size_t i = 0; i < block_rows * columns; ++i) {
        places.push_back((row + i / columns) * shape.cols + column + i % columns);
        std::uint32_t bits = 0;
        for (std::size_t byte = 0; byte < word; ++byte) bits |= static_cast<std::uint32_t>(elements[places.back() * word + byte]) << 8 * byte;
        block.push_back(bits);
      }
      const QuantizedBlock quantized = quantize_block(block, source, recipe, tensor);
      for (std::size_t i = 0; i < places.size(); ++i) codes[places[i]] = static_cast<std::uint8_t>(quantized.codes[i]);
      for (std::size_t byte = 0; byte < scale_bytes; ++byte) *scales++ = static_cast<std::uint8_t>(quantized.scale >> 8 * byte);
    }
  }
}

Answer quantize(const Json& request, const std::vector<std::uint8_t>& elements) {
  const Format& source = format_named(request["source"].text());
  const Recipe& recipe = mx::recipe(profile_named(request["profile"].text()), block_format_named(request["format"].text()), source);
  const kernels::Shape shape{request["rows"].get<std::size_t>(), request["cols"].get<std::size_t>()};
  const TensorScale tensor{number_of(request, "encode"), number_of(request, "decode"), number_of(request, "amax_bound")};
  const kernels::QuantizedSizes sizes = kernels::whole_byte_sizes(shape, *recipe.format);
  Answer answer;
  answer.bytes.resize(sizes.codes + sizes.scales);
  std::uint8_t* const scales = answer.bytes.data() + sizes.codes;
  if (request["kernels"].flag()) {
    // Words begin at multiples of their size.
    std::vector<std::uint32_t> words((elements.size() + 3) / 4);
    std::copy(elements.begin(), elements.end(), reinterpret_cast<std::uint8_t*>(words.data()));
    std::vector<std::uint32_t> scale_words((sizes.scales + 3) / 4);
    const std::span scale_room(reinterpret_cast<std::uint8_t*>(scale_words.data()), sizes.scales);
    kernels::quantize_whole_bytes({&source, std::as_bytes(std::span(words)).first(elements.size())}, shape, recipe, tensor,
                                  {std::span(answer.bytes).first(sizes.codes), scale_room}, {&kernels::isa_tier(), 1});
    std::copy(scale_room.begin(), scale_room.end(), scales);
  } else {
    quantize_by_model(elements, shape, source, recipe, tensor, answer.bytes.data(), scales);
  }
  return answer;
}

Answer select(const Json& request) {
  const support::DeploymentFile file = support::deployment_file_of(request["deployment"], "deployment", request["oracle"].text(), kVllm2026_05);
  const engine::Decision decision = engine::select(file.engine, file.oracle, file.deployment);
  Answer answer;
  if (decision.choice) answer.head["backend"] = decision.choice->backend;
  return answer;
}

/// A layer into a backend's memory, unit by unit: the model's own way.
Answer convert(const Json& request, const std::vector<std::uint8_t>& bytes) {
  verbs::LayoutQuery query{request["backend"].text(), {}};
  for (const Json& field : request["fields"]) query.fields.push_back({field[0].text(), field[1].text()});
  const auto choice = std::get<verbs::BackendChoice>(verbs::choice_of(query));
  layout::CanonicalLayer layer{choice.setting.sizes, choice.setting.form, {}};
  auto at = bytes.begin();
  for (const Json& tensor : request["tensors"]) {
    const auto end = at + tensor[1].get<std::ptrdiff_t>();
    layer[layout::role_named(tensor[0].text())].assign(at, end);
    at = end;
  }
  Answer answer;
  answer.head["tensors"] = Json::array();
  for (const layout::PackedTensor& tensor : families::convert(layer, *choice.row, choice.setting).tensors) {
    answer.head["tensors"].push_back(Json::array({layout::name_of(tensor.role), tensor.bytes.size()}));
    answer.bytes.insert(answer.bytes.end(), tensor.bytes.begin(), tensor.bytes.end());
  }
  return answer;
}

/// Tensors that follow each other.
class Reader {
 public:
  explicit Reader(const std::vector<std::uint8_t>& bytes) : at_(bytes.begin()) {}
  std::vector<std::uint8_t> next(const Json& size) { return std::vector<std::uint8_t>(std::exchange(at_, at_ + size.get<std::ptrdiff_t>()), at_); }
  std::vector<std::uint32_t> words(const Json& size, std::size_t width) {
    const std::vector<std::uint8_t> given = next(size);
    std::vector<std::uint32_t> all(given.size() / width);
    for (std::size_t i = 0; i < given.size(); ++i) all[i / width] |= static_cast<std::uint32_t>(given[i]) << 8 * (i % width);
    return all;
  }

 private:
  std::vector<std::uint8_t>::const_iterator at_;
};

/// What enters a layer, behind its tensors.
struct Tokens {
  std::vector<std::uint32_t> x;
  std::vector<std::vector<moe::Slot>> slots;

  Tokens(const Json& request, Reader& reader, std::size_t hidden) : x(reader.words(request["x"], 2)), slots(x.size() / hidden) {
    const std::vector<std::uint32_t> ids = reader.words(request["ids"], 4), weights = reader.words(request["weights"], 4);
    for (std::size_t i = 0; i < ids.size(); ++i) slots[i / (ids.size() / slots.size())].push_back({static_cast<std::int64_t>(ids[i]), weights[i]});
  }
};

/// A layer of experts under a contract, by the model's plain run: the package's law computes it from codes and scales.
Answer run_layer(const Json& request, const std::vector<std::uint8_t>& bytes) {
  const layout::WeightFormat format = layout::weight_format_named(request["format"].text());
  const auto extent = [&](std::size_t i) { return request["extents"][i].get<std::int64_t>(); };
  layout::CanonicalLayer layer{
      {extent(0), extent(1), extent(2), layout::group_of(format)}, {format, layout::source_order_named(request["order"].text())}, {}};
  Reader reader(bytes);
  for (const Json& tensor : request["tensors"]) layer[layout::role_named(tensor[0].text())] = reader.next(tensor[1]);
  const Tokens tokens(request, reader, static_cast<std::size_t>(layer.sizes.hidden));
  std::vector<Value> x;
  for (const std::uint32_t code : tokens.x) x.push_back(decode(kBf16, code));
  const bool is_silu = request["activation"].text() == "SILU";
  const moe::ActivationConstants constants = moe::activation_named(is_silu ? "silu_and_mul" : "swiglu_oai").constants;
  const moe::LayerChoices<std::uint32_t> choices{
      is_silu ? moe::GatedKind::silu_and_mul : moe::GatedKind::swiglu_oai, constants.alpha, constants.beta, constants.limit, f32::kOne, {}};
  const moe::F32Arithmetic arithmetic{row_of(contract_named(request["contract"].text())).contract};
  Answer answer;
  for (const std::uint32_t word :
       moe::run_layer(arithmetic, *moe::canonical_experts(layer), choices, x, layer.sizes.hidden, tokens.slots, false).out) {
    for (int byte = 0; byte < 4; ++byte) answer.bytes.push_back(static_cast<std::uint8_t>(word >> 8 * byte));
  }
  return answer;
}

/// Packed tensors computed as the backend's kernels do.
Answer run_kernel(const Json& request, const std::vector<std::uint8_t>& bytes) {
  const auto choice = std::get<verbs::BackendChoice>(verbs::choice_of(verbs::query_from(request["spec"].text(), {})));
  Reader reader(bytes);
  families::PackedLayer packed{std::string(choice.row->backend), choice.setting, {}, {}};
  for (const Json& tensor : request["tensors"]) {
    const layout::Role role = layout::role_named(tensor[0].text());
    layout::TensorPlan plan = choice.row->build(role, choice.setting);
    packed.tensors.push_back({role, std::move(plan.layout), plan.cast, reader.next(tensor[1])});
  }
  const Tokens tokens(request, reader, static_cast<std::size_t>(choice.setting.sizes.hidden));
  const bool is_silu = request["activation"].text() == "SILU";
  const moe::ActivationConstants constants = is_silu ? moe::ActivationConstants{} : moe::activation_named("swiglu_oai").constants;
  Answer answer;
  for (const std::uint16_t code : sim::run_kernel(packed, {request["activation"].text(), "", tokens.x, tokens.slots, constants}).out) {
    answer.bytes.insert(answer.bytes.end(), {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(code >> 8)});
  }
  return answer;
}

Answer answer_to(const Json& request, const std::vector<std::uint8_t>& bytes) {
  try {
    const std::string& op = request["op"].text();
    if (op == "kernel") return run_kernel(request, bytes);
    if (op == "layer") return run_layer(request, bytes);
    return op == "select" ? select(request) : op == "convert" ? convert(request, bytes) : quantize(request, bytes);
  } catch (const Error& error) {
    Answer answer;
    answer.head["error"] = error.what();
    return answer;
  }
}

void plant(const std::string& id) {
  for (const props::FaultRow& row : props::all_faults()) {
    if (row.id == id) return fault::set_active(row.fault);
  }
  if (id != "none") throw Error(ErrorCode::usage, "unknown fault '" + id + "'");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    plant(argc == 2 ? argv[1] : "");
    for (std::string line; std::getline(std::cin, line);) {
      const Json request = support::parse_json(line, {.bytes = std::uint64_t{1} << 20, .depth = 8}, "request");
      std::vector<std::uint8_t> bytes(request["bytes"].get<std::size_t>());
      std::cin.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
      Answer answer = answer_to(request, bytes);
      answer.head["bytes"] = answer.bytes.size();
      std::cout << answer.head.dump() << '\n';
      std::cout.write(reinterpret_cast<const char*>(answer.bytes.data()), static_cast<std::streamsize>(answer.bytes.size())).flush();
    }
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
}
