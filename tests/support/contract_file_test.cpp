// A record of a sum in a file: lines, comments, a name in front; what is no record names the file.

#include "support/contract_file.hpp"

#include <string>

#include "model/numerics/contract.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/draft.hpp"

using Catch::Matchers::Contains;
using mx::support::contract_word;

TEST_CASE("a contract in a file is the record that its lines spell") {
  const mx::tests::TemporaryDirectory scratch;
  const std::string path = (scratch.path() / "sums").string();
  mx::tests::write_bytes(path, "# a sum of ours\r\nstep=aligned:cast=bf16\n\n  group=8 # products\nalign=24\nkeep=24");
  CHECK(contract_word("@" + path) == mx::text_of(mx::row_of(mx::contract_named("step=aligned:cast=bf16:group=8:align=24:keep=24"))));
  mx::tests::write_bytes(path, "hopper-bf16\nalign=24\n");
  CHECK(contract_word("@" + path) == mx::text_of(mx::row_of(mx::contract_named("hopper-bf16:align=24"))));
  mx::tests::write_bytes(path, "hopper-bf16\n");
  CHECK(contract_word("@" + path) == "hopper-bf16");
  CHECK(contract_word("exact") == "exact");
}

TEST_CASE("a file that is no contract is named in the error") {
  const mx::tests::TemporaryDirectory scratch;
  const std::string path = (scratch.path() / "sums").string();
  CHECK_THROWS_WITH(contract_word("@" + path), Contains("sums"));
  mx::tests::write_bytes(path, "# nothing\n\n");
  CHECK_THROWS_WITH(contract_word("@" + path), Contains("no field of a contract is in it"));
  mx::tests::write_bytes(path, "step=aligned\ngroup=99999\n");
  CHECK_THROWS_WITH(contract_word("@" + path), Contains("group=99999"));
  mx::tests::write_bytes(path, std::string(70000, '#'));
  CHECK_THROWS_WITH(contract_word("@" + path), Contains("65536"));
}
