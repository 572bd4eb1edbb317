#pragma once
// Benchmarks that are made from tables; main() registers them.

namespace mx::bench {

/// The machine's limits, and every codec of a table on every tier that runs here with one and two threads.
void register_codecs();

}  // namespace mx::bench
