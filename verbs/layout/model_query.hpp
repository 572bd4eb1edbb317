#pragma once
// A model in the place of a layout's name: the layout of the backend that the engine chooses for it.

#include "verbs/layout/subject.hpp"

namespace mx::verbs {

/// The query with the chosen backend as its name and the model's shape, format and form before its choices, where its name is a model; else as it is.
/// Keys of a model alone: dp, ep (yes, no), all2all, moe-backend, and layer, the kind of layers that this one belongs to (the first). Throws
/// Error(usage) for one of them beside another name, and as asked_about, kind_of and chosen_backend do.
LayoutQuery of_model(LayoutQuery query);

}  // namespace mx::verbs
