#include "sim/transport/mpi.hpp"

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace mx::sim {
namespace {

/// The length that a process without words to give reports: it failed.
constexpr std::int64_t kFailed = -1;

// What the handler writes is made before it can run: it may do little itself.
std::array<char, 160> farewell{};
std::size_t farewell_size = 0;

extern "C" void say_farewell(int /*signal*/) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, farewell.data(), farewell_size);
  _exit(static_cast<int>(ErrorCode::resource));
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "?" : value;
}

/// A launcher ends all processes when one of them dies: whoever is told to end says so. Set before MPI_Init, which waits for all processes.
void answer_termination() {
  const std::string text = "mxact: error: rank " + environment("OMPI_COMM_WORLD_RANK") + " of " + environment("OMPI_COMM_WORLD_SIZE") +
                           ": ended by the launcher: another rank died, or the run was cancelled\n";
  farewell_size = std::min(text.size(), farewell.size());
  std::copy_n(text.begin(), farewell_size, farewell.begin());
  struct sigaction action {};
  action.sa_handler = say_farewell;
  sigaction(SIGTERM, &action, nullptr);
}

class Mpi final : public Transport {
 public:
  Mpi() {
    answer_termination();
    int given = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  /// A process that ends with a failure makes launchers end the others: each has said what it had to before the first one leaves.
  ~Mpi() override {
    MPI_Barrier(MPI_COMM_WORLD);
    // From here on a launcher that ends this process, since another's status is no 0, has nothing to tell.
    static_cast<void>(std::signal(SIGTERM, SIG_IGN));
    MPI_Finalize();
  }

  std::vector<int> ranks_here(int ranks) const override {
    if (ranks == size_) return {rank_};
    throw Error(ErrorCode::usage, "the deployment has " + std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks") + ", the launcher started " +
                                      std::to_string(size_) + (size_ == 1 ? " process" : " processes"));
  }

  std::vector<Words> all_gather(std::vector<Words> here) override {
    const Words& mine = here.front();
    const std::vector<std::int64_t> lengths = gathered_lengths(static_cast<std::int64_t>(mine.size()));
    if (std::ranges::find(lengths, kFailed) != lengths.end()) throw *gathered_failures(nullptr);
    return gathered<std::uint32_t, Words>(mine, lengths, MPI_UINT32_T);
  }

  void fail(const Error& error) override {
    if (ended_) return;
    gathered_lengths(kFailed);
    gathered_failures(&error);
  }

  bool reports() const override { return rank_ == 0; }

  std::string label() const override {
    std::string label = "rank " + std::to_string(rank_) + " of " + std::to_string(size_) + ": ";
    if (culprit_) label += "rank " + std::to_string(*culprit_) + " failed: ";
    return label;
  }

 private:
  std::vector<std::int64_t> gathered_lengths(std::int64_t mine) const {
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(size_));
    MPI_Allgather(&mine, 1, MPI_INT64_T, lengths.data(), 1, MPI_INT64_T, MPI_COMM_WORLD);
    return lengths;
  }

  /// Sequences of every process, of these lengths.
  template <class Number, class Sequence>
  std::vector<Sequence> gathered(const Sequence& mine, const std::vector<std::int64_t>& lengths, MPI_Datatype type) const {
    std::vector<int> counts;
    std::vector<int> places;
    std::int64_t total = 0;
    for (const std::int64_t length : lengths) {
      if (length > INT_MAX - total) throw Error(ErrorCode::resource, "ranks exchange more than 2^31 - 1 words at once");
      counts.push_back(static_cast<int>(length));
      places.push_back(static_cast<int>(total));
      total += length;
    }
    std::vector<Number> all(static_cast<std::size_t>(total));
    MPI_Allgatherv(mine.data(), counts[static_cast<std::size_t>(rank_)], type, all.data(), counts.data(), places.data(), type, MPI_COMM_WORLD);
    std::vector<Sequence> sequences;
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
      const auto first = all.begin() + places[rank];
      sequences.emplace_back(first, first + counts[rank]);
    }
    return sequences;
  }

  /// The failure of the lowest rank that has one. Each process hands in its own or null; nothing is exchanged behind it.
  std::optional<Error> gathered_failures(const Error* mine) {
    ended_ = true;
    const std::string text = mine == nullptr ? std::string() : static_cast<char>('0' + static_cast<int>(mine->code())) + std::string(mine->what());
    const std::vector<std::string> texts = gathered<char, std::string>(text, gathered_lengths(static_cast<std::int64_t>(text.size())), MPI_CHAR);
    const auto first = std::ranges::find_if(texts, [](const std::string& one) { return !one.empty(); });
    if (first == texts.end()) return std::nullopt;
    if (mine == nullptr) culprit_ = static_cast<int>(first - texts.begin());
    return Error(static_cast<ErrorCode>(first->front() - '0'), first->substr(1));
  }

  int rank_ = 0;
  int size_ = 1;
  bool ended_ = false;
  std::optional<int> culprit_;  ///< the other rank whose failure ended the run
};

}  // namespace

Transport* mpi_transport() {
  static Mpi transport;
  return &transport;
}

}  // namespace mx::sim
