// SPDX-License-Identifier: Apache-2.0
//
// Search: which frames match, and what share of what is shown they are.
let matched = null, literalSearch = false;

// What was said last, and of what: counting walks all of the tree.
const said = { of: null, zoom: null, text: '' };

const takeSearch = () => {
	matched = state.search ? matchRows(state.search, state.ignoreCase) : null;
	literalSearch = state.search && expression(state.search).literal;
};

const isMatch = (box) => matched && box.row >= 0 && matched[box.row];

// Frames under boxes that match, and the sums of the outermost of them.
const matchesInCalls = (box) => {
	const { row, end } = tree, rows = matched, { w } = sums;
	const seen = new Uint8Array(names.length);
	let functions = 0, count = 0, sum = 0, self = 0;
	for (const from of box.nodes) {
		const last = end[from];
		for (let i = from || 1, skip = 0; i < last; i++) {
			const r = row[i];
			if (!rows[r] || w[end[i]] == w[i] || isHidden(r)) continue;
			count++;
			functions += 1 - seen[r];
			seen[r] = 1;
			self += w[i + 1] - w[i];
			if (i < skip) continue;
			sum += w[end[i]] - w[i];
			skip = end[i];
		}
	}
	return { functions, count, sum, self };
};

// Stacks that go on through a match, from where the box reads them.
const matchesInCallers = (box) => {
	const under = underMatch(hidden ? matched.map((v, i) =>
		v && !hidden[i] ? 1 : 0) : matched);
	let sum = 0;
	for (let k = 0; k < box.of.length; k++)
		if (under[box.nodes[k]]) sum += stacks.w[box.of[k]];
	return { functions: matched.reduce((n, v) => n + v, 0), sum };
};

const searchWords = () => {
	const { root, zoom } = panels[panels.length - 1];
	if (!matched) return '';
	if (said.of == matched && said.zoom == zoom) return said.text;
	const of = (box) => (box.of ? matchesInCallers : matchesInCalls)(box);
	const found = of(zoom);
	said.of = matched;
	said.zoom = zoom;
	said.text = (literalSearch ? 'no regular expression, searched as text: ' : '') +
		plural(found.functions, 'function') + (found.count == null ? '' :
		', ' + plural(found.count, 'frame')) + ', ' + share(found.sum, zoom.w) +
		' of view' + (zoom != root ? ' (' + share(of(root).sum, root.w) +
		' of all)' : '') + (found.self == null ? '' : ', self ' +
		share(found.self, zoom.w));
	return said.text;
};
