#include <cstdio>
#include <memory>

#include "golden/vectors/families.hpp"
#include "kernels/isa.hpp"
#include "model/families/building_block.hpp"
#include "support/digest.hpp"

// One name of each library, so that each is linked.
int main() {
  std::size_t operations = 0;
  for (const mx::golden::OpFamily& family : mx::golden::all_op_families()) operations += family.names().size();
  std::printf("%s\n%s\n%d %d\n", mx::support::digest_of("mxact").c_str(), std::string(mx::kernels::isa_tiers().front().name).c_str(),
              !mx::families::all_building_blocks().empty(), operations > 100);
  return 0;
}
