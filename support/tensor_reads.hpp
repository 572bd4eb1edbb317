#pragma once
// Many tensors out of files: on all threads, and ahead of their time.

#include <atomic>
#include <span>
#include <thread>
#include <vector>

#include "support/safetensors.hpp"
#include "support/stop.hpp"

namespace mx::support {

/// A tensor of a file; both outlive whoever holds this.
struct TensorPlace {
  const SafetensorsFile* file;
  const TensorView* view;
};

/// A tensor and the memory for all of its bytes.
struct TensorRead {
  TensorPlace from;
  std::span<std::uint8_t> to;
};

/// Reads all of them, in pieces that are shared among the threads. Throws as SafetensorsFile::read does, and Stopped.
void read_tensors(std::span<const TensorRead> tensors, const StopPoint& stop);

/// Asks the system, from a thread of its own, to bring tensors into its page cache, where reading finds them. Advice and no more: it takes no memory
/// of the process, and what cannot be read is an error of whoever reads it. One list at a time; another one ends the one before.
class ReadAhead {
 public:
  ReadAhead() = default;
  ~ReadAhead() { stop(); }
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  void start(std::vector<TensorPlace> tensors);

 private:
  void stop();

  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

}  // namespace mx::support
