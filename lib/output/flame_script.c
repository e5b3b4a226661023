/* SPDX-License-Identifier: Apache-2.0
 *
 * The script of a flame graph, the same in every one, and the style of what
 * it makes: tools, marks, focus.
 */
#include <config.h>

#include "output/flame.h"
#include "output/flame_js.h"

/* Rules for what the script adds; "@." stands for "#id .". */
static const char style[] =
	"@.rows{cursor:pointer;outline:0}\n"
	"@.rows .m,@.rows .o,@.rows .f{stroke:#1a1a1a;"
	"vector-effect:non-scaling-stroke}\n"
	"@.rows .m{stroke:#93188f}\n"
	"@.rows .f{stroke:#1a1a1a;stroke-width:3;opacity:1}\n"
	"@.bt{cursor:pointer}\n"
	"@.bt rect{fill:#8883;stroke:#888}\n"
	"@.bt:focus{outline:2px solid #36c}\n"
	"@.legend{cursor:pointer}\n"
	"@media print{@.tb,@.det{display:none}}\n"
	"@media (forced-colors:active){@.rows .m{fill:Highlight}"
	"@.rows .f{stroke:Highlight}}\n";

/* Not in differential pictures. */
static const char fill_style[] =
	"@.rows .m{fill:#e06ae0}\n";

static void add_style(struct buf *out, const char *rules, const char *id)
{
	for (; *rules; rules++) {
		if (*rules != '@' || rules[1] != '.') {
			buf_byte(out, *rules);
			continue;
		}
		buf_byte(out, '#');
		buf_str(out, id);
		buf_byte(out, ' ');
	}
}

/* Where colours have a meaning an outline must do. */
static const char diff_style[] =
	"@.rows .m{stroke-width:2}\n";

void flame_script_css(struct buf *out, const char *id, bool is_diff)
{
	add_style(out, style, id);
	add_style(out, is_diff ? diff_style : fill_style, id);
}

void flame_script(struct buf *out)
{
	buf_add(out, flame_script_text, sizeof(flame_script_text) - 1);
}
