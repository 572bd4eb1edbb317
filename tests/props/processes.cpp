#include "tests/props/processes.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <string_view>

#include "model/error.hpp"

namespace mx::tests {
namespace {

using Work = std::function<void(std::size_t, const Say&)>;

void write_line(int out, std::string line) {
  line += '\n';
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t written = write(out, rest.data(), rest.size());
    if (written <= 0) _exit(1);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

[[noreturn]] void be_child(std::size_t index, const Work& work, int out) {
  // RapidCheck announces its configuration there; what counts goes through the pipe.
  if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(1);
  try {
    work(index, [out](const std::string& line) { write_line(out, line); });
  } catch (const std::exception&) {
    _exit(1);
  }
  _exit(0);
}

class Process {
 public:
  Process(std::size_t index, const Work& work) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw Error(ErrorCode::resource, std::string("no pipe for a process: ") + std::strerror(errno));
    pid_ = fork();
    if (pid_ < 0) throw Error(ErrorCode::resource, std::string("no process: ") + std::strerror(errno));
    if (pid_ == 0) {
      close(ends[0]);
      be_child(index, work, ends[1]);
    }
    close(ends[1]);
    in_ = ends[0];
  }

  int in() const { return in_; }

  /// Takes what there is to read; false at the end.
  bool read_some() {
    std::array<char, 4096> buffer{};
    const ssize_t got = read(in_, buffer.data(), buffer.size());
    if (got <= 0) return false;
    text_.append(buffer.data(), static_cast<std::size_t>(got));
    return true;
  }

  Said end() {
    close(in_);
    int status = 0;
    waitpid(pid_, &status, 0);
    Said said;
    for (std::size_t at = 0, line_end = 0; (line_end = text_.find('\n', at)) != std::string::npos; at = line_end + 1) {
      said.lines.push_back(text_.substr(at, line_end - at));
    }
    said.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    said.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    return said;
  }

 private:
  pid_t pid_ = -1;
  int in_ = -1;
  std::string text_;
};

}  // namespace

std::vector<Said> in_processes(std::size_t count, int jobs, const Work& work, const std::function<void(std::size_t)>& done) {
  std::vector<Said> all(count);
  std::map<std::size_t, Process> running;
  std::size_t next = 0;
  for (std::size_t finished = 0; finished < count;) {
    for (; next < count && running.size() < static_cast<std::size_t>(jobs); ++next) running.try_emplace(next, next, work);
    std::vector<pollfd> watched;
    for (const auto& [index, process] : running) watched.push_back({process.in(), POLLIN, 0});
    if (poll(watched.data(), watched.size(), -1) < 0) continue;
    auto heard = watched.begin();
    for (auto process = running.begin(); process != running.end(); ++heard) {
      if (heard->revents == 0 || process->second.read_some()) {
        ++process;
        continue;
      }
      all[process->first] = process->second.end();
      process = running.erase(process);
      done(++finished);
    }
  }
  return all;
}

}  // namespace mx::tests
