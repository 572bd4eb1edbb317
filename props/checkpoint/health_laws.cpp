// Laws of inspecting: generated checkpoints are sound, and what is put into one is found.

#include <rapidcheck.h>

#include <optional>

#include "checkpoint/inspect/inspect.hpp"
#include "props/checkpoint/defects.hpp"
#include "props/checkpoint/laws.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using checkpoint::Depth;
using checkpoint::Inspection;

constexpr int kSoundCases = 40;  // a case is a file
constexpr int kDefectCases = 80;
constexpr std::int64_t kSeeds = 1'000'000'000;

const SoundForm& pick_form() {
  const auto forms = sound_forms();
  return forms[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(forms.size()) - 1))];
}

}  // namespace

Outcome law_sound(const Law& law) {
  return check_property(
      law,
      [] {
        const SoundForm& form = pick_form();
        const std::int64_t seed = pick(0, kSeeds);
        const Inspection inspection =
            inspected(sound_checkpoint(form, static_cast<std::uint64_t>(seed)), pick(0, 3) == 0 ? Depth::scales : Depth::weights);
        RC_LOG() << form.id << ", seed " << seed << "\n" << texts(inspection);
        RC_ASSERT(inspection.sound());
      },
      kSoundCases);
}

Outcome law_defects(const Law& law) {
  return check_property(
      law,
      [] {
        const SoundForm& form = pick_form();
        const Defect& defect = defects()[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(defects().size()) - 1))];
        const std::int64_t seed = pick(0, kSeeds);
        SoundCheckpoint made = sound_checkpoint(form, static_cast<std::uint64_t>(seed));
        const std::optional<Planted> where = defect.plant(made, static_cast<std::uint64_t>(pick(0, kSeeds)));
        if (!where) return;
        const Inspection inspection = inspected(made, defect.deep || pick(0, 1) == 0 ? Depth::weights : Depth::scales);
        RC_LOG() << defect.id << " in " << form.id << ", seed " << seed << ", " << where->tensor << "\n" << texts(inspection);
        RC_ASSERT(is_named(inspection, defect, *where));
      },
      kDefectCases);
}

}  // namespace mx::props
