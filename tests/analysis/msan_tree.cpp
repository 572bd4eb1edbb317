// std::map and std::set leave the linking of a new node to a function inside libstdc++, which MemorySanitizer does not see write. The linker puts
// this one in its place (--wrap): it calls it, then says what it has written.

#include <sanitizer/msan_interface.h>

#include <map>

#define MXACT_INSERT _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_
#define MXACT_JOINED(prefix, name) prefix##name
#define MXACT_NAMED(prefix, name) MXACT_JOINED(prefix, name)

extern "C" {
void MXACT_NAMED(__real_, MXACT_INSERT)(bool left, std::_Rb_tree_node_base* node, std::_Rb_tree_node_base* parent, std::_Rb_tree_node_base& header);

void MXACT_NAMED(__wrap_, MXACT_INSERT)(bool left, std::_Rb_tree_node_base* node, std::_Rb_tree_node_base* parent, std::_Rb_tree_node_base& header) {
  MXACT_NAMED(__real_, MXACT_INSERT)(left, node, parent, header);
  // Other nodes only get new values where they had some before.
  __msan_unpoison(node, sizeof *node);
}
}
