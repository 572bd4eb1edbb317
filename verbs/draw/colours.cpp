#include "verbs/draw/colours.hpp"

#include <fmt/core.h>

#include <array>

namespace mx::verbs {
namespace {

using Colour = std::array<int, 3>;

// viridis at 0, 1/8, .., 1: even steps of lightness, and told apart by colour-blind readers. Source: matplotlib, _cm_listed.py, _viridis_data.
constexpr std::array<Colour, 9> kStops{
    {{68, 1, 84}, {71, 44, 122}, {59, 81, 139}, {44, 113, 142}, {33, 144, 141}, {39, 173, 129}, {92, 200, 99}, {170, 220, 50}, {253, 231, 37}}};

Colour mixed(int shade) {
  constexpr int kSteps = static_cast<int>(kStops.size()) - 1;
  const int position = shade * kSteps;
  const int stop = position / (kShades - 1) < kSteps ? position / (kShades - 1) : kSteps - 1;
  const int part = position - stop * (kShades - 1);
  Colour out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int low = kStops[static_cast<std::size_t>(stop)][i];
    const int high = kStops[static_cast<std::size_t>(stop) + 1][i];
    out[i] = low + (high - low) * part / (kShades - 1);
  }
  return out;
}

}  // namespace

int shade_of(std::int64_t address, std::int64_t size) { return size < 2 ? 0 : static_cast<int>(address * (kShades - 1) / (size - 1)); }

std::string colour_of(int shade) {
  const Colour colour = mixed(shade);
  return fmt::format("#{:02x}{:02x}{:02x}", colour[0], colour[1], colour[2]);
}

bool is_light(int shade) {
  const Colour colour = mixed(shade);
  // Weights of ITU-R BT.601, in thousandths.
  return 299 * colour[0] + 587 * colour[1] + 114 * colour[2] > 118'000;
}

}  // namespace mx::verbs
