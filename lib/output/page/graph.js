// SPDX-License-Identifier: Apache-2.0
//
// The graph in use: zoom, pointer, keyboard, tooltip, and the same in words
// for those who do not see it.
let current = null, hovered = null, pressed = null;

const pathOf = (box) => [...ancestors(box), box].filter((b) => b.row != ROOT);
const viewRoot = () => panels[panels.length - 1].root;
const zoomNow = () => panels.find((p) => p.zoom != p.root) ||
	panels[panels.length - 1];

const placeOf = (row) => {
	const file = files[frames.file[row]];
	const module = modules[frames.module[row]];
	return (file ? file + (frames.line[row] ? ':' + frames.line[row] : '') : '') +
		(module ? (file ? ', ' : '') + module : '');
};

const sideWords = (letter, t, s, all) => letter + ' ' + words(t, typeNow()) +
	', ' + share(t, all) + (!s ? '' : s == t ? ', all self' :
	', self ' + words(s, typeNow()));

// What there is to say about a box, line by line; the name comes first.
const linesOf = (box) => {
	// What passed through to the box itself is known with what is under it.
	if (box.of || hidden || state.recursion) kidsOf(box);
	const type = typeNow(), lines = [nameOf(box) + (box.inlined == 1 &&
		box.row >= 0 ? ' (inlined)' : box.inlined == 5 || box.inlined == 2 ?
		' (in part inlined)' : '') + (box.levels > 1 ?
		' (' + box.levels + ' levels of recursion)' : '')];
	if (isDiff()) {
		lines.push(sideWords('B', box.t, box.s, sums.allB),
			sideWords('A', box.a, box.as, sums.allA),
			(state.deltaSelf ? 'self: ' : '') + (state.deltaSelf ?
			changeWords(box.s, box.as, noiseOf(box.tv, box.av)) :
			changeWords(box.t, box.a, noiseOf(box.tv, box.av))));
	} else {
		lines.push(words(box.t, type) + ', ' + share(box.t, sums.allB) +
			(box.s ? box.s == box.t ? ', all self' :
			', self ' + words(box.s, type) : ''));
		const parts = [];
		const { zoom } = panelOf(box);
		if (box.up && box.up.row != ROOT)
			parts.push(share(box.t, box.up.t) + ' of ' +
				(box.of ? 'what it calls here' : 'its caller'));
		if (zoom.row != ROOT && zoom != box)
			parts.push(share(box.t, zoom.t) + ' of view');
		if (parts.length) lines.push(parts.join(', '));
		if (box.tv) {
			const [low, high] = interval(box.t, box.tv);
			lines.push('95 % between ' + brief(low, type) + ' and ' +
				brief(high, type));
		}
	}
	if (box.row < 0) return lines;
	const all = functionTotals().get(box.row);
	if (all && Math.abs(all.t - box.t) > 0) lines.push('everywhere: ' +
		words(all.t, type) + ', ' + share(all.t, sums.allB) + ', self ' +
		words(all.s, type));
	if (placeOf(box.row)) lines.push(placeOf(box.row));
	return lines;
};

// Said once, politely; for those who cannot see what changed.
const say = (text) => {
	byId('status').textContent = text;
};

const describe = (box) => {
	byId('details').textContent = box ? linesOf(box).join(' \u2014 ') :
		searchWords() || summary();
};

const summary = () => {
	const { zoom } = zoomNow();
	return isDiff() ? linesOf(zoom).join(' \u2014 ') : nameOf(zoom) + ': ' +
		words(zoom.t, typeNow()) + ', ' + share(zoom.t, sums.allB);
};

// The focused box is the one item of the tree that assistive tools see.
const tellItem = () => {
	const item = byId('item'), box = current || zoomNow().zoom;
	const siblings = box.up ? kidsOf(box.up) : [box];
	item.textContent = linesOf(box).join('; ');
	item.setAttribute('aria-level', box.depth + 1);
	item.setAttribute('aria-posinset', siblings.indexOf(box) + 1);
	item.setAttribute('aria-setsize', siblings.length);
	item.setAttribute('aria-expanded', panelOf(box).zoom == box);
};

const select = (box, quiet) => {
	current = box;
	tellItem();
	describe(box);
	if (!quiet) reveal(box);
	repaint();
};

// Scroll a box's row into the window.
const reveal = (box) => {
	const scroller = byId('scroller'), y = rowTop(panelOf(box), box.depth);
	if (y < scroller.scrollTop) scroller.scrollTop = y;
	else if (y + ROW > scroller.scrollTop + scroller.clientHeight)
		scroller.scrollTop = y + ROW - scroller.clientHeight;
};

// Place everything anew and draw it.
const arrange = (toRoot) => {
	const scroller = byId('scroller'), spacer = byId('spacer');
	graphWidth = Math.max(120, scroller.clientWidth);
	layout();
	const height = graphRows * ROW + 1;
	spacer.style.height = height + 'px';
	scroller.style.height = Math.min(height,
		Math.max(12 * ROW, Math.round(innerHeight * .62))) + 'px';
	// A scroll bar takes room.
	if (scroller.clientWidth != graphWidth) {
		graphWidth = Math.max(120, scroller.clientWidth);
		layout();
	}
	if (toRoot) reveal(panels[0].zoom);
	byId('reset').disabled = panels.every((p) => p.zoom == p.root);
	describe(null);
	tellItem();
	repaint();
};

const zoomTo = (box, fromHistory) => {
	const panel = panelOf(box);
	if (!panel || !box.w) return;
	for (const other of panels) other.zoom = other.root;
	panel.zoom = box;
	current = box;
	arrange();
	reveal(box);
	drawCallTree();
	say(summary() + (matched ? '; ' + searchWords() : ''));
	if (!fromHistory) saveLink(true);
};
const zoomOut = () => zoomTo(zoomNow().zoom.up || zoomNow().root);
const zoomReset = () => zoomTo(viewRoot());

// Next box for an arrow: along the row, to the parent or the widest child.
const neighbour = (box, key) => {
	const panel = panelOf(box), row = panel.rows[box.depth];
	const wide = (b) => b.r - b.l >= 1 || b == box;
	if (key == 'ArrowUp' || key == 'ArrowDown') {
		const toKids = (key == 'ArrowUp') == panel.up;
		if (!toKids) return box.up || (panels.length > 1 && panels.find((p) =>
			p != panel).rows[1] || [])[0];
		const kids = (panel.rows[box.depth + 1] || []).filter((b) =>
			b.up == box || box.depth < panel.zoom.depth);
		return kids.sort((p, q) => q.w - p.w)[0];
	}
	const seen = row.filter(wide), at = seen.indexOf(box);
	return { ArrowLeft: seen[at - 1], ArrowRight: seen[at + 1], Home: seen[0],
		End: seen[seen.length - 1] }[key];
};

const nextMatch = (back) => {
	const hits = [];
	for (const panel of panels) for (const row of panel.rows)
		for (const box of row) if (isMatch(box) &&
			box.depth >= panel.zoom.depth && box.r - box.l >= 1) hits.push(box);
	if (!hits.length) return;
	const at = hits.indexOf(current);
	select(hits[(at + (back ? hits.length - (at >= 0 ? 1 : 0) : 1)) %
		hits.length]);
};

const copyText = async (text, what) => {
	try {
		await navigator.clipboard.writeText(text);
		say('copied: ' + text);
	} catch (e) {
		// Without permission the text is laid out to be copied by hand.
		byId('details').textContent = text;
		getSelection().selectAllChildren(byId('details'));
		say('press Ctrl+C to copy ' + what);
	}
};
const stackOf = (box) => {
	const path = pathOf(box).map((b) => nameOf(b).replace(/;/g, ':'));
	return (box.of ? path.reverse() : path).join(';') + ' ' + box.t;
};

// The pointer, in px of the graph.
const boxUnder = (event) => {
	const at = byId('canvas').getBoundingClientRect();
	return boxAt(event.clientX - at.left,
		event.clientY - at.top + byId('scroller').scrollTop);
};

const hideTip = () => {
	byId('tip').hidden = true;
};
const showTip = (box, x, y) => {
	const tip = byId('tip');
	tip.textContent = '';
	linesOf(box).forEach((line, i) => tip.append(make(i ? 'div' : 'strong', {},
		line.length > 600 ? line.slice(0, 600) + ELLIPSIS : line)));
	tip.hidden = false;
	const { width, height } = tip.getBoundingClientRect();
	tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - width - 8)) + 'px';
	tip.style.top = (y + 18 + height > innerHeight ?
		Math.max(4, y - height - 10) : y + 18) + 'px';
};

const hover = (event) => {
	const box = boxUnder(event);
	if (box != hovered) {
		hovered = box;
		byId('canvas').style.cursor = box ? 'pointer' : '';
		describe(box);
		repaint();
	}
	if (box) showTip(box, event.clientX, event.clientY);
	else hideTip();
};

// A click is a press that did not move: text can be selected elsewhere.
const release = (event) => {
	const moved = !pressed || Math.abs(event.clientX - pressed.x) > 3 ||
		Math.abs(event.clientY - pressed.y) > 3;
	const box = boxUnder(event);
	pressed = null;
	if (moved || event.button || !box) return;
	if (event.shiftKey || event.altKey) copyText(nameOf(box), 'the name');
	else zoomTo(box);
	hideTip();
};

// Ctrl and the wheel go into the box under the pointer, and out again.
const wheel = (event) => {
	if (!event.ctrlKey) return;
	event.preventDefault();
	const box = boxUnder(event), { zoom } = zoomNow();
	if (event.deltaY > 0) return zoomOut();
	let to = box;
	while (to && to.up && to.up != zoom && to.depth > zoom.depth + 1) to = to.up;
	if (to) zoomTo(to);
};

const graphKeys = {
	Enter: () => zoomTo(current || zoomNow().zoom),
	Backspace: zoomOut, u: zoomOut, 0: zoomReset,
	c: () => copyText(nameOf(current || zoomNow().zoom), 'the name'),
	C: () => copyText(stackOf(current || zoomNow().zoom), 'the stack'),
	s: () => current && current.row >= 0 && pivotOn(names[current.row]),
	x: () => current && current.row >= 0 &&
		addFilter('ignore', literally(names[current.row]))
};

const graphKey = (event) => {
	if (event.ctrlKey || event.metaKey || event.altKey) return;
	const act = graphKeys[event.key];
	if (act) {
		event.preventDefault();
		act();
	} else if (/^(Arrow|Home$|End$)/.test(event.key)) {
		event.preventDefault();
		const box = neighbour(current || zoomNow().zoom, event.key);
		if (!box) return;
		select(box);
		const at = byId('canvas').getBoundingClientRect();
		showTip(box, at.left + Math.max(0, box.l), at.top + ROW +
			rowTop(panelOf(box), box.depth) - byId('scroller').scrollTop);
	} else if (event.key == 'ContextMenu' ||
		(event.key == 'F10' && event.shiftKey)) {
		event.preventDefault();
		openMenuAtBox(current || zoomNow().zoom);
	}
};

const startGraph = () => {
	const graph = byId('graph'), canvas = byId('canvas');
	on(canvas, 'pointermove', hover);
	on(canvas, 'pointerleave', () => {
		hovered = null;
		hideTip();
		describe(null);
		repaint();
	});
	on(canvas, 'pointerdown', (event) => {
		pressed = { x: event.clientX, y: event.clientY };
	});
	on(canvas, 'pointerup', release);
	on(canvas, 'wheel', wheel, { passive: false });
	on(canvas, 'contextmenu', (event) => {
		const box = boxUnder(event);
		if (!box) return;
		event.preventDefault();
		openMenu(box, event.clientX, event.clientY);
	});
	on(graph, 'keydown', graphKey);
	on(graph, 'focus blur', () => {
		if (document.activeElement != graph) hideTip();
		else if (!current) select(zoomNow().zoom, true);
		repaint();
	});
	on(byId('scroller'), 'scroll', () => {
		hideTip();
		repaint();
	});
	on(window, 'resize', () => arrange());
	on(darkMedia, 'change', repaint);
	on(forced, 'change', repaint);
};
