// Sound checkpoints of every form give no finding; a defect that is put into one is named with its tensor.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/inspect/inspect.hpp"
#include "props/checkpoint/defects.hpp"
#include "tests/catch.hpp"
#include "tests/counts.hpp"

using namespace mx;
using checkpoint::Depth;
using checkpoint::Inspection;

TEST_CASE("200 sound checkpoints of every form, from many distributions and rules, give no finding") {
  int looked = 0;
  for (const props::SoundForm& form : props::sound_forms()) {
    for (std::uint64_t seed = 1; seed <= 14; ++seed) {
      const props::SoundCheckpoint made = props::sound_checkpoint(form, seed);
      for (const Depth depth : {Depth::scales, Depth::weights}) {
        const Inspection inspection = props::inspected(made, depth);
        INFO(form.id << ", seed " << seed << "\n" << props::texts(inspection));
        CHECK(inspection.finished);
        CHECK(inspection.sound());
      }
      ++looked;
    }
  }
  CHECK(looked >= 200);
}

TEST_CASE("a defect at a random place is named with its tensor, of every kind in every form that can have it") {
  // The law O8/defects draws more places; here each kind is in each form.
  const std::uint64_t kSeeds = static_cast<std::uint64_t>(mx::tests::counted(1, 6));
  std::map<std::string, int> planted;
  std::map<std::string, std::set<std::string>> forms;
  for (const props::Defect& defect : props::defects()) {
    for (const props::SoundForm& form : props::sound_forms()) {
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        props::SoundCheckpoint made = props::sound_checkpoint(form, seed);
        const std::optional<props::Planted> where = defect.plant(made, 1000 + seed);
        if (!where) continue;
        ++planted[std::string(defect.id)];
        forms[std::string(defect.id)].insert(std::string(form.id));
        for (const Depth depth : {Depth::scales, Depth::weights}) {
          if (depth == Depth::scales && defect.deep) continue;
          const Inspection inspection = props::inspected(made, depth);
          INFO(defect.id << " in " << form.id << ", seed " << seed << ", " << where->tensor << "\n" << props::texts(inspection));
          CHECK(props::is_named(inspection, defect, *where));
          CHECK_FALSE(inspection.sound());
        }
      }
    }
  }
  for (const props::Defect& defect : props::defects()) {
    INFO(defect.id << ": " << planted[std::string(defect.id)] << " in " << forms[std::string(defect.id)].size() << " forms");
    CHECK(planted[std::string(defect.id)] >= mx::tests::counted(1, 4));
  }
}
