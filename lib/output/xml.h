/* SPDX-License-Identifier: Apache-2.0
 *
 * The one way of foreign text into XML, and into JSON inside XML.
 */
#ifndef OUTPUT_XML_H
#define OUTPUT_XML_H

#include "base/buf.h"

/*
 * Append text as character data or attribute value: markup escaped, what is
 * no XML 1.0 character or must not be shown raw (see text_is_hidden()) as
 * \xNN or \uNNNN in plain sight.
 */
void xml_text(struct buf *out, const char *text, size_t len);

/* The same for a string. */
void xml_str(struct buf *out, const char *text);

/*
 * Append a JSON string with its quotes, itself escaped for XML character
 * data.
 */
void xml_json(struct buf *out, const char *text);

#endif
