#include "model/fault.hpp"

#include <array>

#include "model/stand_in.hpp"

namespace mx::fault {
namespace {
Fault g_active = Fault::none;
std::array<Rows, kTableCount> g_stand_ins;
}  // namespace

Fault active() noexcept { return g_active; }
void set_active(Fault fault) noexcept { g_active = fault; }

void set_stand_in(Table table, Rows rows) noexcept { g_stand_ins[static_cast<std::size_t>(table)] = rows; }
Rows stand_in(Table table) noexcept { return g_stand_ins[static_cast<std::size_t>(table)]; }

}  // namespace mx::fault
