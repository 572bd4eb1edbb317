#include "model/fault.hpp"

namespace mx::fault {
namespace {
Fault g_active = Fault::none;
}

Fault active() noexcept { return g_active; }
void set_active(Fault fault) noexcept { g_active = fault; }

}  // namespace mx::fault
