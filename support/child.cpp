#include "support/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>

#include "model/error.hpp"

namespace mx::support {
namespace {

constexpr int kLookMilliseconds = 20;
constexpr std::chrono::milliseconds kGrace{500};
constexpr int kSignalled = 128;

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

/// One end of a pipe.
class End {
 public:
  explicit End(int fd) : fd_(fd) {}
  ~End() { close(); }
  End(const End&) = delete;
  End& operator=(const End&) = delete;
  int fd() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

/// A process that is ended and waited for, whatever happens.
class Process {
 public:
  Process(const std::vector<std::string>& words, int output) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    const int problem = posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (problem != 0) throw Error(ErrorCode::unsupported, "cannot be started: " + std::generic_category().message(problem), words[0]);
  }
  ~Process() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      wait();
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Its exit status, when it has ended.
  int wait() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
  }
  void end() {
    kill(pid_, SIGTERM);
    const auto until = std::chrono::steady_clock::now() + kGrace;
    while (std::chrono::steady_clock::now() < until) {
      if (waitpid(pid_, nullptr, WNOHANG) == pid_) {
        pid_ = 0;
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(kLookMilliseconds));
    }
  }

 private:
  pid_t pid_ = 0;
};

}  // namespace

ChildAnswer ask_child(const std::vector<std::string>& words, std::size_t most, const Stop& stop) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe");
  const End from(ends[0]);
  End to(ends[1]);
  Process child(words, to.fd());
  to.close();
  ChildAnswer answer{};
  std::array<char, 65536> buffer{};
  for (;;) {
    if (stop && stop()) {
      child.end();
      throw Stopped{};
    }
    pollfd ready{from.fd(), POLLIN, 0};
    if (poll(&ready, 1, kLookMilliseconds) <= 0) continue;
    const ssize_t got = read(from.fd(), buffer.data(), buffer.size());
    if (got < 0 && errno != EINTR) fail("read");
    if (got == 0) break;
    if (got > 0) answer.output.append(buffer.data(), static_cast<std::size_t>(got));
    if (answer.output.size() > most) throw Error(ErrorCode::resource, "prints more than " + std::to_string(most) + " bytes", words[0]);
  }
  answer.status = child.wait();
  return answer;
}

}  // namespace mx::support
