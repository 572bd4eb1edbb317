// The proofs fail when the model is wrong: this program is linked with the model that carries planted faults.

#include "model/fault.hpp"
#include "tests/catch.hpp"
#include "tests/proof/conversions.hpp"

using namespace mx;
using namespace mx::tests;
using fault::Fault;

namespace {

/// Rows that fail at and around their thresholds. 8-bit formats and smaller: the faults are the same in the others.
int failing_rows() {
  std::vector<ConversionProof> proofs = conversion_proofs();
  const std::vector<ConversionProof> stochastic = stochastic_proofs(8, 0x5D);
  proofs.insert(proofs.end(), stochastic.begin(), stochastic.end());
  int rows = 0;
  for (const ConversionProof& proof : proofs) {
    if (proof.to->width > 8) continue;
    if (check_around(thresholds(*proof.facts, proof.mode), model_encoder(proof)).wrong > 0) ++rows;
  }
  return rows;
}

int failing_decodes() {
  int formats = 0;
  for (const FormatFacts& facts : all_facts()) formats += wrong_decodes(facts).empty() ? 0 : 1;
  return formats;
}

/// Switches a fault on for a scope.
class Planted {
 public:
  explicit Planted(Fault fault) { fault::set_active(fault); }
  ~Planted() { fault::set_active(Fault::none); }
  Planted(const Planted&) = delete;
  Planted& operator=(const Planted&) = delete;
};

}  // namespace

TEST_CASE("without a fault every row and every code holds") {
  CHECK(failing_rows() == 0);
  CHECK(failing_decodes() == 0);
}

TEST_CASE("each fault of encoding breaks rows") {
  for (const Fault fault : {Fault::encode_ties_away, Fault::encode_drops_sticky, Fault::encode_loses_carry, Fault::encode_saturates_low,
                            Fault::encode_drops_zero_sign, Fault::directed_ignores_sign, Fault::stochastic_off_by_one, Fault::unrounded_rounds_first,
                            Fault::nan_loses_sign, Fault::nan_loses_payload, Fault::flush_forgets_source, Fault::flush_before_rounding}) {
    INFO(static_cast<int>(fault));
    const Planted planted(fault);
    CHECK(failing_rows() > 0);
  }
}

TEST_CASE("each fault of decoding breaks formats") {
  for (const Fault fault : {Fault::decode_subnormal_shift, Fault::fixed_point_loses_sign, Fault::e8m0_zero_is_zero, Fault::e8m0_top_is_infinite}) {
    INFO(static_cast<int>(fault));
    const Planted planted(fault);
    CHECK(failing_decodes() > 0);
  }
}
