# SPDX-License-Identifier: Apache-2.0
#
# Library checks whose failure is one line that names the Debian package.

# PPROF_NEED(PREFIX, PKG-CONFIG SPEC, DEBIAN PACKAGE)
# ---------------------------------------------------
# A library without which nothing is built: sets PREFIX_CFLAGS, PREFIX_LIBS.
AC_DEFUN([PPROF_NEED], [
  PKG_CHECK_MODULES([$1], [$2], [],
    [AC_MSG_ERROR([$2 is missing: install the package $3])])
])

# PPROF_WITH(NAME, PREFIX, PKG-CONFIG SPEC, DEBIAN PACKAGE, PURPOSE)
# ------------------------------------------------------------------
# A library that is used where it is there: --with-NAME=auto|yes|no, defines
# HAVE_PREFIX, and leaves yes or no in with_NAME.
AC_DEFUN([PPROF_WITH], [
  AC_ARG_WITH([$1],
    [AS_HELP_STRING([--with-$1], [$5 (default: where found)])],
    [], [with_$1=auto])
  AS_IF([test "$with_$1" != no], [
    PKG_CHECK_MODULES([$2], [$3],
      [AC_DEFINE([HAVE_$2], [1], [Define to 1 to $5.])
       with_$1=yes],
      [AS_IF([test "$with_$1" = yes],
        [AC_MSG_ERROR([$3 is missing: install the package $4])])
       with_$1=no])
  ])
])
