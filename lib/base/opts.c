/* SPDX-License-Identifier: Apache-2.0
 *
 * Taking options from callers built against another version; see opts.h.
 */
#include <config.h>

#include "base/opts.h"

#include <string.h>

enum pprof_status opts_take(void *dst, size_t dst_size, const void *src,
			    struct pprof_error *err)
{
	const unsigned char *bytes = src;
	size_t size, i;

	if (!src)
		return PPROF_OK;
	memcpy(&size, src, sizeof(size));
	if (size < sizeof(size))
		return error_plain(err, PPROF_USAGE, NULL,
				   "options of %zu bytes", size);
	for (i = dst_size; i < size; i++)
		if (bytes[i])
			return error_plain(err, PPROF_USAGE, NULL,
					   "option at byte %zu is not known "
					   "here", i);
	memcpy(dst, src, size < dst_size ? size : dst_size);
	return PPROF_OK;
}
