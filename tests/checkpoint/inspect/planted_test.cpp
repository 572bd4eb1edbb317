// Sound checkpoints of every form give no finding; a defect that is put into one is named with its tensor.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/inspect/inspect.hpp"
#include "props/checkpoint/defects.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/draft.hpp"
#include "tests/counts.hpp"

namespace {

using namespace mx;
using namespace mx::tests;
using checkpoint::Depth;
using checkpoint::Inspection;

Inspection inspected(const props::SoundCheckpoint& made, Depth depth) {
  const TemporaryDirectory directory;
  made.write(directory.path());
  return checkpoint::inspect_checkpoint(directory.path(), {.depth = depth});
}

std::string texts(const Inspection& inspection) {
  std::string all;
  for (const checkpoint::InspectedFault& one : inspection.faults) all += one.fault.text() + "\n";
  return all;
}

}  // namespace

TEST_CASE("200 sound checkpoints of every form, from many distributions and rules, give no finding") {
  int looked = 0;
  for (const props::SoundForm& form : props::sound_forms()) {
    for (std::uint64_t seed = 1; seed <= 14; ++seed) {
      const props::SoundCheckpoint made = props::sound_checkpoint(form, seed);
      for (const Depth depth : {Depth::scales, Depth::weights}) {
        const Inspection inspection = inspected(made, depth);
        INFO(form.id << ", seed " << seed << "\n" << texts(inspection));
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
          const Inspection inspection = inspected(made, depth);
          INFO(defect.id << " in " << form.id << ", seed " << seed << ", " << where->tensor << "\n" << texts(inspection));
          const bool named = std::ranges::any_of(inspection.faults, [&](const checkpoint::InspectedFault& one) {
            return one.fault.fault == defect.fault && (one.fault.tensor == where->tensor || one.fault.tensor == where->other);
          });
          CHECK(named);
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
