// One process of an MPI run that does something else than the others, once all of them have begun.
//   dying_rank killed | quits | fails      ends before its time
//   dying_rank terminates PID_FILE SAID    asks the process whose number is in PID_FILE to end, as launchers do, and waits until it has SAID
//   something

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#include <sys/types.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

int main(int argc, char** argv) {
  MPI_Init(nullptr, nullptr);
  const std::string_view how = argc > 1 ? argv[1] : "";
  if (how == "killed") std::raise(SIGKILL);
  if (how == "terminates" && argc == 4) {
    pid_t process = 0;
    std::ifstream(argv[2]) >> process;
    if (process > 1) kill(process, SIGTERM);
    while (std::filesystem::file_size(argv[3]) == 0) usleep(10000);
  }
  std::_Exit(how == "quits" ? 0 : 1);
}
