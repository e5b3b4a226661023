// SPDX-License-Identifier: Apache-2.0
//
// Boxes: what the graph shows, made when they come into view. A box stands
// for the nodes of the tree that are one in the present view: several when
// frames are hidden, recursion is joined or stacks are read from the leaf.
//
//   row, depth, up    frame, place, the box it is under (null: a root)
//   x, w              place and width, in values
//   t, a, s, as       B and A: total and self;  tv, av variances of totals
//   nodes             where it is in the tree
//   of                callers: which stacks; `nodes` are where each is read
//   levels            recursive calls that were joined in it
//   kids              boxes under it, or null: not yet made
const newBox = (row, up) => ({ row, depth: up ? up.depth + 1 : 0, up, x: 0,
	w: 0, t: 0, a: 0, s: 0, as: 0, tv: 0, av: 0, nodes: null, of: null,
	levels: 1, inlined: 0, kids: null });

const ROOT = -1, PIVOT = -2;
let pivotName = '';
const nameOf = (box) => box.row == ROOT ? 'all' :
	box.row == PIVOT ? pivotName : names[box.row];

const addNode = (box, i) => {
	box.w += before(sums.w, i);
	box.t += before(sums.b, i);
	box.s += sums.b[i + 1] - sums.b[i];
	if (sums.bv) box.tv += before(sums.bv, i);
	if (sums.a) {
		box.a += before(sums.a, i);
		box.as += sums.a[i + 1] - sums.a[i];
	}
	if (sums.av) box.av += before(sums.av, i);
	box.inlined |= tree.inlined[i] ? tree.inlined[i] : 4;
	box.nodes.push(i);
};

const isHidden = (row) => hidden && hidden[row];

// Children of nodes; what is hidden or repeats the box itself is passed
// through, and its own values are the box's.
const callsBelow = (box) => {
	const found = new Map(), open = [...box.nodes], level = open.map(() => 1);
	const { row, end } = tree;
	for (let i = 0; i < open.length; i++) {
		for (let c = open[i] + 1; c < end[open[i]]; c = end[c]) {
			const r = row[c], repeats = state.recursion && r == box.row;
			if (isHidden(r) || repeats) {
				box.s += sums.b[c + 1] - sums.b[c];
				if (sums.a) box.as += sums.a[c + 1] - sums.a[c];
				open.push(c);
				level.push(level[i] + (repeats ? 1 : 0));
				box.levels = Math.max(box.levels, level[level.length - 1]);
				continue;
			}
			if (!before(sums.w, c)) continue;
			let kid = found.get(r);
			if (!kid) {
				found.set(r, kid = newBox(r, box));
				kid.nodes = [];
			}
			addNode(kid, c);
		}
	}
	return [...found.values()];
};

// Weights of the stacks that a callers view is made of.
let stacks;

// The frame of a stack at node i or above it that is shown.
const shownAt = (i, repeats) => {
	while (i && (isHidden(tree.row[i]) ||
		(state.recursion && tree.row[i] == repeats))) i = tree.parent[i];
	return i;
};

const addStack = (box, k) => {
	box.w += stacks.w[k];
	box.t += stacks.b[k];
	if (stacks.a) box.a += stacks.a[k];
	if (stacks.bv) box.tv += stacks.bv[k];
	if (stacks.av) box.av += stacks.av[k];
};

// Places of each frame, kept at 0 between calls: grouping takes two passes.
let places;
const callersAbove = (box) => {
	const { row, parent } = tree, n = box.of.length;
	const next = new Uint32Array(n), kids = [], at = new Map();
	const count = places = places || new Uint32Array(names.length);
	for (let k = 0; k < n; k++) {
		const i = next[k] = box.row == ROOT ? shownAt(box.nodes[k], ROOT) :
			shownAt(parent[box.nodes[k]], box.row);
		if (!i) {
			box.s += stacks.b[box.of[k]];
			if (stacks.a) box.as += stacks.a[box.of[k]];
		} else if (!count[row[i]]++) {
			kids.push(newBox(row[i], box));
		}
	}
	for (const kid of kids) {
		kid.nodes = new Uint32Array(count[kid.row]);
		kid.of = new Uint32Array(count[kid.row]);
		count[kid.row] = 0;
		at.set(kid.row, kid);
	}
	for (let k = 0; k < n; k++) {
		if (!next[k]) continue;
		const kid = at.get(row[next[k]]), place = count[kid.row]++;
		kid.nodes[place] = next[k];
		kid.of[place] = box.of[k];
		kid.inlined |= tree.inlined[next[k]] ? tree.inlined[next[k]] : 4;
		addStack(kid, box.of[k]);
	}
	for (const kid of kids) count[kid.row] = 0;
	return kids.filter((kid) => kid.w);
};

const byRow = (p, q) => p.row - q.row;
const byWidth = (p, q) => q.w - p.w || p.row - q.row;

const kidsOf = (box) => {
	if (box.kids) return box.kids;
	box.kids = (box.of ? callersAbove : callsBelow)(box).sort(
		state.sort == 'value' ? byWidth : byRow);
	let x = box.x;
	for (const kid of box.kids) {
		kid.x = x;
		x += kid.w;
	}
	return box.kids;
};

// All stacks, read from the root.
const callsRoot = () => {
	const root = newBox(ROOT, null);
	root.nodes = [];
	addNode(root, 0);
	return root;
};

const stacksFrom = (row, list, valueOf) => {
	const pick = (s) => {
		const values = s && new Float64Array(list.length);
		for (let k = 0; s && k < list.length; k++)
			values[k] = valueOf(s, list[k]);
		return values;
	};
	stacks = { w: pick(sums.w), b: pick(sums.b), a: pick(sums.a),
		bv: pick(sums.bv), av: pick(sums.av) };
	const root = newBox(row, null);
	root.nodes = list;
	root.of = new Uint32Array(list.length);
	for (let k = 0; k < list.length; k++) {
		root.of[k] = k;
		addStack(root, k);
	}
	return root;
};

const callersRoot = () => {
	const list = [];
	for (let i = 0; i < tree.n; i++)
		if (sums.w[i + 1] != sums.w[i]) list.push(i);
	return stacksFrom(ROOT, Uint32Array.from(list), (s, i) =>
		s[i + 1] - s[i]);
};

// The pivot's frames: calls from the outermost of each stack, callers from
// the innermost, so that recursion counts once.
const sandwichRoots = () => {
	const rows = state.pivot ? matchRows(state.pivot) :
		new Uint8Array(names.length);
	const { n, row, parent } = tree, only = new Set(), inner = [];
	const under = underMatch(rows), below = newBox(PIVOT, null);
	const nearest = new Uint32Array(n), place = new Uint32Array(n);
	below.nodes = [];
	for (let i = 1; i < n; i++) {
		nearest[i] = rows[row[i]] ? i : nearest[parent[i]];
		if (!rows[row[i]]) continue;
		only.add(row[i]);
		if (!under[parent[i]]) addNode(below, i);
		place[i] = inner.length;
		inner.push(i);
	}
	pivotName = only.size == 1 ? names[[...only][0]] :
		plural(only.size, 'function');
	// What is below another frame of the pivot is that one's.
	const valuesOf = (s) => {
		const values = inner.map((i) => before(s, i));
		for (const i of inner) if (nearest[parent[i]])
			values[place[nearest[parent[i]]]] -= before(s, i);
		return values;
	};
	const cache = new Map();
	const above = stacksFrom(PIVOT, Uint32Array.from(inner), (s, i) => {
		if (!cache.has(s)) cache.set(s, valuesOf(s));
		return cache.get(s)[place[i]];
	});
	return [above, below];
};
