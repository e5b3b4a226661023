// SPDX-License-Identifier: Apache-2.0
//
// What is shown: the state that controls and links set, and the values that
// follow from it. B is the profile that is looked at, A what it is compared
// with, if anything.
const state = {
	type: 0, profile: 0, base: -1, widths: 'b', normalize: 'auto',
	deltaSelf: false, view: 'calls', pivot: '', icicle: true, sort: 'name',
	palette: 0, recursion: false, search: '', ignoreCase: false, theme: '',
	// In order: { how: 'focus', 'ignore' or 'hide', what: expression }.
	filters: []
};

// Sums before each node in pre-order, so that a subtree's is a difference:
// w of widths, b and a of values, bv and av of variances (null: none).
const sums = { scale: 1 };

// Of each frame by row: 1 when it is left out of stacks.
let hidden;

const typeNow = () => meta.types[state.type];
const isDiff = () => state.base >= 0 && state.base != state.profile;
const before = (s, i) => s[tree.end[i]] - s[i];

// An expression as people write it; text that is none is taken literally.
const expression = (text, ignoreCase) => {
	const flags = ignoreCase || text == text.toLowerCase() ? 'i' : '';
	try {
		return { re: RegExp(text, flags) };
	} catch (e) {
		return { re: RegExp(text.replace(/[^\w\s]/g, '\\$&'), flags),
			literal: true };
	}
};
const literally = (name) => '^' + name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&') +
	'$';

// Which frames match, by row: each name is tried once.
const matchRows = (text, ignoreCase) => {
	const { re } = expression(text, ignoreCase);
	const rows = new Uint8Array(names.length);
	for (let i = 0; i < names.length; i++) rows[i] = re.test(names[i]) ? 1 : 0;
	return rows;
};

// Nodes at or below one that matches.
const underMatch = (rows) => {
	const { n, parent, row } = tree, under = new Uint8Array(n);
	for (let i = 1; i < n; i++) under[i] = rows[row[i]] | under[parent[i]];
	return under;
};

// Which stacks are kept, by node; null: all.
const keptStacks = () => {
	let kept = null;
	for (const filter of state.filters) {
		if (filter.how == 'hide') continue;
		const under = underMatch(matchRows(filter.what));
		const want = filter.how == 'focus' ? 1 : 0;
		if (!kept) kept = new Uint8Array(tree.n).fill(1);
		for (let i = 0; i < tree.n; i++) if (under[i] != want) kept[i] = 0;
	}
	return kept;
};

const sumOf = (kept, valueAt) => {
	const { n, hasSelf } = tree, s = new Float64Array(n + 1);
	let sum = 0;
	for (let i = 0; i < n; i++) {
		s[i] = sum;
		if (hasSelf[i] && (!kept || kept[i])) sum += valueAt(i);
	}
	s[n] = sum;
	return s;
};

const varianceOf = (kept, { self, variance }) => typeof variance != 'number' ?
	sumOf(kept, (i) => variance[i]) : variance ?
	sumOf(kept, (i) => variance * Math.abs(self[i])) : null;

// What A is multiplied by, as flame_diff.c picks it.
const pickScale = (a, b) => {
	const size = (values) => values.reduce((sum, v) => sum + Math.abs(v), 0);
	const sumA = size(a), sumB = size(b);
	const ratio = sumA && sumB ? sumB / sumA : 1;
	const ns = (i) => +meta.profiles[i].duration_ns.replace(/,/g, '');
	const type = typeNow();
	if (state.normalize == 'factor') return meta.factor;
	if (state.normalize == 'total') return ratio;
	if (state.normalize == 'rate')
		return ns(state.base) > 0 && ns(state.profile) > 0 ?
			ns(state.profile) / ns(state.base) : 1;
	return state.normalize == 'none' || type.unit == 'bytes' ||
		/objects/.test(type.name) || Math.abs(ratio - 1) <= .02 ? 1 : ratio;
};

const widthOf = {
	b: (b) => Math.abs(b), a: (b, a) => Math.abs(a),
	union: (b, a) => Math.max(Math.abs(a), Math.abs(b)),
	delta: (b, a) => Math.abs(b - a)
};

// Follow the state: values, and what is filtered; false: as they were.
let takenFor = '';
const takeValues = () => {
	const of = JSON.stringify([state.type, state.profile, state.base,
		state.widths, state.normalize, state.filters]);
	if (of == takenFor) return false;
	takenFor = of;
	const b = column(state.profile, state.type);
	const a = isDiff() ? column(state.base, state.type) : null;
	const kept = keptStacks();
	hidden = null;
	for (const filter of state.filters) {
		if (filter.how != 'hide') continue;
		const rows = matchRows(filter.what);
		hidden = hidden ? hidden.map((v, i) => v | rows[i]) : rows;
	}
	sums.kept = kept;
	sums.scale = a ? pickScale(a.self, b.self) : 1;
	sums.b = sumOf(kept, (i) => b.self[i]);
	sums.bv = varianceOf(kept, b);
	sums.a = sums.av = null;
	sums.w = sums.b;
	if (a) {
		const k = sums.scale, width = widthOf[state.widths];
		sums.a = sumOf(kept, (i) => a.self[i] * k);
		const av = varianceOf(kept, a);
		sums.av = av && av.map((v) => v * k * k);
		sums.w = sumOf(kept, (i) => width(b.self[i], a.self[i] * k));
	} else if (b.about.signed) {
		sums.w = sumOf(kept, (i) => Math.abs(b.self[i]));
	}
	// What 100 % is: of all, also when stacks were filtered.
	const all = (c) => c ? c.self.reduce((s, v) => s + Math.abs(v), 0) : 0;
	sums.allB = all(b);
	sums.allA = all(a) * sums.scale;
	sums.most = a ? largestChange() : 0;
	return true;
};

// Change of { t, a, tv, av }: totals and variances of a box or a row.
const noiseOf = (tv, av) => Math.max(
	meta.min_delta * Math.max(sums.allB, sums.allA),
	2 * Math.sqrt((tv || 0) + (av || 0)));
const isNoise = (t, a, noise) => {
	const delta = Math.abs(t - a);
	return !delta || (sums.allA > 0 && delta < noise);
};
const largestChange = () => {
	let most = 0;
	for (let i = 1; i < tree.n; i++) {
		const t = before(sums.b, i), a = before(sums.a, i);
		const delta = Math.abs(t - a);
		if (delta > most && !isNoise(t, a, noiseOf(
			sums.bv && before(sums.bv, i), sums.av && before(sums.av, i))))
			most = delta;
	}
	return most;
};

const relative = (t, a) => !a ? 'new' : !t ? 'gone' :
	signed(String(Math.round((t - a) / Math.abs(a) * 1000) / 10), t - a) + '%';

// "+1 MiB (1,048,576 bytes) (+50% of A; +4 points)".
const changeWords = (t, a, noise) => {
	const delta = t - a, ratio = relative(t, a);
	if (!delta) return 'no change';
	const points = (sums.allB ? t / sums.allB : 0) -
		(sums.allA ? a / sums.allA : 0);
	return (isNoise(t, a, noise) ? 'within noise: ' : '') +
		signed(words(delta, typeNow()), delta) + ' (' + ratio +
		(/%/.test(ratio) ? ' of A; ' : '; ') +
		signed(share(points, 1).slice(0, -1), points) + ' points)';
};

// One row a function: self, total (each stack once), their variances.
const tableRows = () => {
	const { n, row, end } = tree, nr = names.length;
	const zero = () => new Float64Array(nr);
	const t = zero(), s = zero(), tv = zero(), a = zero(), as = zero();
	const av = zero(), sv = zero();
	const until = new Uint32Array(nr), met = new Uint8Array(nr);
	for (let i = 1; i < n; i++) {
		const r = row[i];
		s[r] += sums.b[i + 1] - sums.b[i];
		if (sums.bv) sv[r] += sums.bv[i + 1] - sums.bv[i];
		if (sums.a) as[r] += sums.a[i + 1] - sums.a[i];
		if (i < until[r]) continue;
		until[r] = end[i];
		t[r] += before(sums.b, i);
		if (sums.bv) tv[r] += before(sums.bv, i);
		if (sums.a) a[r] += before(sums.a, i);
		if (sums.av) av[r] += before(sums.av, i);
		if (before(sums.b, i) || (sums.a && before(sums.a, i))) met[r] = 1;
	}
	const rows = [];
	for (let r = 0; r < nr; r++) if (met[r] && !(hidden && hidden[r]))
		rows.push({ row: r, t: t[r], s: s[r], tv: tv[r], sv: sv[r], a: a[r],
			as: as[r], av: av[r] });
	return rows;
};
