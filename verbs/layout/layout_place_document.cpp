#include <fmt/core.h>

#include "model/error.hpp"
#include "verbs/layout/identify/tensor_file.hpp"
#include "verbs/layout/layout_document.hpp"
#include "verbs/layout/where.hpp"

namespace mx::verbs {
namespace {

std::string bits_text(const Piece& piece) {
  return piece.bits == 1 ? fmt::format("bit {}", piece.from_bit) : fmt::format("bits {}..{}", piece.from_bit, piece.from_bit + piece.bits - 1);
}

/// The element's address, or those of its parts; and what the file `memory` holds there, if one is named.
void find_element(Document& document, const Subject& subject, const std::string& text, const std::string& memory) {
  const layout::Layout& layout = subject.layout;
  const ElementPlace place = where_is(layout, coordinate_from(text, layout, covered_axes(subject.choice)));
  const std::string element = layout::coord_text(layout.axes_before(0), place.coord);
  const std::string held = memory.empty() ? std::string() : fmt::format("0x{:x}", read_element(layout, place, open_tensor(memory).bytes, memory));
  document.value("coordinate", element);
  Table places{"places", {in_json("from_bit"), in_json("bits"), in_json("address"), in_json("byte"), in_json("bit")}};
  for (const Piece& piece : place.pieces) {
    places.add({piece.from_bit, piece.bits, piece.address, piece.byte, piece.bit});
    const std::string part = piece.bits == layout.unit_bits() ? element : fmt::format("{} {}", element, bits_text(piece));
    document.line(fmt::format("{} is at address {}: byte {}, bit {} ({} bit{})", part, piece.address, piece.byte, piece.bit, piece.bits,
                              piece.bits == 1 ? "" : "s"));
  }
  document.value(places.key, places.json());
  if (place.pieces.empty()) document.line(element + " is cut off: it has no address");
  if (memory.empty()) return;
  document.value("held", held);
  document.line(fmt::format("{} holds {} there", memory, held));
}

/// What the addresses first .. last hold.
void read_addresses(Document& document, const layout::Layout& layout, std::int64_t first, std::int64_t last) {
  Table holds{"holds", {in_json("address"), in_json("byte"), in_json("bit"), in_json("is")}};
  for (std::int64_t address = first; address <= last; ++address) {
    const std::string text = content_text(layout, address);
    const std::int64_t bit = address * layout.grain_bits();
    holds.add({address, bit / 8, bit % 8, text});
    document.line(fmt::format("address {}, byte {}, bit {}: {}", address, bit / 8, bit % 8, text));
  }
  document.value(holds.key, holds.json());
}

}  // namespace

Document layout_where_document(const Subject& subject, const PlaceAsked& asked) {
  const layout::Layout& layout = subject.layout;
  Document document{"layout-where"};
  document.value("layout", spec_of(subject.choice));
  if (!asked.coord.empty()) {
    find_element(document, subject, asked.coord, asked.memory);
  } else if (asked.address) {
    read_addresses(document, layout, *asked.address, *asked.address);
  } else {
    const std::int64_t byte = asked.byte.value();
    if (byte >= layout.bytes()) throw Error(ErrorCode::usage, fmt::format("byte {} is not in 0..{}", byte, layout.bytes() - 1), "layout where");
    read_addresses(document, layout, byte * 8 / layout.grain_bits(), (byte * 8 + 7) / layout.grain_bits());
  }
  return document;
}

Document layout_draw_document(const Subject& subject, const std::string& file, std::size_t bytes, const std::string& shown) {
  Document document{"layout-draw"};
  document.value("layout", spec_of(subject.choice));
  document.value("file", file);
  document.value("bytes", bytes);
  document.value("addresses", subject.layout.cosize());
  document.value("shown", shown);
  document.line(fmt::format("{}: {}, {}", file, name_of(subject.choice), shown));
  return document;
}

}  // namespace mx::verbs
