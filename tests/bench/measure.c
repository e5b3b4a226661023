/* SPDX-License-Identifier: Apache-2.0
 *
 * measure OUT COMMAND...: run the command and write one line to OUT with
 * the CPU seconds (user and system), the seconds that passed, the most
 * memory in KiB that one of its processes held, and its exit status.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds_of(const struct timeval *tv)
{
	return (double)tv->tv_sec + (double)tv->tv_usec / 1e6;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double start = now(), cpu;
	struct rusage usage;
	int status = 0;
	FILE *out;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: measure OUT COMMAND...\n");
		return 2;
	}
	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 ||
	    getrusage(RUSAGE_CHILDREN, &usage)) {
		perror("measure");
		return 2;
	}
	cpu = seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime);
	out = fopen(argv[1], "w");
	if (!out) {
		perror(argv[1]);
		return 2;
	}
	fprintf(out, "%.4f %.4f %ld %d\n", cpu, now() - start,
		usage.ru_maxrss,
		WIFEXITED(status) ? WEXITSTATUS(status) : 128);
	return fclose(out) ? 2 : 0;
}
