#pragma once
// SVG, written as text: shapes with classes that a style sheet colours for light and dark.

#include <string>
#include <string_view>

namespace mx::support {

/// In pixels.
struct Box {
  int x;
  int y;
  int width;
  int height;
};

/// Text between tags or in attributes: &, <, > and quotes as entities, control characters as U+FFFD.
std::string escaped(std::string_view text);

/// At most so many letters of a name, and "…" where it goes on; never half a letter of UTF-8.
std::string shortened(std::string_view text, std::size_t letters);

/// A drawing that grows. Classes are those of its style sheet; `fill` is a colour or "url(#pattern)", "" leaves it to the class.
class Svg {
 public:
  void rect(const Box& box, std::string_view style_class, std::string_view fill = {}, std::string_view hover = {});
  /// A dot.
  void circle(int x, int y, int radius, std::string_view style_class, std::string_view hover = {});
  void line(int x1, int y1, int x2, int y2, std::string_view style_class);
  void text(int x, int y, std::string_view style_class, std::string_view text);
  /// Text that rises to the right, such as the name of a narrow column; it begins at (x, y).
  void slanted(int x, int y, std::string_view style_class, std::string_view text);
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
  /// The shapes so far, without a head.
  const std::string& body() const { return body_; }

 private:
  std::string body_;
};

}  // namespace mx::support
