#include "verbs/draw/style.hpp"

#include <algorithm>
#include <array>

namespace mx::verbs {
namespace {

constexpr std::array kLayoutRules{
    StyleRule{"text", "font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#1b1f24", "fill:#e6edf3"},
    StyleRule{".paper", "fill:#fff", "fill:#0d1117"},
    StyleRule{".title", "font:bold 20px 'DejaVu Sans',Helvetica,Arial,sans-serif", ""},
    StyleRule{".head", "font:bold 13px 'DejaVu Sans',Helvetica,Arial,sans-serif", ""},
    StyleRule{".small", "font-size:11px", ""},
    StyleRule{".tick", "font-size:10px;fill:#57606a", "fill:#9198a1"},
    StyleRule{".row", "text-anchor:end", ""},
    StyleRule{".cell", "font-size:7px;text-anchor:middle", ""},
    StyleRule{".large", "font-size:9px", ""},
    StyleRule{".on-light", "fill:#000", "fill:#000"},
    StyleRule{".on-dark", "fill:#fff", "fill:#fff"},
    StyleRule{".frame", "fill:none;stroke:#57606a", "stroke:#9198a1"},
    StyleRule{".edge1", "stroke:#fff;stroke-width:.75", "stroke:#0d1117"},
    StyleRule{".edge2", "stroke:#fff;stroke-width:2", "stroke:#0d1117"},
    StyleRule{".edge3", "stroke:#d1242f;stroke-width:2", ""},
    StyleRule{".pad", "stroke:none;shape-rendering:crispEdges", ""},
};

// The patterns carry their own colours in both lights: a page defines them once, outside every picture.
constexpr std::string_view kLayoutPatterns =
    "<style>.hatch{stroke:#8c959f;stroke-width:1.2}.hatch-paper{fill:#eaeef2}.dots{fill:#d1242f}.cross{stroke:#d1242f;stroke-width:1.2}"
    "@media (prefers-color-scheme:dark){.hatch-paper{fill:#21262d}.hatch{stroke:#7d8590}}</style>"
    "<pattern id=\"zero\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect class=\"hatch-paper\" width=\"6\" height=\"6\"/>"
    "<path class=\"hatch\" d=\"M-1 1l2-2M0 6l6-6M5 7l2-2\"/></pattern>"
    "<pattern id=\"neutral\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect class=\"hatch-paper\" width=\"6\" height=\"6\"/>"
    "<path class=\"hatch\" d=\"M-1 5l2 2M0 0l6 6M5 -1l2 2\"/></pattern>"
    "<pattern id=\"unwritten\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect class=\"hatch-paper\" width=\"6\" height=\"6\"/>"
    "<circle class=\"dots\" cx=\"3\" cy=\"3\" r=\"1.3\"/></pattern>"
    "<pattern id=\"cut\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\"><rect class=\"hatch-paper\" width=\"8\" height=\"8\"/>"
    "<path class=\"cross\" d=\"M2 2l4 4M6 2l-4 4\"/></pattern>"
    "<pattern id=\"same\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\"><rect class=\"hatch-paper\" width=\"8\" height=\"8\"/></pattern>";

// Blue and orange, and a mark or a word wherever colour says something: told apart by colour-blind readers too.
constexpr std::array kChartRules{
    StyleRule{"text", "font:12px system-ui,'DejaVu Sans',Helvetica,Arial,sans-serif;fill:#1b1f24", "fill:#e6edf3"},
    StyleRule{".paper", "fill:#fff", "fill:#0d1117"},
    StyleRule{".title", "font-size:18px;font-weight:bold", ""},
    StyleRule{".head", "font-size:13px;font-weight:bold", ""},
    StyleRule{".soft", "fill:#57606a;font-size:11px", "fill:#9198a1"},
    StyleRule{".code", "font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;font-size:11px", ""},
    StyleRule{".middle", "text-anchor:middle", ""},
    StyleRule{".end", "text-anchor:end", ""},
    StyleRule{".grid", "stroke:#d0d7de;stroke-width:1", "stroke:#30363d"},
    StyleRule{".axis", "stroke:#57606a;stroke-width:1", "stroke:#9198a1"},
    StyleRule{".frame", "fill:none;stroke:#57606a", "stroke:#9198a1"},
    StyleRule{".first", "stroke:#0b5cad;stroke-width:1.4", "stroke:#58a6ff"},
    StyleRule{".second", "stroke:#b45309;stroke-width:1.4", "stroke:#f0883e"},
    StyleRule{".first-fill", "fill:#0b5cad", "fill:#58a6ff"},
    StyleRule{".second-fill", "fill:#b45309", "fill:#f0883e"},
    StyleRule{".third-fill", "fill:#6e7781", "fill:#8b949e"},
    StyleRule{".roof", "stroke:#1b1f24;stroke-width:2;fill:none", "stroke:#e6edf3"},
    StyleRule{".roof-2", "stroke:#1b1f24;stroke-width:2;stroke-dasharray:7 4;fill:none", "stroke:#e6edf3"},
    StyleRule{".blank", "fill:#f6f8fa", "fill:#161b22"},
    StyleRule{".passed", "fill:#0f6e56", "fill:#0f6e56"},
    StyleRule{".failed", "fill:#b93a00", "fill:#b93a00"},
    StyleRule{".mistrusted", "fill:#f2c14e", "fill:#d9a520"},
    StyleRule{".refused", "fill:#d8dee4", "fill:#373e47"},
    StyleRule{".unmodelled", "fill:#e7e3f4", "fill:#3b3551"},
    StyleRule{".on-passed,.on-failed", "fill:#fff;font-weight:bold;text-anchor:middle", "fill:#fff"},
    StyleRule{".on-mistrusted", "fill:#1b1f24;font-weight:bold;text-anchor:middle", "fill:#1b1f24"},
    StyleRule{".on-refused,.on-unmodelled", "fill:#1b1f24;text-anchor:middle", "fill:#e6edf3"},
    StyleRule{".on-fill", "fill:#fff;font-weight:bold;text-anchor:middle", "fill:#0d1117"},
    StyleRule{".on-light", "fill:#000;text-anchor:middle;font-size:10px", "fill:#000"},
    StyleRule{".on-dark", "fill:#fff;text-anchor:middle;font-size:10px", "fill:#fff"},
    StyleRule{".own", "fill:none;stroke:#1b1f24;stroke-width:2", "stroke:#e6edf3"},
};

/// ".scope .a,.scope .b"
std::string scoped(std::string_view selectors, std::string_view scope) {
  std::string text;
  while (!selectors.empty()) {
    const std::size_t comma = std::min(selectors.find(','), selectors.size());
    if (!text.empty()) text += ',';
    if (!scope.empty()) text.append(scope).append(" ");
    text += selectors.substr(0, comma);
    selectors.remove_prefix(std::min(comma + 1, selectors.size()));
  }
  return text;
}

std::string rule(std::string_view selectors, std::string_view declarations, std::string_view scope) {
  return declarations.empty() ? std::string() : scoped(selectors, scope) + "{" + std::string(declarations) + "}";
}

}  // namespace

const Look kLayoutLook{"layout", kLayoutRules, kLayoutPatterns};
const Look kChartLook{"chart", kChartRules, {}};

std::string css(std::span<const StyleRule> rules, std::string_view scope) {
  std::string text;
  for (const StyleRule& row : rules) text += rule(row.selectors, row.light, scope);
  text += "@media (prefers-color-scheme:dark){";
  for (const StyleRule& row : rules) text += rule(row.selectors, row.dark, scope);
  return text + "}";
}

}  // namespace mx::verbs
