#pragma once
// What a verb is asked about: an INFO file with its one deployment, or a model on a platform with one for each kind of its layers.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/served_model.hpp"
#include "support/deployment_file.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

/// How a verb was asked, beside the path.
struct AskedFor {
  std::string engine;       ///< of engine_named
  std::string oracle = {};  ///< instead of the file's; a model's own configuration says it
  std::map<std::string, std::string> env = {};
  std::string platform = {};  ///< of a model alone, as the sizes that follow
  std::optional<int> tp = {}, dp = {};
  bool expert_parallel = false;
  std::string all2all = {};
  std::string moe_backend = {};
};

struct AskedKind {
  std::string layers;  ///< "0-2,5"; empty: of an INFO file
  support::DeploymentFile file;
};

struct Asked {
  std::string name;  ///< the path as typed
  std::optional<checkpoint::ServedModel> model;
  std::vector<AskedKind> kinds;  ///< of an INFO file one
};

/// Reads the file or the model. Throws as load_deployment_file and served_model do, Error(usage) for a platform or sizes beside an INFO file, and for
/// a model without a platform.
Asked asked_about(const std::string& path, const AskedFor& asked);

/// The kind that a layer belongs to; without a number the first. Throws Error(usage) for a layer that has no experts.
const AskedKind& kind_of(const Asked& asked, std::optional<int> layer);

/// The backend that the engine takes for a kind. Throws Error(unsupported) where it raises, or where a method takes a class without a backend's name.
std::string chosen_backend(const AskedKind& kind);
/// That of all kinds. Throws Error(usage) naming each where they are not one, and as chosen_backend does.
std::string chosen_backend(const Asked& asked);

/// Which backend for each kind. `explain`: also each one's trace, and the fields that the model's class does not read.
Document select_document(const Asked& asked, bool strict, bool explain);
/// What is broken of each kind.
Document audit_document_of(const Asked& asked);
/// The INFO text of each kind; of several, each behind a comment that names its layers.
Document info_document(const Asked& asked);

}  // namespace mx::verbs
