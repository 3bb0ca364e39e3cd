/*
 * Preloaded into a test process: makes calls on session files fail as a control file says.
 *
 * FAULTS names the control file. Each of its lines is "<call> <errno> <skip> <count>": the call fails
 * with that errno after `skip` matching calls, `count` times (-1: for ever). The file is read again
 * when it changes, so a test can switch faults on and off while the process runs. Only files whose
 * names end in .jsonl, .tmp or a blob's hash are touched: the runtime's own calls go through.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct fault { char call[24]; int error; long skip; long count; };
static struct fault faults[16];
static int fault_count;
static struct timespec seen;

static void reload(void) {
	const char *name = getenv("FAULTS");
	struct stat state;
	if (!name || stat(name, &state) != 0) { fault_count = 0; return; }
	if (state.st_mtim.tv_sec == seen.tv_sec && state.st_mtim.tv_nsec == seen.tv_nsec) return;
	seen = state.st_mtim;
	FILE *file = fopen(name, "r");
	fault_count = 0;
	while (file && fault_count < 16) {
		struct fault *next = &faults[fault_count];
		if (fscanf(file, "%23s %d %ld %ld", next->call, &next->error, &next->skip, &next->count) != 4) break;
		fault_count++;
	}
	if (file) fclose(file);
}

static int ours(const char *path) {
	size_t length = path ? strlen(path) : 0;
	if (length > 6 && strcmp(path + length - 6, ".jsonl") == 0) return 1;
	if (length > 4 && strcmp(path + length - 4, ".tmp") == 0) return 1;
	const char *name = path ? strrchr(path, '/') : 0;
	return name && strlen(name + 1) == 64;
}

static int ours_fd(int fd) {
	char link[64], path[4096];
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t length = readlink(link, path, sizeof path - 1);
	if (length <= 0) return 0;
	path[length] = 0;
	return ours(path);
}

/* The errno to fail with, or 0. */
static int fails(const char *call) {
	reload();
	for (int at = 0; at < fault_count; at++) {
		struct fault *fault = &faults[at];
		if (strcmp(fault->call, call) != 0 || fault->count == 0) continue;
		if (fault->skip > 0) { fault->skip--; continue; }
		if (fault->count > 0) fault->count--;
		return fault->error;
	}
	return 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int rename(const char *from, const char *to) {
	int error = ours(to) ? fails("rename") : 0;
	if (error) { errno = error; return -1; }
	return REAL(rename)(from, to);
}

int link(const char *from, const char *to) {
	int error = ours(to) ? fails("link") : 0;
	if (error) { errno = error; return -1; }
	return REAL(link)(from, to);
}

ssize_t write(int fd, const void *bytes, size_t count) {
	int error = ours_fd(fd) ? fails("write") : 0;
	if (error) { errno = error; return -1; }
	/* "short": half of it gets through. */
	if (count > 1 && ours_fd(fd) && fails("short")) count /= 2;
	return syscall(SYS_write, fd, bytes, count);
}

int fdatasync(int fd) {
	int error = ours_fd(fd) ? fails("fdatasync") : 0;
	if (error) { errno = error; return -1; }
	return REAL(fdatasync)(fd);
}

int flock(int fd, int operation) {
	int error = ours_fd(fd) ? fails("flock") : 0;
	if (error) { errno = error; return -1; }
	return syscall(SYS_flock, fd, operation);
}

int open64(const char *path, int flags, ...) {
	va_list list;
	va_start(list, flags);
	mode_t mode = va_arg(list, mode_t);
	va_end(list);
	int error = ours(path) ? fails("open") : 0;
	if (error) { errno = error; return -1; }
	return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
