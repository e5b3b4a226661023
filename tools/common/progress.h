/* SPDX-License-Identifier: Apache-2.0
 *
 * One line on a terminal's standard error that says what a slow step is
 * doing and for how long. Nothing in a pipe, nothing in the first second.
 */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

/* Begin a step, ending the one before. `verb` as "reading". */
void progress_start(const char *verb, const char *what);

/* End the step and wipe its line. */
void progress_stop(void);

/*
 * Around every write to standard error: wipes the line and holds it back
 * until progress_unlock().
 */
void progress_lock(void);
void progress_unlock(void);

#endif
