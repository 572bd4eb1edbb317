#include "verbs/matrix/picture.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "verbs/draw/figure.hpp"
#include "verbs/matrix/matrix_view.hpp"

namespace mx::verbs {
namespace {

constexpr int kMargin = 24;
constexpr int kNameWidth = 236;  // the longest name of a backend
constexpr int kCellWidth = 66;
constexpr int kLineHeight = 21;
constexpr int kHeadLine = 15;
constexpr int kTextDrop = 15;  // from the top of a line to the foot of its letters
constexpr int kNarrowest = 900;
constexpr int kLegendLine = 17;
constexpr int kLegendColumn = 76;
constexpr int kBoldLetter = 8;

constexpr std::array kRules{
    StyleRule{"text", "font-family:'DejaVu Sans',Helvetica,Arial,sans-serif;font-size:11px;fill:#1b1f24", "fill:#e6edf3"},
    StyleRule{".paper", "fill:#fff", "fill:#0d1117"},
    StyleRule{".title", "font-size:20px;font-weight:bold", ""},
    StyleRule{".head", "font-size:14px;font-weight:bold", ""},
    StyleRule{".spread", "font-size:12px;font-weight:bold", ""},
    StyleRule{".small,.soft", "fill:#57606a", "fill:#9198a1"},
    StyleRule{".name", "font-size:11px", ""},
    StyleRule{".middle", "text-anchor:middle", ""},
    StyleRule{".chosen", "fill:#1a7f37", "fill:#238636"},
    StyleRule{".possible", "fill:#b6dcf7", "fill:#0c3a66"},
    StyleRule{".refused", "fill:#eef1f4", "fill:#1c2128"},
    StyleRule{".raises", "fill:#f9c5c1", "fill:#67201f"},
    StyleRule{".on-chosen", "fill:#fff;font-weight:bold;text-anchor:middle", "fill:#fff"},
    StyleRule{".on-possible", "fill:#0a3069;text-anchor:middle", "fill:#a5d6ff"},
    StyleRule{".on-refused", "fill:#57606a;text-anchor:middle", "fill:#9198a1"},
    StyleRule{".on-raises", "fill:#82071e;text-anchor:middle", "fill:#ffdcd7"},
};
constexpr Look kMatrixLook{"matrix", kRules, {}};

constexpr std::array<std::string_view, 3> kCells = {"chosen", "possible", "refused"};  // by verbs::CellState
constexpr std::array<std::string_view, 3> kWords = {"on-chosen", "on-possible", "on-refused"};

/// Draws from top to bottom and remembers how far it came.
class Sheet {
 public:
  explicit Sheet(const verbs::Matrix& matrix) : matrix_(matrix) {}

  std::string draw() {
    text(kMargin, 20, "title", "Which backend serves which deployment");
    legend();
    for (const verbs::MatrixSection& section : matrix_.sections) draw_section(section);
    const std::string description = "backend x platform x parallelism: chosen, possible, or refused and why";
    return as_file({std::move(svg_), width_, y_ + kMargin, "mxact matrix", description, &kMatrixLook});
  }

 private:
  /// A line of text of that height; y_ moves below it.
  void text(int x, int height, std::string_view style, std::string_view words) {
    y_ += height;
    svg_.text(x, y_, style, words);
    y_ += height / 3;
  }

  void legend() {
    const std::vector<verbs::LegendRow> rows = verbs::legend_of(matrix_);
    y_ += 8;
    for (const verbs::LegendRow& row : rows) {
      svg_.text(kMargin, y_ + kTextDrop, "spread", row.word);
      svg_.text(kMargin + kLegendColumn, y_ + kTextDrop, "small", row.meaning);
      y_ += kLegendLine;
    }
  }

  void draw_section(const verbs::MatrixSection& section) {
    y_ += 20;
    text(kMargin, 18, "head", fmt::format("{} in {}", section.model->name, section.scheme->name));
    text(kMargin, 12, "small", fmt::format("oracle {}: {}", section.scheme->oracle, section.scheme->title));
    for (const verbs::MatrixGroup& group : verbs::equal_spreads(matrix_, section)) draw_table(section, group);
  }

  void draw_table(const verbs::MatrixSection& section, const verbs::MatrixGroup& group) {
    const std::size_t spread = group.members.front();
    const std::vector<verbs::MatrixGroup> platforms = verbs::equal_platforms(matrix_, section, spread);
    y_ += 8;
    const std::string names = verbs::spread_names(matrix_, group);
    text(kMargin, 14, "spread", names);
    width_ = std::max(width_, 2 * kMargin + static_cast<int>(names.size()) * kBoldLetter);
    draw_head(platforms);
    for (const verbs::MatrixLine& line : verbs::lines_of(matrix_, section, spread, platforms)) draw_line(line);
    width_ = std::max(width_, column_x(platforms.size()) + kMargin);
  }

  static int column_x(std::size_t column) { return kMargin + kNameWidth + static_cast<int>(column) * kCellWidth; }

  /// Names of platforms with equal answers above each other, the last ones just above the cells.
  void draw_head(const std::vector<verbs::MatrixGroup>& platforms) {
    std::size_t height = 0;
    for (const verbs::MatrixGroup& group : platforms) height = std::max(height, group.members.size());
    for (std::size_t column = 0; column < platforms.size(); ++column) {
      const std::vector<std::size_t>& members = platforms[column].members;
      for (std::size_t i = 0; i < members.size(); ++i) {
        const int line = static_cast<int>(height - members.size() + i);
        svg_.text(column_x(column) + kCellWidth / 2, y_ + line * kHeadLine + kTextDrop, "middle", matrix_.platforms[members[i]]->name);
      }
    }
    y_ += static_cast<int>(height) * kHeadLine + 5;
  }

  void draw_line(const verbs::MatrixLine& line) {
    svg_.text(kMargin, y_ + kTextDrop, "name", line.name);
    for (std::size_t column = 0; column < line.words.size(); ++column) {
      const verbs::MatrixWord& word = line.words[column];
      if (word.text.empty()) continue;
      const auto state = static_cast<std::size_t>(word.state.value_or(audit::CellState::refused));
      const std::string hover = fmt::format("{}: {}", line.name, word.hover);
      svg_.rect({column_x(column), y_, kCellWidth - 2, kLineHeight - 2}, word.state ? kCells.at(state) : "raises", {}, hover);
      svg_.text(column_x(column) + kCellWidth / 2 - 1, y_ + kTextDrop - 1, word.state ? kWords.at(state) : "on-raises", word.text);
    }
    y_ += kLineHeight;
  }

  const verbs::Matrix& matrix_;
  support::Svg svg_;
  int y_ = kMargin;
  int width_ = kNarrowest;
};

}  // namespace

std::string matrix_svg(const verbs::Matrix& matrix) { return Sheet(matrix).draw(); }

}  // namespace mx::verbs
