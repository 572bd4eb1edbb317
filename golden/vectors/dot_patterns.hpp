#pragma once
// Operands of a dot product, product by product: for the patterns of the directed set.

#include <functional>
#include <vector>

#include "golden/vectors/dot_subject.hpp"

namespace mx::golden {

/// One vector in the making. Scales are 1 and elements zero until something else is placed.
class DotPatterns {
 public:
  /// `sink` takes each vector that give() gives.
  DotPatterns(const DotSubject& subject, const std::function<void(Lanes operands)>& sink);

  int top() const { return range_a_.high + range_b_.high; }   ///< exponent of the largest product
  int bottom() const { return range_a_.low + range_b_.low; }  ///< of the least one that is not zero

  void clear();
  /// A product of plus or minus 2^exponent at k; the nearest exponent that there is.
  void place(std::size_t k, int exponent, bool negative);
  /// Operand C, fp32 bits; only where the subject has one.
  void set_c(std::uint32_t f32) { operands_.back() = f32; }
  void give() const { (*sink_)(operands_); }

  std::size_t length() const { return subject_->length; }
  MutableLanes a() { return MutableLanes(operands_).subspan(subject_->scales_of(subject_->a), length()); }
  MutableLanes b() { return MutableLanes(operands_).subspan(subject_->b_begins() + subject_->scales_of(subject_->b), length()); }
  MutableLanes scales(bool of_b);
  const Format* scale(bool of_b) const { return of_b ? subject_->b.scale : subject_->a.scale; }
  const Format& element(bool of_b) const { return of_b ? *subject_->b.element : *subject_->a.element; }

 private:
  /// Exponents of a format's positive numbers.
  struct Range {
    int low, high;
  };
  static Range range_of(const Format& format);

  const DotSubject* subject_;
  const std::function<void(Lanes operands)>* sink_;
  std::vector<std::uint32_t> operands_;
  Range range_a_, range_b_;
};

}  // namespace mx::golden
