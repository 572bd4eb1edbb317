#include "golden/draw/panel.hpp"

namespace mx::golden {

// Classes rather than variables: not every viewer knows CSS variables.
const std::string_view kStyle =
    "text{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#1b1f24}"
    ".paper{fill:#fff}.title{font:bold 20px 'DejaVu Sans',Helvetica,Arial,sans-serif}.head{font:bold 13px 'DejaVu Sans',Helvetica,Arial,sans-serif}"
    ".small{font-size:11px}.tick{font-size:10px;fill:#57606a}.row{text-anchor:end}.cell{font-size:7px;text-anchor:middle}.large{font-size:9px}"
    ".on-light{fill:#000}.on-dark{fill:#fff}.frame{fill:none;stroke:#57606a}.edge1{stroke:#fff;stroke-width:.75}.edge2{stroke:#fff;stroke-width:2}"
    ".edge3{stroke:#d1242f;stroke-width:2}.pad{stroke:none;shape-rendering:crispEdges}.hatch{stroke:#8c959f;stroke-width:1.2}.hatch-paper{fill:#"
    "eaeef2}"
    ".dots{fill:#d1242f}.cross{stroke:#d1242f;stroke-width:1.2}"
    "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.paper{fill:#0d1117}.tick{fill:#9198a1}.frame{stroke:#9198a1}"
    ".on-light{fill:#000}.on-dark{fill:#fff}.edge1,.edge2{stroke:#0d1117}.hatch-paper{fill:#21262d}.hatch{stroke:#7d8590}}";

const std::string_view kPatterns =
    "<pattern id=\"zero\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect class=\"hatch-paper\" width=\"6\" height=\"6\"/>"
    "<path class=\"hatch\" d=\"M-1 1l2-2M0 6l6-6M5 7l2-2\"/></pattern>"
    "<pattern id=\"neutral\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect class=\"hatch-paper\" width=\"6\" height=\"6\"/>"
    "<path class=\"hatch\" d=\"M-1 5l2 2M0 0l6 6M5 -1l2 2\"/></pattern>"
    "<pattern id=\"unwritten\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect class=\"hatch-paper\" width=\"6\" height=\"6\"/>"
    "<circle class=\"dots\" cx=\"3\" cy=\"3\" r=\"1.3\"/></pattern>"
    "<pattern id=\"cut\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\"><rect class=\"hatch-paper\" width=\"8\" height=\"8\"/>"
    "<path class=\"cross\" d=\"M2 2l4 4M6 2l-4 4\"/></pattern>";

}  // namespace mx::golden
