#!/usr/bin/env bash
# Rules of the house that no compiler checks: arrows run down only, model/ stands on the standard library alone, backends are rows and not branches.
set -u
cd "$(dirname "$0")/.."
broken=0

# forbid FOLDERS PATTERN WHY [ALLOWED]: no source of the folders may match, except in the ALLOWED words.
forbid() {
  local found
  # shellcheck disable=SC2086
  found=$(grep -rnE --include='*.cpp' --include='*.hpp' "$2" $1 | grep -vF -- "${4:-(none)}") && { echo "$3:"; echo "$found"; broken=1; }
}

forbid "model" '#include "(kernels|support|checkpoint|sim|golden|verbs|cli|props|tests|bench)/' "model may include model only"
forbid "model/numerics" '#include "model/(layout|moe|deployment|families|engine|audit)/' "model/numerics looks at no other room"
forbid "model/layout" '#include "model/(moe|deployment|families|engine|audit)/' "model/layout is the algebra alone, over numerics"
forbid "model/moe" '#include "model/(deployment|families|engine|audit)/' "model/moe stands on numerics and layout"
forbid "model/deployment" '#include "model/(numerics|layout|moe|families|engine|audit)/' "model/deployment looks at no other room"
forbid "model/families" '#include "model/(engine|audit)/' "families know no engine: a need is what kernels and converters need"
forbid "model/engine" '#include "model/(numerics|layout|moe|families|audit)/' "an engine knows no family: a choice is what its sources say"
forbid "kernels" '#include "(support|checkpoint|sim|golden|verbs|cli|props|tests|bench)/' "kernels may include model and kernels only"
forbid "support" '#include "(kernels|checkpoint|sim|golden|verbs|cli|props|tests|bench)/' "support may include model and support only"
forbid "checkpoint" '#include "(sim|golden|verbs|cli|props|tests|bench)/' "checkpoint may not look up"
forbid "sim" '#include "(golden|verbs|cli|props|tests|bench)/' "sim may not look up"
forbid "sim/execute sim/transport sim/study sim/sweep" '#include "sim/(verify|ranks)/' "verify and ranks stand on the other rooms of sim"
forbid "sim/execute sim/transport sim/study sim/sweep" '#include "checkpoint/' "checkpoints are read by verify, not by what executes"
forbid "golden" '#include "(verbs|cli|props|tests|bench)/' "golden may not look up"
forbid "verbs" '#include "(cli|props|tests|bench)/' "verbs may not look up"
forbid "cli" '#include "(props|tests|bench)/' "nothing shipped includes props, tests or bench"
forbid "python" '#include "(cli|props|tests|bench)/' "python stands on verbs and what is below, as cli does"
forbid "model support kernels checkpoint sim golden verbs cli props tests bench" '#include ["<](python|nanobind)/' "nothing includes python, and nanobind is its own"
forbid "model support kernels checkpoint sim golden verbs cli props tests bench" '#include [<"]CLI(/|11)' "CLI11 costs seconds in every file that sees it: cli/verb.hpp hides it" "cli/verb.cpp:"
forbid "model" '#include <(fmt|boost|nlohmann|CLI|omp|mpfr)' "model depends on the standard library alone"
forbid "model" 'std::(exp|exp2|log|log2|pow|tanh|erf|ldexp|frexp|sin|cos)\(' "model calls no libm"
forbid "props tests verbs golden sim checkpoint support kernels model" 'rc::(check|prop)\(|checkTestable|checkProperty' \
  "a property runs under its law's name: what replays another one would pass over it" "checkProperty(testable, metadata"
# Foreign headers cost seconds in every file that sees them: each has one door.
forbid "model support kernels checkpoint sim golden verbs cli python props tests bench" '#include <nlohmann/' "JSON is read, held and printed by support/json.hpp" "support/json_p"
headers=$(grep -rlE --include='*.hpp' '#include <(nlohmann|CLI|boost|fmt/format)' model support kernels checkpoint sim golden verbs cli props tests bench) && {
  echo "headers that include a foreign one which costs seconds:"; echo "$headers"; broken=1; }
# Pages, pictures and vectors are printed as they are: fmt::print("{}", page).
forbid "cli" 'fmt::print\("([^{]|\{[^}]|\{\}[^"])|Json::(array|object)|\["[a-z]|push_back\(\{\{|print_table' \
  "what a verb says is a document of verbs/, and cli/document.cpp prints it"
# What a page's policy lets run is the script that it has.
hash=$(sha256sum support/page.js | cut -d' ' -f1 | tr a-f A-F | basenc --base16 -d | base64)
grep -qF "\"$hash\"" support/html.cpp || { echo "support/html.cpp kScriptHash is not that of support/page.js: $hash"; broken=1; }
# The axes of a layout have names too; a half of gate and up is one.
forbid "model support checkpoint sim kernels golden verbs cli python" '\b(backend|family|name|implementation|device|build|model) *== *"[A-Za-z]' \
  "a backend or an implementation is a row of a table, never a branch" '.name == "half"'

# An engine's words for backends and classes: in a family's own rows, in the engine, in what holds one against the other, in recordings. Needs of a
# format name the members of FlashInfer, and accuracies that others reported name backends.
words=$(grep -rnE --include='*.cpp' --include='*.hpp' \
  '"(BATCHED_)?(MARLIN|FLASHINFER_[A-Z0-9_]+|TRITON(_UNFUSED)?|AITER[A-Z0-9_]*|DEEPGEMM[A-Z0-9_]*|HUMMING|VLLM_CUTLASS|EMULATION)"|"[A-Za-z0-9_]*Experts[A-Za-z0-9_]*"' \
  model checkpoint sim verbs cli kernels support golden/vectors | grep -vE '^(model/families/[a-z0-9_]+/|model/engine/|model/audit/|model/families/needs_formats\.cpp:|sim/ranks/comparison\.cpp:)') && {
  echo "words of an engine outside of the families' folders, the engine and the audit:"; echo "$words"; broken=1; }
# A family's folder is the family's: others ask through the tables at the root.
folders=$(grep -rnE --include='*.cpp' --include='*.hpp' '#include "model/families/[a-z0-9_]+/' model checkpoint sim verbs cli kernels support golden |
  grep -vE '^model/families/') && { echo "a family's folder is included from outside of families/:"; echo "$folders"; broken=1; }

# Names that age: what was new when it was written is old one version on. A name says what a thing is. Comments and texts may say what they like.
# Outside of it for good: support's NewFile is a file that is new, kernels' Later what
# is asked for ahead, hopper_padding_of_later_release names what a library's release after another does.
held="model/families props/families model/numerics model/layout model/moe model/deployment model/engine model/audit checkpoint sim golden verbs cli props/engine props/faults props/numerics props/moe props/layout tests/engine tests/props tests/deployment"
aged=$(find $held \( -name '*.cpp' -o -name '*.hpp' \) -print0 | xargs -0 grep -nE '^' | sed -E 's/"([^"\\]|\\.)*"//g; s,//.*,,' |
  grep -E '\b(k|[A-Za-z0-9]*[a-z0-9])?(Now|Later|Newer|Older|New|Old)([A-Z0-9][A-Za-z0-9]*)?\b|\b([a-z0-9]+_)*(later|newer|older)_[a-z0-9_]+\b' | grep -v hopper_padding_of_later_release) && {
  echo "names that age (Now, later, new, old):"; echo "$aged"; broken=1; }
files=$(find model kernels support checkpoint sim golden verbs cli python props tests bench -name '*.[ch]pp' | grep -E '(^|[/_])(now|later|new|newer|old|older)(_|\.|$)') && {
  echo "files whose names age:"; echo "$files"; broken=1; }

# A month of the engine stands where the engine's versions are told apart: in its own rows, the rows of families and needs, recordings, laws and tests.
# Not yet held: checkpoint and verbs, which have five lines of it.
forbid "model/numerics model/layout model/moe kernels support sim golden/vectors cli python bench" 'kVllm20[0-9]{2}_[0-9]{2}' \
  "a version of the engine is told apart by its rows, not here"
tables=$(find model props -name '*20[0-9][0-9]_[0-9][0-9]*') && [[ -n $tables ]] && { echo "tables that are split by month:"; echo "$tables"; broken=1; }

# A family's record is listed once: its folder and the one list of all families name its tables and its parameters; its second opinion, the reader of
# recordings and tests read the latter.
records=$(grep -rnE --include='*.cpp' --include='*.hpp' '#include "(model|props)/families/[a-z0-9_]+/family.hpp"' model props tests checkpoint sim verbs cli kernels support golden python bench |
  awk -F: '{ folder = $1; sub(/[^\/]*$/, "", folder) } $1 !~ /^(model|props)\/families\/families\.[ch]pp$/ && index($0, "\"" folder "family.hpp") == 0') &&
  [[ -n $records ]] && { echo "a family's record is named outside of its folder and of the list of all families:"; echo "$records"; broken=1; }
for room in model props; do
  unlisted=$(for record in "$room"/families/*/family.hpp; do grep -qhF "\"$record\"" "$room"/families/families.[ch]pp || echo "$record"; done)
  [[ -z $unlisted ]] || { echo "a family that is not in the list of all families:"; echo "$unlisted"; broken=1; }
done
forbid "model/layout model/moe model/deployment model/engine model/audit checkpoint sim verbs cli kernels support python golden/vectors" \
  '\b(Aiter|B12x|Deepgemm|Flashinfer|Humming|Marlin|Triton)Parameters\b' "what one family looks at is set by its key, or asked of families/"

# stands_alone FILES ALLOWED WHY: no file may include a part of the project other than tests/ and the ALLOWED header.
stands_alone() {
  local found
  # shellcheck disable=SC2086
  found=$(grep -nE '#include "(model|support|kernels|checkpoint|sim|golden|verbs|cli|props|bench)/' $1 | grep -vF "$2") && { echo "$3:"; echo "$found"; broken=1; }
}

stands_alone "tests/proof/thresholds.hpp tests/proof/thresholds.cpp tests/proof/exact.hpp tests/proof/exact.cpp tests/numerics/facts.hpp tests/numerics/facts.cpp" \
  "(none)" "the second oracle of the numerics shares nothing with the model"
stands_alone "tests/numerics/search_encoder.hpp tests/numerics/search_encoder.cpp" '"model/numerics/convert.hpp"' "the search takes the words of conversions from the model, nothing else"

# Headers that include each other in a circle: tsort says which.
for header in $(find model kernels support checkpoint sim golden verbs cli props tests bench -name '*.hpp'); do sed -n "s|^#include \"\(.*\)\".*|$header \1|p" "$header"; done |
  tsort >/dev/null || { echo "headers include each other in a circle"; broken=1; }

strangers=$(find model support kernels checkpoint sim golden verbs cli python/module props tests bench \( -name '*.cpp' -o -name '*.hpp' \) -print0 | xargs -0 awk -f tests/namespaces.awk)
[[ -z $strangers ]] || { echo "a namespace is its folder's:"; echo "$strangers"; broken=1; }

undocumented=$(find model support checkpoint sim -name '*.hpp' -print0 | xargs -0 awk -f tests/undocumented.awk)
[[ -z $undocumented ]] || { echo "public functions without a word on what they give (shapes, units, errors, source):"; echo "$undocumented"; broken=1; }

# A file that needs a table of contents is two files. What is longer has its reason here.
long=$(find model kernels support checkpoint sim golden verbs cli python props tests bench \( -name '*.cpp' -o -name '*.hpp' -o -name '*.py' \) -print0 | xargs -0 awk 'FNR == 421 { print FILENAME }')
[[ -z $long ]] || { echo "more than 420 lines:"; echo "$long"; broken=1; }

[[ $broken -eq 0 ]] && echo "the house stands"
exit $broken
