#pragma once
// SVG, written as text: shapes with classes, one style sheet for light and dark, nothing from outside.

#include <string>
#include <string_view>

namespace mx::golden {

/// In pixels.
struct Box {
  int x;
  int y;
  int width;
  int height;
};

/// Text between tags or in attributes: &, <, > and quotes as entities, control characters as U+FFFD.
std::string escaped(std::string_view text);

/// A drawing that grows. Classes are those of its style sheet; `fill` is a colour or "url(#pattern)", "" leaves it to the class.
class Svg {
 public:
  void rect(const Box& box, std::string_view style_class, std::string_view fill = {}, std::string_view hover = {});
  void line(int x1, int y1, int x2, int y2, std::string_view style_class);
  void text(int x, int y, std::string_view style_class, std::string_view text);
  /// Boxes of one colour as one path: cheap for thousands of them.
  class Boxes {
   public:
    void add(const Box& box);
    bool empty() const { return path_.empty(); }

   private:
    friend class Svg;
    std::string path_;
  };
  void boxes(const Boxes& boxes, std::string_view style_class, std::string_view fill = {});
  /// Adds what `defs` needs: gradients, patterns.
  void define(std::string_view definition);

  /// The whole file. `style` is CSS.
  std::string document(int width, int height, std::string_view title, std::string_view description, std::string_view style) const;

 private:
  std::string definitions_;
  std::string body_;
};

}  // namespace mx::golden
