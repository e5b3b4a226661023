// SPDX-License-Identifier: Apache-2.0
//
// Labels: names made shorter by their structure until they fit, as
// lib/view/shorten.c does it: parameters go first, then template arguments,
// then leading scopes; only what is left is cut.
const ELLIPSIS = '\u2026';
const FONT = 'ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",' +
	'"Liberation Mono",monospace';
const pen = document.createElement('canvas').getContext('2d');
pen.font = '12px ' + FONT;
const advances = new Map();

// One measurement a character; those of ASCII are all alike.
const textWidth = (text) => {
	let width = 0;
	for (const c of text) {
		const key = c < '\u0080' ? 'm' : c;
		if (!advances.has(key)) advances.set(key, pen.measureText(key).width);
		width += advances.get(key);
	}
	return width;
};

// Where each bracket closes: ends[i] is the place after it.
const bracketEnds = (name) => {
	const ends = [], open = [];
	for (let i = 0; i < name.length; i++) {
		const c = name[i], kind = '(<[{'.indexOf(c);
		if (kind >= 0) {
			if (!name.slice(0, i).endsWith('operator')) open.push([kind, i]);
		} else if (open.length && c == ')>]}'[open[open.length - 1][0]] &&
			name[i - 1] != '-')
			ends[open.pop()[1]] = i + 1;
	}
	return ends;
};

// Without what brackets after a word hold: parameters, or arguments as well.
const withoutBrackets = (name, kinds) => {
	const ends = bracketEnds(name);
	let kept = '';
	for (let i = 0; i < name.length;) {
		const inside = ends[i] && name.slice(i, ends[i]);
		const isList = inside && kinds.includes(name[i]) && i > 0 &&
			/[\w$\x80-\uffff>\])=+*%&|!~-]$/.test(kept) &&
			!/^\((anonymous|\*)|^<impl |^<.* as /.test(inside) &&
			name[ends[i]] != ':' + ':' && !(name[i] == '(' &&
			name[ends[i]] == '.');
		if (isList && name[i] == '(' && name[ends[i]] != ':') break;
		if (!isList) kept += inside ? inside : name[i];
		i = ends[i] || i + 1;
	}
	return kept || name;
};

// Places where the name can begin instead: after a scope.
const scopeStarts = (name) => {
	const ends = bracketEnds(name), starts = [];
	const slash = name.lastIndexOf('/');
	for (let i = 0; i < name.length; i = ends[i] || i + 1) {
		if (name.startsWith('::', i) && i) starts.push(i + 2);
		else if (name[i] == '/' && i) starts.push(i + 1);
		else if (name[i] == '.' && i > slash && /^\.[A-Za-z_$(]/.test(
			name.slice(i, i + 2)) && i) starts.push(i + 1);
	}
	return starts;
};

const shorter = (name) => {
	// What tells bare addresses apart is their end.
	const address = /^\[.*\](\+0x[0-9a-f]+)$/.exec(name);
	if (address) return [name, address[1]];
	const forms = [name, withoutBrackets(name, '(')];
	const bare = withoutBrackets(name, '(<[');
	forms.push(bare);
	for (const at of scopeStarts(bare)) forms.push(bare.slice(at));
	return forms;
};

const shortForms = new Map();

// The fullest form that takes at most `room` px; '' when nothing does.
const fit = (name, room) => {
	if (room < textWidth('mmm')) return '';
	if (textWidth(name) <= room) return name;
	if (!shortForms.has(name)) shortForms.set(name, shorter(name));
	const forms = shortForms.get(name);
	for (const form of forms) if (textWidth(form) <= room) return form;
	let text = '', width = textWidth(ELLIPSIS);
	for (const c of forms[forms.length - 1]) {
		width += textWidth(c);
		if (width > room) break;
		text += c;
	}
	return text + ELLIPSIS;
};
