// SPDX-License-Identifier: Apache-2.0
//
// What a flame graph does in a browser: zoom, search, keyboard, links. Runs
// inside the picture that holds it and touches nothing else of the page, so
// that one page can hold several. No data in here: it is the same text in
// every picture, and a policy can allow it by its hash.
//
// Embedded by build-aux/embed.sh, which shortens it: local names are one or
// two letters there, so properties are short here already. A box has
//   e rect  d depth  x, w place and width in units  c classes of its own
//   s width as drawn now  m matches  l lit  k lies above a match
// and once its tooltip was read: n name  t the rest  v value  o self.
(() => {
const doc = document;
const svg = doc.currentScript.closest('svg');
const query = (s) => svg.querySelector(s);
const get = (e, k) => e.getAttribute(k);
const num = (e, k) => +get(e, k);
const set = (e, o) => {
	for (const k in o) e.setAttribute(k, o[k]);
	return e;
};
const on = (e, types, f) =>
	types.split(' ').forEach((t) => e.addEventListener(t, f));
const list = (a, f) => [].map.call(a, f);
const { max, min, round } = Math;

const vp = query('.vp');
if (!vp) return;
set(svg, { role: 'group' });

const alone = svg == doc.documentElement;
const prefix = alone ? '' : svg.id + '-';
const F = num(svg, 'data-f'), EM = .602 * F, GAP = num(svg, 'data-g');
const byWidth = get(svg, 'data-widths'), isDiff = get(svg, 'data-diff');
const rg = query('.rows'), labels0 = query('.labels');
const flip0 = get(svg, 'data-layout') == 'icicle';
const groups = list(rg.children, (g) => g);

let pen, G = num(vp, 'width'), G0 = G, labels = labels0, flip = flip0;
let text = '', loose = 0, hue, theme = '', current, note = '', bad;
let typing, timer, lit = [], down;

const add = (tag, o, to, s) => {
	const e = set(doc.createElementNS(svg.namespaceURI, tag), o);
	if (s) e.textContent = s;
	if (to) to.appendChild(e);
	return e;
};

// The writer takes half a px off wide boxes, less off those of 2.5 to 3.5 px.
const whole = (w) => max(w, min(2 * w - 5 * GAP, w + GAP));
const all = [];
const rows = groups.map((g, d) => list(g.querySelectorAll('rect'), (e) => {
	const s = num(e, 'width');
	const b = { e, d, x: num(e, 'x'), w: whole(s), s, c: get(e, 'class') };
	all.push(b);
	return e.box = b;
}));
const root = rows[0][0], D = rows.length, RH = num(vp, 'height') / D;
let zoom = root, view = root;

// Index of the last box of a row that starts at or before x.
const place = (row, x) => {
	let a = 0, b = row.length;
	while (a < b) {
		const m = a + b >> 1;
		if (row[m].x <= x) a = m + 1; else b = m;
	}
	return a - 1;
};
const parent = (b) => b.d ? rows[b.d - 1][place(rows[b.d - 1], b.x)] : root;
const below = (b) => {
	const row = rows[b.d + 1] || [];
	return row.slice(place(row, b.x - .5) + 1, place(row, b.x + b.w - .5) + 1);
};
const path = (b) => b.d ? path(parent(b)).concat(b) : [];
const first = (s) =>
	+(/\(([\d,.]+) [^%]/.exec(s) || /([\d,.]+)/.exec(s))[1].replace(/,/g, '');
// Name, value and self, from the tooltip.
const read = (b) => {
	if (!b.t) {
		[, b.n, b.t] = /(.*)\n([^]*)/.exec(b.e.textContent);
		const [v, o] = b.t.split('\n')[0].split(/, self |, all self/);
		b.v = byWidth ? b.w : first(v);
		b.o = o ? first(o) : o == '' ? b.v : 0;
	}
	return b;
};
const share = (v, of) => (of ? round(v / of * 1e4) / 100 : 0) + '%';

// Labels, fitted as the writer does it (view/shorten.c).
const font = get(svg, 'data-font');
const cells = (s) => {
	if (!font && /^[ -~]*$/.test(s)) return s.length;
	if (!pen) {
		pen = new OffscreenCanvas(1, 1).getContext('2d');
		pen.font = F + 'px ' + getComputedStyle(svg).fontFamily;
	}
	return pen.measureText(s).width / EM;
};
// Where the brackets close, by where they open.
const pairs = (s) => {
	const ends = [], open = [];
	for (let i = 0; i < s.length; i++) {
		const k = '(<[{'.indexOf(s[i]), [last] = open;
		if (k >= 0 && !/operator$/.test(s.slice(0, i))) open.unshift(i);
		else if (open.length && s[i] == ')>]}'['(<[{'.indexOf(s[last])] &&
			s[i - 1] != '-') ends[open.shift()] = i + 1;
	}
	return ends;
};
const strip = (s, deep) => {
	const ends = pairs(s);
	let out = '', end;
	for (let i = 0; i < s.length; i = end) {
		const before = s.slice(0, i), part = s.slice(i, end = ends[i] || i + 1);
		if (ends[i] && s[i] == '(' &&
			/[\w$\x80-\uffff>\])}=+*/%^&|~!<,-]$/.test(before) &&
			(part[2] || !/operator$/.test(before))) {
			if (s[end] != ':') return out;
		} else if (deep && ends[i] && /[<[]/.test(s[i]) &&
			(/([\w$\x80-\uffff]|operator\(\))$/.test(before) ||
			/[\w$\x80-\uffff]::$/.test(before) && !/^<impl | as /.test(part)))
			out = out.replace(/::$/, '');
		else out += part;
	}
	return out;
};
const cut = (s, room) => {
	while (s && cells(s) > room - 1) s = s.replace(/.\p{M}*$/u, '');
	return s + '\u2026';
};
const fit = (name, room, plain) => {
	let s = name, from = 0;
	if (cells(s) > room && !plain) {
		s = strip(name);
		if (cells(s) > room) s = strip(name, 1);
		const ends = pairs(s), slash = s.lastIndexOf('/');
		for (let i = 0; i < s.length && cells(s.slice(from)) > room;
			i = ends[i] || i + 1) {
			const rest = s.slice(i), before = s.slice(0, i);
			if (/^::./.test(rest)) from = i + 2;
			else if (i && (/^\/[^ ]/.test(rest) || i > slash &&
				/[^ ]$/.test(before) && /^\.(?!(cold|constprop|isra|part|llvm|lto_priv|clone)\b|func\d|\d)[\w$\x80-\uffff(]/.test(rest) ||
				s.length < name.length && /^ [\w$\x80-\uffff]/.test(rest) &&
				!/operator$/.test(before))) from = i + 1;
		}
		s = s.slice(from);
	}
	return cells(s) > room ? cut(s, room) : s;
};
const suffix = (b) => {
	const m = /\n([+-]).*?\((?:([+-][\d,.]+%) of A|(new|gone))/.exec(b.t);
	if (isDiff) return m ? '  ' + '\u25b2\u25bc'[+(m[1] == '-')] + ' ' +
		(m[2] || m[3]) : '';
	return '  ' + (b == root ? b.t.replace(/ \([^]*/, '') :
		(b.v * 1000 / root.v + .5 | 0) / 10 + '%');
};
const rowY = (d) => (flip ? d : D - 1 - d) * RH;
const label = (b, to, k) => {
	const left = round(max(0, b.x - view.x) * k * 10);
	const right = round(min(G / k, b.x + b.w - view.x) * k * 10);
	const px = (right - left) / 10 - 6, room = px / EM + 1e-9 | 0;
	if (px < 3 * EM) return;
	const n = cells(read(b).n), s = suffix(b);
	set(add('text', { x: left / 10 + 3,
		y: rowY(b.d) + ((10 * RH + 7 * F) / 10 | 0) / 2 }, to,
		n + 2 < room ? b.n + (n + cells(s) > room ? '' : s) :
		fit(b.n, room, /[ruz]/.test(b.c[0]))),
		b.c[0] == 'u' ? { class: 'u' } : {});
};

// The view: one transform, and then what is wide enough to be seen.
const scroll = () => set(rg, { transform:
	'scale(' + G / view.w + ' 1) translate(' + -view.x + ' 0)' });
const relabel = () => {
	const to = add('g', { class: 'labels', 'xml:space': 'preserve' });
	const k = G / view.w, same = view == root && G == G0;
	rows.forEach((row, d) => {
		set(groups[d], { class: d < zoom.d ? 'd' : '' });
		for (let i = max(0, place(row, view.x)); i < row.length; i++) {
			const b = row[i], px = b.w * k;
			if (b.x >= view.x + view.w) break;
			if (b.x + b.w <= view.x) continue;
			const s = min(b.w, max(b.w / 2 + 1.25 / k, b.w - .5 / k));
			if (Math.abs(s - b.s) * k > .05)
				set(b.e, { width: b.s = s });
			if (px >= 24) label(b, to, k);
		}
	});
	vp.replaceChild(same && flip == flip0 ? labels0 : to, labels);
	labels = vp.lastElementChild;
};
const go = (b, push) => {
	view = zoom = b;
	scroll();
	relabel();
	set(reset, { visibility: b.d ? '' : 'hidden' });
	count();
	tell();
	if (push) save(1);
};

// Tools: made here, as they do nothing without a script.
const bar = add('g', { class: 'tb' }, svg);
const top = num(query('.ps'), 'y') + 6;
let left = num(vp, 'x');
const PAD = left;
const tool = (name, act, wide) => {
	const w = round(EM * (wide || cells(name))) + 12;
	const g = add('g', { role: 'button', tabindex: 0, class: 'bt',
		'aria-label': name }, bar);
	add('rect', { x: left, y: top, width: w, height: 2 * F - 1, rx: 3 }, g);
	add('text', { x: left + 6, y: top + 1.3 * F }, g, name);
	g.onclick = act;
	left += w + 6;
	return g;
};
const dark = list(query('style').sheet.cssRules, (r) => r.media).find(
	(m) => m && /dark/.test(m.mediaText));
const darkText = dark && dark.mediaText;
const field = set(tool('Search', () => field.focus(), 34),
	{ role: 'searchbox' });
const ignore = tool('Ignore case', () => {
	loose = !loose;
	search();
	save();
});
const help = () => say('arrows, Enter: zoom, u: up, 0: all, /: search, ' +
	'n: next, c C: copy name or stack, i: flip, d: theme');
tool('Flip', () => turn());
if (dark) tool('Theme', () => shade());
tool('?', help);
const reset = tool('Reset zoom', () => go(root, 1));
const draw = () => {
	let s = text;
	while (cells(s) > 33) s = s.slice(1);
	field.querySelector('text').textContent =
		typing ? s + '\u258f' : s || 'Search  /';
	set(ignore, { 'aria-pressed': !!loose });
};
on(field, 'focus blur', (e) => {
	typing = e.type == 'focus';
	draw();
});
const details = add('text', { class: 'det', x: PAD, y: num(svg, 'data-det'),
	'aria-live': 'polite' }, svg);
const say = (s) => details.textContent = fit(s, G / EM, 1);
const tell = (b) => {
	if (!b) return say(note);
	const p = parent(b);
	say((get(svg, 'data-name') || '') + read(b).n + ' \u2014 ' + b.t.replace(/\n/g, '; ') + (b.d > 1 ? '; ' +
		share(b.v, read(p).v) + ' of parent' : '') +
		(b.d > zoom.d && zoom.d ? '; ' + share(b.v, read(zoom).v) +
		' of view' : ''));
};

// Search: each name is tried once, then frames are counted under the zoom.
const isFolded = (b) => b.c[0] == 'z';
const mark = (b) => set(b.e, { class: b.c + (b.m ? ' m' : '') +
	(b.l ? ' o' : '') + (b == current ? ' f' : '') });
const search = () => {
	const memo = new Map(), flags = loose || text == text.toLowerCase() ?
		'i' : '', any = text || hue;
	let re;
	bad = '';
	try {
		re = RegExp(text, flags);
	} catch (e) {
		bad = 'no regular expression, searched as text: ';
		re = RegExp(text.replace(/[^\w\s]/g, '\\$&'), flags);
	}
	for (const b of all) {
		let hit = false;
		if (any && b.d && !isFolded(b)) {
			hit = hue ? b.c.replace(/^([pn])\d/, '$1') == hue : memo.get(read(b).n);
			if (hit == null) memo.set(b.n, hit = re.test(b.n));
		}
		if (hit != !!b.m) {
			b.m = hit;
			mark(b);
		}
	}
	set(rg, { class: any ? 'rows s' : 'rows' });
	draw();
	count();
	tell();
};
// What matches at and under a box, outermost matches once.
const sums = (of) => {
	const seen = new Set();
	let frames = 0, sum = 0, self = 0, lost = 0, row = [of];
	for (of.k = 0; row.length;) {
		const next = [];
		for (const b of row) {
			let rest = read(b).v - b.o;
			if (b.m) {
				frames++;
				self += b.o;
				seen.add(b.n);
				if (!b.k) sum += b.v;
			}
			for (const c of below(b)) {
				c.k = b.k || b.m;
				rest -= read(c).v;
				next.push(c);
			}
			if (!b.m && !b.k) lost += isFolded(b) ? b.v :
				byWidth ? 0 : max(0, rest);
		}
		row = next;
	}
	return [seen.size, frames, sum, self, lost];
};
const plural = (n, s) => n + s + (n == 1 ? '' : 's');
const count = () => {
	note = '';
	if (!text && !hue) return;
	const [functions, frames, sum, self, lost] = sums(zoom);
	note = bad + plural(functions, ' function') + ', ' +
		plural(frames, ' frame') + ', ' + share(sum, zoom.v) + ' of view' +
		(zoom.d ? ' (' + share(sums(root)[2], root.v) + ' of all)' : '') +
		(byWidth ? '' : ', self ' + share(self, zoom.v)) + (lost ?
		'; undrawn frames may add up to ' + share(lost, zoom.v) : '');
};
const isSeen = (b) => b && b.d >= zoom.d && b.x < view.x + view.w &&
	b.x + b.w > view.x && b.w * G / view.w >= 1;
const next = (back) => {
	const hits = all.filter((b) => b.m && isSeen(b)), n = hits.length;
	const i = hits.indexOf(current);
	if (n) pick(hits[(i + (back ? n - (i >= 0) : 1)) % n], 1);
};

// The one box that the keyboard is on; 1 leaves the focus, 2 the scroll, too.
const pick = (b, stay) => {
	const old = current || b;
	current = b;
	old.e.removeAttribute('id');
	mark(old);
	mark(b);
	set(b.e, { id: svg.id + '-c', role: 'treeitem', 'aria-level': b.d + 1,
		'aria-label': b.e.textContent });
	set(rg, { 'aria-activedescendant': svg.id + '-c' });
	tell(b);
	if (alone && stay != 2) b.e.scrollIntoView({ block: 'nearest' });
	if (!stay) focusRows();
};
const focusRows = () => rg.focus({ preventScroll: true });
const move = (k) => {
	let b = current || zoom, row = rows[b.d], i = row.indexOf(b);
	const step = /Left|End/.test(k) ? -1 : 1;
	if (/Up|Down/.test(k)) b = (k == 'ArrowUp') == flip ? parent(b) :
		below(b).sort((a, c) => c.w - a.w)[0];
	else {
		if (/Home|End/.test(k)) i = step > 0 ? -1 : row.length;
		do b = row[i += step]; while (b && !isSeen(b));
	}
	if (b) pick(b);
};
const copy = async (s) => {
	try {
		await navigator.clipboard.writeText(s);
		say('copied: ' + s);
	} catch (e) {
		say(s);
		getSelection().selectAllChildren(details);
	}
};
const open = (b) => {
	if (isFolded(b)) return say('not in this picture; draw it with a smaller' +
		' --min-width');
	pick(b, 2);
	go(b, 1);
};
const turn = (quiet) => {
	flip = !flip;
	groups.forEach((g, d) => set(g, { transform: flip == flip0 ?
		'translate(0 ' + rowY(d) + ')' :
		'matrix(1 0 0 -1 0 ' + (rowY(d) + RH - 1) + ')' }));
	relabel();
	if (!quiet) save();
};
const shade = (to) => {
	const isDark = theme ? theme == 'dark' : matchMedia(darkText).matches;
	theme = to == null ? isDark ? 'light' : 'dark' : to;
	if (dark) dark.mediaText =
		{ dark: 'screen', light: 'not all' }[theme] || darkText;
	if (to == null) save();
};
const find = () => {
	clearTimeout(timer);
	search();
	save();
};
// Waits for more only while there is something to find.
const enter = (s) => {
	text = s;
	hue = '';
	draw();
	clearTimeout(timer);
	if (s) timer = setTimeout(find, 80);
	else find();
};
const up = () => go(parent(zoom), 1);
const keys = {
	Enter: () => open(current || zoom), Backspace: up, u: up,
	0: () => go(root, 1),
	Escape: () => text || hue ? enter('') : go(root, 1),
	'/': () => field.focus(), n: () => next(), N: () => next(1),
	c: () => copy(read(current || zoom).n), i: () => turn(),
	C: () => copy(path(current || zoom).map((b) =>
		read(b).n.replace(/;/g, ':')).join(';') + ' ' + read(current || zoom).v),
	d: () => dark && shade(), '?': help
};
on(svg, 'keydown', (e) => {
	const k = e.key, ctrl = e.ctrlKey || e.metaKey, at = doc.activeElement;
	if (ctrl && /^f$/i.test(k) && !typing) field.focus();
	else if (k == 'F3') next(e.shiftKey);
	else if (typing) {
		if (k == 'Enter') {
			find();
			next(e.shiftKey);
		} else if (k == 'Escape') {
			enter('');
			focusRows();
		} else if (k == 'Backspace') enter(text.replace(/.$/u, ''));
		else if (/^.$/u.test(k) && (!ctrl && !e.altKey ||
			e.getModifierState('AltGraph'))) enter(text + k);
		else return;
	} else if (ctrl || e.altKey) return;
	else if (/^(Enter| )$/.test(k) && bar.contains(at)) at.onclick();
	else if (/^(Arrow|Home|End)/.test(k)) move(k);
	else if (keys[k]) keys[k]();
	else return;
	e.preventDefault();
});
on(svg, 'paste', (e) => {
	if (typing) enter(text + e.clipboardData.getData('text').trim());
});

// Pointer.
on(svg, 'mousedown', (e) => down = e);
on(rg, 'click', (e) => {
	const b = e.target.box;
	if (!b || down && Math.hypot(e.clientX - down.clientX,
		e.clientY - down.clientY) > 3) return;
	if (e.shiftKey || e.altKey) copy(read(b).n); else open(b);
});
const light = (b) => {
	const old = lit;
	for (const c of old) c.l = 0;
	lit = b && all.length < 2001 ? all.filter((c) => c.l = read(c).n == b.n) : [];
	old.concat(lit).forEach(mark);
	tell(b);
};
on(rg, 'mouseover', (e) => e.target.box && light(read(e.target.box)));
on(rg, 'mouseleave', () => light());
list(svg.querySelectorAll('.legend rect'), (e) =>
	e.onclick = e.nextSibling.onclick = () => {
		const c = get(e, 'class').replace(/^([pn])\d/, '$1');
		hue = hue == c ? '' : c;
		text = '';
		search();
	});

// Links: a step is the place among the siblings by name and two characters
// of the name's hash, so that a link onto another picture of the same program
// finds the nearest frame.
const hash = (s) => {
	let h = 5381;
	for (let i = 0; i < s.length; i++)
		h = (h * 33 ^ s.charCodeAt(i)) >>> 0;
	return ('0' + (h % 1296).toString(36)).slice(-2);
};
const order = (b) => below(b).map(read).sort((a, c) =>
	a.n < c.n ? -1 : 1);
const link = () => new URLSearchParams(location.hash.slice(1));
const save = (push) => {
	const to = link(), own = { s: text, f: loose ? 'i' : '', t: theme,
		l: flip == flip0 ? '' : flip ? 'icicle' : 'flame',
		z: path(zoom).map((b) => order(parent(b)).indexOf(b) +
			hash(read(b).n)).join('.') };
	for (const k in own) {
		to.delete(prefix + k);
		if (own[k]) to.append(prefix + k, own[k]);
	}
	try {
		history[push ? 'pushState' : 'replaceState'](0, '', '#' + to);
	} catch (e) {
		// A sandboxed frame has no history.
	}
};
const load = () => {
	const from = link(), own = (k) => from.get(prefix + k) || '';
	let b = root, lost;
	for (const s of own('z').match(/\w+/g) || []) {
		const list = order(b), c = list[parseInt(s)], h = s.slice(-2);
		const to = [c, ...list].find((c) => c && hash(c.n) == h);
		lost = !to;
		if (lost) break;
		b = to;
	}
	text = own('s');
	loose = own('f');
	if (flip != (own('l') ? own('l') == 'icicle' : flip0)) turn(1);
	shade(own('t'));
	go(b);
	search();
	if (lost) say('the link leads to a frame that is not here');
};
const resize = () => {
	const w = round(svg.getBoundingClientRect().width);
	if (svg.ownerSVGElement || w < 300 || w == G + 2 * PAD) return;
	G = w - 2 * PAD;
	set(svg, { viewBox: '0 0 ' + w + ' ' + get(svg, 'height') });
	set(vp, { width: G });
	scroll();
	relabel();
};

set(rg, { role: 'tree', tabindex: 0, 'aria-label': 'Frames' });
groups.forEach((g) => set(g, { role: 'group' }));
set(root.e, { role: 'treeitem' });
on(rg, 'focus', () => pick(current || zoom, 2));
list(svg.querySelectorAll('.hint'), (e) => e.remove());
resize();
load();
on(window, 'resize', resize);
on(window, 'popstate hashchange', load);
if (alone && !flip && !zoom.d) scrollTo(0, 1e6);
})();
