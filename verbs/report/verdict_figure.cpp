// The verdicts of a run as a picture.

#include <fmt/core.h>

#include <algorithm>

#include "verbs/report/verdicts.hpp"

namespace mx::verbs {
namespace {

constexpr int kMargin = 24;
constexpr int kNameWidth = 250;
constexpr int kCell = 48;
constexpr int kLine = 24;
constexpr int kDrop = 16;  // from the top of a line to the foot of its letters
constexpr int kNarrowest = 620;

class Sheet {
 public:
  explicit Sheet(const Run& run) : run_(run) {}

  Figure draw() {
    const Node checkpoint = run_.root()["checkpoint"];
    svg_.text(kMargin, y_ += 8, "title", "Every backend on every platform");
    svg_.text(kMargin, y_ += 22, "soft", support::shortened(fmt::format("{} ({})", checkpoint["path"].text(), checkpoint["form"].text()), 90));
    svg_.text(kMargin, y_ += 18, "soft", verify_outcome(run_).counted);
    y_ += 10;
    legend();
    for (const VerdictGrid& grid : verdict_grids(run_)) draw_grid(grid);
    const std::string description = "backend x platform: passed, known to differ, failed, mistrusted, refused or not yet modelled";
    return {std::move(svg_), width_, y_ + kMargin, "mxact verify", description, &kChartLook};
  }

 private:
  void cell(int x, const VerdictRow& verdict, bool chosen, std::string_view hover) {
    svg_.rect({x, y_, kCell - 2, kLine - 2}, verdict.style, {}, hover);
    if (chosen) svg_.rect({x + 1, y_ + 1, kCell - 4, kLine - 4}, "own");
    svg_.text(x + kCell / 2 - 1, y_ + kDrop, fmt::format("on-{}", verdict.style), verdict.mark);
  }

  void legend() {
    for (const VerdictRow& row : verdict_rows()) {
      cell(kMargin, row, false, {});
      svg_.text(kMargin + kCell + 8, y_ + kDrop, "text", fmt::format("{}: {}", row.word, row.meaning));
      y_ += kLine;
    }
    cell(kMargin, verdict_rows().front(), true, {});
    svg_.text(kMargin + kCell + 8, y_ + kDrop, "text", "framed: the engine's own choice");
    y_ += kLine;
  }

  void draw_grid(const VerdictGrid& grid) {
    y_ += 26;
    svg_.text(kMargin, y_, "head", fmt::format("{} tensor parallel rank{}", grid.tp, grid.tp == 1 ? "" : "s"));
    y_ += 20;
    for (std::size_t i = 0; i < grid.platforms.size(); ++i)
      svg_.text(column(i) + kCell / 2, y_, "soft middle", support::shortened(grid.platforms[i], 8));
    y_ += 8;
    for (std::size_t backend = 0; backend < grid.backends.size(); ++backend) {
      svg_.text(kMargin, y_ + kDrop, "code", support::shortened(grid.backends[backend], 34));
      for (std::size_t i = 0; i < grid.platforms.size(); ++i) {
        const std::optional<VerdictCell>& one = grid.at(backend, i);
        if (one) cell(column(i), verdict_rows()[one->verdict], one->chosen, grid.backends[backend] + ", " + one->hover);
      }
      y_ += kLine;
    }
    width_ = std::max(width_, column(grid.platforms.size()) + kMargin);
  }

  static int column(std::size_t i) { return kMargin + kNameWidth + static_cast<int>(i) * kCell; }

  const Run& run_;
  support::Svg svg_;
  int y_ = kMargin;
  int width_ = kNarrowest;
};

}  // namespace

Figure verify_figure(const Run& run) { return Sheet(run).draw(); }

}  // namespace mx::verbs
