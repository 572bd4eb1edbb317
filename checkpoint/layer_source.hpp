#pragma once
// A layer's tensors, each as one piece of memory, wherever they are.

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "model/layout/packed.hpp"

namespace mx::checkpoint {

class LayerSource {
 public:
  LayerSource() = default;
  LayerSource(const LayerSource&) = delete;
  LayerSource& operator=(const LayerSource&) = delete;
  virtual ~LayerSource() = default;

  virtual const layout::Sizes& sizes() const = 0;
  virtual const layout::Form& form() const = 0;
  virtual bool has(layout::Role role) const = 0;
  /// Bytes of a role's canonical memory from `begin` on, into `out`. Throws as whatever they come from does.
  virtual void read(layout::Role role, std::uint64_t begin, std::span<std::uint8_t> out) const = 0;
};

/// A layer in memory, which outlives this.
class HeldLayer final : public LayerSource {
 public:
  /// Throws Error(input) when a tensor's bytes do not fit its canonical memory.
  explicit HeldLayer(const layout::CanonicalLayer& layer);

  const layout::Sizes& sizes() const override { return layer_.sizes; }
  const layout::Form& form() const override { return layer_.form; }
  bool has(layout::Role role) const override { return !layer_[role].empty(); }
  void read(layout::Role role, std::uint64_t begin, std::span<std::uint8_t> out) const override;

 private:
  const layout::CanonicalLayer& layer_;
};

/// A layer as the engine's method leaves it on a device whose FP8 is e4m3fnuz: model/families/fnuz.hpp.
class FnuzLayer final : public LayerSource {
 public:
  explicit FnuzLayer(std::unique_ptr<LayerSource> before) : before_(std::move(before)) {}

  /// The layer before that step.
  const LayerSource& before() const { return *before_; }
  const layout::Sizes& sizes() const override { return before_->sizes(); }
  const layout::Form& form() const override { return before_->form(); }
  bool has(layout::Role role) const override { return before_->has(role); }
  /// Whole units.
  void read(layout::Role role, std::uint64_t begin, std::span<std::uint8_t> out) const override;

 private:
  std::unique_ptr<LayerSource> before_;
};

}  // namespace mx::checkpoint
