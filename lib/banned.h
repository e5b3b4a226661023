/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions that must not be used: unbounded, stateful, or dependent on the
 * locale. The build includes this file before each source of lib/ and tools/
 * (-include), so that a use is an error and not a review remark. The system
 * headers that declare or expand them come first. alloca() is left to
 * -Walloca: <libiberty.h> has it in macros.
 */
#ifndef PPROF_BANNED_H
#define PPROF_BANNED_H

#include <config.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC poison strcpy strcat sprintf vsprintf strtok gets
#pragma GCC poison atoi atol atoll atof
#pragma GCC poison gmtime localtime asctime ctime
#pragma GCC poison setlocale system

#endif
