// mxact layout where: from an element to its address and to what a file holds there, and from an address to its element.

#include <fmt/core.h>

#include <memory>
#include <optional>
#include <string>

#include "cli/layout_options.hpp"
#include "cli/numbers.hpp"
#include "cli/verb_layout.hpp"
#include "model/error.hpp"
#include "verbs/layout/identify/tensor_file.hpp"
#include "verbs/layout/where.hpp"

namespace mx::cli {
namespace {

struct Arguments {
  std::string name;
  LayoutOptions options;
  std::string coord;
  std::string memory;
  std::optional<std::int64_t> address;
  std::optional<std::int64_t> byte;
};

std::string bits_text(const golden::Piece& piece) {
  return piece.bits == 1 ? fmt::format("bit {}", piece.from_bit) : fmt::format("bits {}..{}", piece.from_bit, piece.from_bit + piece.bits - 1);
}

/// The element's address, or those of its parts; and what the file `memory` holds there, if one is named.
Json find_element(const layout::Layout& layout, const std::string& text, const std::string& memory, bool quiet) {
  const golden::ElementPlace place = golden::where_is(layout, golden::coordinate_from(text, layout));
  const std::string element = layout::coord_text(layout.axes_before(0), place.coord);
  const std::string held =
      memory.empty() ? std::string() : fmt::format("0x{:x}", golden::read_element(layout, place, golden::open_tensor(memory).bytes, memory));
  Json out{{"coordinate", element}, {"places", Json::array()}};
  for (const golden::Piece& piece : place.pieces) {
    out["places"].push_back(
        {{"from_bit", piece.from_bit}, {"bits", piece.bits}, {"address", piece.address}, {"byte", piece.byte}, {"bit", piece.bit}});
    if (quiet) continue;
    const std::string part = piece.bits == layout.unit_bits() ? element : fmt::format("{} {}", element, bits_text(piece));
    fmt::print("{} is at address {}: byte {}, bit {} ({} bit{})\n", part, piece.address, piece.byte, piece.bit, piece.bits,
               piece.bits == 1 ? "" : "s");
  }
  if (place.pieces.empty() && !quiet) fmt::print("{} is cut off: it has no address\n", element);
  if (!memory.empty()) {
    out["held"] = held;
    if (!quiet) fmt::print("{} holds {} there\n", memory, held);
  }
  return out;
}

/// What the addresses first .. last hold.
Json read_addresses(const layout::Layout& layout, std::int64_t first, std::int64_t last, bool quiet) {
  Json out = Json::array();
  for (std::int64_t address = first; address <= last; ++address) {
    const std::string text = golden::content_text(layout, address);
    const std::int64_t bit = address * layout.grain_bits();
    out.push_back({{"address", address}, {"byte", bit / 8}, {"bit", bit % 8}, {"is", text}});
    if (!quiet) fmt::print("address {}, byte {}, bit {}: {}\n", address, bit / 8, bit % 8, text);
  }
  return out;
}

int where(const Arguments& arguments) {
  const int asked = (arguments.coord.empty() ? 0 : 1) + (arguments.address ? 1 : 0) + (arguments.byte ? 1 : 0);
  if (asked != 1) throw Error(ErrorCode::usage, "say one of --coord, --address, --byte", "layout where");
  if (!arguments.memory.empty() && arguments.coord.empty()) throw Error(ErrorCode::usage, "--in reads the element of --coord", "layout where");
  const golden::Subject subject = golden::resolve(golden::query_from(arguments.name, arguments.options.fields()));
  const layout::Layout& layout = subject.layout;
  const bool quiet = arguments.options.json;
  Json out = json_head("layout-where");
  out["layout"] = golden::spec_of(subject.choice);
  if (!arguments.coord.empty()) {
    out.update(find_element(layout, arguments.coord, arguments.memory, quiet));
  } else if (arguments.address) {
    out["holds"] = read_addresses(layout, *arguments.address, *arguments.address, quiet);
  } else {
    const std::int64_t byte = *arguments.byte;
    if (byte >= layout.bytes()) throw Error(ErrorCode::usage, fmt::format("byte {} is not in 0..{}", byte, layout.bytes() - 1), "layout where");
    out["holds"] = read_addresses(layout, byte * 8 / layout.grain_bits(), (byte * 8 + 7) / layout.grain_bits(), quiet);
  }
  if (quiet) print_json(out);
  return 0;
}

}  // namespace

void add_layout_where(Verb layout, Action& action) {
  const Verb verb = layout.add_verb("where", "where an element goes, or what an address holds");
  const auto arguments = std::make_shared<Arguments>();
  verb.add_option("NAME", arguments->name, "a backend or a building block (mxact layout list)").required();
  verb.add_option("--coord", arguments->coord, "the element: E=0,half=up,I=3,K=17 or batch=0,rows=3,cols=2; axes not named are 0");
  verb.add_option("--in", arguments->memory, "memory in that layout, to read the element from: FILE of raw bytes, or FILE.safetensors:TENSOR");
  verb.add_option("--address", arguments->address, "address in memory, counted as the layout does (layout show says in which bits)")
      .check(whole_number_in(0, INT64_MAX));
  verb.add_option("--byte", arguments->byte, "byte in memory").check(whole_number_in(0, INT64_MAX / 8 - 1));
  add_layout_options(verb, arguments->options);
  verb.callback([&action, arguments] { action = [arguments] { return where(*arguments); }; });
}

}  // namespace mx::cli
