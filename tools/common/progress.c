/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread that sleeps until a step has lasted a second and then redraws its
 * line. It touches only what is in this file.
 */
#include <config.h>

#include "progress.h"

#include "term.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIRST_MS 1000   /* silence before the first line */
#define REDRAW_MS 250

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed; /* on the monotonic clock */
static bool started;  /* the thread runs */
static bool active;   /* a step is on */
static bool drawn;    /* its line is on the screen */
static struct timespec step_began;
static char step[160];

static long elapsed_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (long)(now.tv_sec - step_began.tv_sec) * 1000 +
	       (now.tv_nsec - step_began.tv_nsec) / 1000000;
}

static void put(const char *text, size_t len)
{
	ssize_t nr = write(STDERR_FILENO, text, len);

	(void)nr; /* a line that does not appear costs nothing */
}

static void wipe(void)
{
	if (drawn)
		put("\r\033[K", 4);
	drawn = false;
}

static void draw(long ms)
{
	char line[256];
	unsigned width = term_width(STDERR_FILENO);
	int len = snprintf(line, sizeof(line), "\r\033[K%s, %ld s", step,
			   ms / 1000);
	size_t max = width ? width + 4u : 80; /* 4 bytes of control */

	if (len <= 0)
		return;
	put(line, (size_t)len < max ? (size_t)len : max - 1);
	drawn = true;
}

static void wait_ms(long ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += ms % 1000 * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_cond_timedwait(&changed, &lock, &until);
}

static void *redraw_forever(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	for (;;) {
		long ms = active ? elapsed_ms() : 0;

		if (!active)
			pthread_cond_wait(&changed, &lock);
		else if (ms < FIRST_MS)
			wait_ms(FIRST_MS - ms);
		else {
			draw(ms);
			wait_ms(REDRAW_MS);
		}
	}
	return NULL;
}

/* Start the thread with every signal blocked; false when there is none. */
static bool start_thread(void)
{
	pthread_condattr_t attr;
	pthread_t thread;
	sigset_t all, old;
	int failed;

	if (started)
		return true;
	if (pthread_condattr_init(&attr))
		return false;
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	failed = pthread_cond_init(&changed, &attr);
	pthread_condattr_destroy(&attr);
	if (failed)
		return false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	failed = pthread_create(&thread, NULL, redraw_forever, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (failed)
		return false;
	pthread_detach(thread);
	started = true;
	return true;
}

static bool terminal_can_redraw(void)
{
	return term_is_tty(STDERR_FILENO) && term_has_cursor();
}

void progress_start(const char *verb, const char *what)
{
	char *p;

	if (!terminal_can_redraw() || !start_thread())
		return;
	pthread_mutex_lock(&lock);
	wipe();
	snprintf(step, sizeof(step), "%s %s", verb, what);
	for (p = step; *p; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	}
	clock_gettime(CLOCK_MONOTONIC, &step_began);
	active = true;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
}

void progress_stop(void)
{
	pthread_mutex_lock(&lock);
	wipe();
	active = false;
	pthread_mutex_unlock(&lock);
}

void progress_lock(void)
{
	pthread_mutex_lock(&lock);
	wipe();
}

void progress_unlock(void)
{
	pthread_mutex_unlock(&lock);
}
