/* Loaded before the C library (LD_PRELOAD): one call of those that change files fails, stops short or is the process's last.
 *
 * MXACT_FAIL_AT=N         the N-th such call, from 1 on; those of standard output and error, mappings of no file, and what a runtime library
 *                         keeps in shared memory, do not count
 * MXACT_FAIL_AS=ENOSPC    how: ENOSPC, EIO, EINTR (of calls that write bytes), SHORT (half of the bytes are written) or KILL
 * MXACT_FAIL_LOG=FILE     takes the name of that call */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long calls = 0;

static void* next_of(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == NULL) abort();
  return found;
}

static void note(const char* name) {
  const char* path = getenv("MXACT_FAIL_LOG");
  if (path == NULL) return;
  const int file = (int)((int (*)(const char*, int, ...))next_of("open"))(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) abort();
  if (((ssize_t(*)(int, const void*, size_t))next_of("write"))(file, name, strlen(name)) < 0) abort();
  close(file);
}

/* A file that is none of shared memory, as LLVM's OpenMP keeps one, and ends the process where it cannot. */
static int counts_file(int file) {
  static const char kMemory[] = "/dev/shm/";
  char link[64], path[sizeof kMemory - 1];
  if (file < 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  return readlink(link, path, sizeof path) < (ssize_t)sizeof path || memcmp(path, kMemory, sizeof path) != 0;
}

enum verdict { go_on, fail, stop_short };

/* Counts a call; errno is set when it is the one that fails. */
static enum verdict judge(const char* name, int writes_bytes) {
  const char* at = getenv("MXACT_FAIL_AT");
  const char* as = getenv("MXACT_FAIL_AS");
  if (at == NULL || as == NULL) return go_on;
  pthread_mutex_lock(&lock);
  const int is_it = ++calls == atol(at);
  pthread_mutex_unlock(&lock);
  if (!is_it) return go_on;
  note(name);
  if (strcmp(as, "KILL") == 0) {
    kill(getpid(), SIGKILL);
    pause();
  }
  if (strcmp(as, "SHORT") == 0) return writes_bytes ? stop_short : go_on;
  if (strcmp(as, "EINTR") == 0) {
    errno = EINTR;
    return writes_bytes ? fail : go_on;
  }
  errno = strcmp(as, "EIO") == 0 ? EIO : ENOSPC;
  return fail;
}

#define FORWARD(result, name, parameters, arguments, writes_bytes, counts) \
  result name parameters {                                                 \
    result(*const next) parameters = (result(*) parameters)next_of(#name); \
    if (counts && judge(#name, writes_bytes) == fail) return (result)-1;   \
    return next arguments;                                                 \
  }

#define FORWARD_BYTES(name, parameters, short_arguments, arguments)                   \
  ssize_t name parameters {                                                           \
    ssize_t(*const next) parameters = (ssize_t(*) parameters)next_of(#name);          \
    const enum verdict verdict = file > STDERR_FILENO ? judge(#name, 1) : go_on;      \
    if (verdict == fail) return -1;                                                   \
    return verdict == stop_short && size > 1 ? next short_arguments : next arguments; \
  }

FORWARD_BYTES(write, (int file, const void* bytes, size_t size), (file, bytes, size / 2), (file, bytes, size))
FORWARD_BYTES(pwrite, (int file, const void* bytes, size_t size, off_t at), (file, bytes, size / 2, at), (file, bytes, size, at))
FORWARD_BYTES(pwrite64, (int file, const void* bytes, size_t size, off64_t at), (file, bytes, size / 2, at), (file, bytes, size, at))
FORWARD(int, fsync, (int file), (file), 0, 1)
FORWARD(int, fdatasync, (int file), (file), 0, 1)
FORWARD(int, ftruncate, (int file, off_t size), (file, size), 0, counts_file(file))
FORWARD(int, ftruncate64, (int file, off64_t size), (file, size), 0, counts_file(file))
FORWARD(int, rename, (const char* from, const char* to), (from, to), 0, 1)
FORWARD(int, renameat2, (int a, const char* from, int b, const char* to, unsigned flags), (a, from, b, to, flags), 0, 1)
FORWARD(int, mkdir, (const char* path, mode_t mode), (path, mode), 0, 1)
FORWARD(int, link, (const char* from, const char* to), (from, to), 0, 1)
FORWARD(ssize_t, sendfile, (int to, int from, off_t* at, size_t size), (to, from, at, size), 0, 1)
FORWARD(ssize_t, sendfile64, (int to, int from, off64_t* at, size_t size), (to, from, at, size), 0, 1)
FORWARD(void*, mmap, (void* at, size_t size, int access, int flags, int file, off_t offset), (at, size, access, flags, file, offset), 0,
        counts_file(file))
FORWARD(void*, mmap64, (void* at, size_t size, int access, int flags, int file, off64_t offset), (at, size, access, flags, file, offset), 0,
        counts_file(file))
