# SPDX-License-Identifier: Apache-2.0
#
# Shortens a script: drops comments and blanks, gives the names that it
# declares shorter ones. Knows as much of the language as our scripts use:
# no template strings, names declared by const, let, function, catch and
# as parameters of arrow functions, one meaning a name, and a name that is
# also a key or property keeps both apart by what stands before it.
# usage: awk -f embed.awk FILE.js

{ text = text $0 "\n" }

# A regular expression starts where a division cannot.
function may_divide(last) {
	return last ~ /^[A-Za-z0-9_.$)\]}]+$/ && last !~ /^(return|typeof)$/
}

# Length of the string or regular expression at the head of s.
function literal(s,    quote, i, c, set) {
	quote = substr(s, 1, 1)
	for (i = 2; i <= length(s); i++) {
		c = substr(s, i, 1)
		if (c == "\\") i++
		else if (quote == "/" && c == "[") set = 1
		else if (quote == "/" && c == "]") set = 0
		else if (c == quote && !set) break
	}
	if (quote == "/" && match(substr(s, i + 1), /^[a-z]+/)) i += RLENGTH
	return i
}

function tokenize(s,    c, n) {
	while (s != "") {
		c = substr(s, 1, 1)
		if (match(s, /^[ \t\n]+/)) n = -RLENGTH
		else if (match(s, /^\/\/[^\n]*/)) n = -RLENGTH
		else if (c == "'" || c == "\"") n = literal(s)
		else if (c == "/" && !may_divide(token[nr])) n = literal(s)
		else if (match(s, /^[A-Za-z_$][A-Za-z0-9_$]*/)) n = RLENGTH
		else if (match(s, /^[0-9]*\.?[0-9]+([eE]-?[0-9]+)?/)) n = RLENGTH
		else if (match(s, /^(=>|\.\.\.|\+\+|--|>>>|&&|\|\||[=!]==?)/))
			n = RLENGTH
		else n = 1
		if (n > 0) token[++nr] = substr(s, 1, n)
		s = substr(s, (n < 0 ? -n : n) + 1)
	}
}

function is_name(t) {
	return t ~ /^[A-Za-z_$][A-Za-z0-9_$]*$/ && !(t in word)
}

function declare(t) {
	if (is_name(t)) uses[t] += 0
}

# Names within the brackets that close at token i.
function declare_list(i,    depth) {
	for (; i; i--) {
		if (token[i] ~ /^[)\]}]$/) depth++
		else if (token[i] ~ /^[(\[{]$/) { if (!--depth) return }
		else declare(token[i])
	}
}

# const and let: names up to the end, those after "=" left out.
function declare_all(i,    depth, value) {
	for (; i <= nr; i++) {
		if (token[i] ~ /^[(\[{]$/) depth++
		else if (token[i] ~ /^[)\]}]$/) { if (--depth < 0) return }
		else if (!depth && token[i] ~ /^(;|of|in)$/) return
		else if (!depth && token[i] == "=") value = 1
		else if (!depth && token[i] == ",") value = 0
		else if (!value) declare(token[i])
	}
}

function is_property(i) {
	return token[i - 1] == "." || token[i - 1] == "?." ||
		(token[i + 1] == ":" && token[i - 1] ~ /^[{,]$/)
}

# { e } stands for { e: e }.
function is_short_key(i) {
	return token[i - 1] ~ /^[{,]$/ && token[i + 1] ~ /^[,}]$/ && in_object[i]
}

function find_objects(    i, depth, kind) {
	for (i = 1; i <= nr; i++) {
		if (token[i] ~ /^[(\[{]$/)
			kind[++depth] = token[i] == "{" &&
				token[i - 1] ~ /^([=(,:?]|return|const|let)$/
		in_object[i] = kind[depth]
		if (token[i] ~ /^[)\]}]$/) depth--
	}
}

function short_name(n,    s) {
	s = substr(letters, n % 52 + 1, 1)
	for (n = int(n / 52); n; n = int((n - 1) / 52))
		s = s substr(letters, (n - 1) % 52 + 1, 1)
	return s
}

# The most used names get the shortest ones.
function rename(    t, best, n) {
	for (;;) {
		best = ""
		for (t in uses)
			if (!(t in to) && (best == "" || uses[t] > uses[best] ||
			    (uses[t] == uses[best] && t < best)))
				best = t
		if (best == "") return
		do t = short_name(n++); while (t in taken || t in word)
		to[best] = t
	}
}

END {
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	split("const let function return if else for while do of in new try " \
	      "catch break continue typeof async await null true false this", w,
	      " ")
	for (i in w) word[w[i]]
	tokenize(text)
	find_objects()
	for (i = 1; i <= nr; i++) {
		if (token[i] ~ /^(const|let)$/) declare_all(i + 1)
		else if (token[i] == "=>" && token[i - 1] == ")") declare_list(i - 1)
		else if (token[i] == "=>") declare(token[i - 1])
		else if (token[i] == "catch") declare(token[i + 2])
	}
	for (i = 1; i <= nr; i++) {
		if (token[i] in uses && !is_property(i)) uses[token[i]]++
		else if (is_name(token[i]) && token[i - 1] != ".") taken[token[i]]
	}
	rename()
	for (i = 1; i <= nr; i++) {
		t = token[i]
		if (t ~ /^[{(\[]$/) joins[++depth] = 0
		else if (t ~ /^[})\]]$/) depth--
		else if (t == "const") joins[depth] = 1
		else if (t == ";" && token[i + 1] != "const") joins[depth] = 0
		else if (t == ";" && joins[depth]) {
			t = ","
			token[++i] = ""
		}
		if (t in uses && !is_property(i))
			t = is_short_key(i) && t != to[t] ? t ":" to[t] : to[t]
		# The last statement of a block needs no end, a lone parameter
		# no brackets, strings that are added are one.
		if (t == ";" && token[i + 1] == "}") continue
		if (t == "(" && is_name(token[i + 1]) && token[i + 2] == ")" && \
		    token[i + 3] == "=>" || t == ")" && token[i + 1] == "=>" && \
		    is_name(token[i - 1]) && token[i - 2] == "(")
			continue
		if (t ~ /^'/ && token[i + 1] == "+" && token[i + 2] ~ /^'/ && \
		    token[i + 3] !~ /^[\[.]/) {
			token[i + 2] = substr(t, 1, length(t) - 1) \
				substr(token[i + 2], 2)
			token[i + 1] = ""
			continue
		}
		out = out (last ~ /[A-Za-z0-9_$]$/ && t ~ /^[A-Za-z0-9_$]/ ? " " : \
			   "") t
		last = t
	}
	printf "%s", out
}
