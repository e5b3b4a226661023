# SPDX-License-Identifier: Apache-2.0
#
# Files, one after the other, as a string in a C header; without the blanks
# that lines begin with and lines that are comments.
# usage: awk -f bundle.awk -v name=NAME FILE... >HEADER

BEGIN { printf "static const char %s[] =\n", name }

{ sub(/^[ \t]+/, "") }

/^\/\// || /^$/ { next }
/^\/\*/ { comment = 1 }
comment { if (/\*\//) comment = 0; next }

# What would end the element that holds the text.
/<\/(script|style)|<!--|\]\]>/ {
	print FILENAME ": " FNR ": ends its element" | "cat >&2"
	failed = 1
}

{
	gsub(/\\/, "\\\\\\\\")
	gsub(/"/, "\\\"")
	print "\t\"" $0 "\\n\""
}

END {
	print "\t;"
	exit failed
}
