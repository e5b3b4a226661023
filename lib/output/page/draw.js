// SPDX-License-Identifier: Apache-2.0
//
// Drawing what layout.js placed: the rows within the window, on a canvas
// that stays in place while a tall element scrolls behind it.
const INK = '#1a1a1a', MATCH = '#e06ae0';
const CLASS = { root: 32, unknown: 33, negative: 35 };
const TINT = { grew: 0, shrank: 8, same: 16, fresh: 17, gone: 18, steps: 8 };
const forced = matchMedia('(forced-colors: active)');
const darkMedia = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => !matchMedia('print').matches &&
	(state.theme ? state.theme == 'dark' : darkMedia.matches);

const css = (color) => '#' + color.toString(16).padStart(6, '0');
const paletteNow = () => isDiff() ? meta.changes : meta.palettes[state.palette];
const colorOf = (cls, dark) => css(paletteNow()[dark ? 'dark' : 'light'][cls]);

const tintOf = (box) => {
	const part = state.deltaSelf;
	const t = part ? box.s : box.t, a = part ? box.as : box.a;
	const all = Math.abs(box.t) + Math.abs(box.a);
	// Of the error of a total self has its share.
	const of = part && all ? Math.abs(t + a) / all : 1;
	if (isNoise(t, a, noiseOf(box.tv * of, box.av * of))) return TINT.same;
	if (!a) return TINT.fresh;
	if (!t) return TINT.gone;
	const step = Math.ceil(Math.sqrt(Math.abs(t - a) / (sums.most || 1)) *
		TINT.steps);
	const grew = (t > a) != meta.negate;
	return (grew ? TINT.grew : TINT.shrank) +
		Math.max(1, Math.min(TINT.steps, step)) - 1;
};

const classOf = (box) => {
	if (box.of || hidden || state.recursion) kidsOf(box);
	if (box.row < 0) return CLASS.root;
	if (isDiff()) return tintOf(box);
	if (box.t < 0) return CLASS.negative;
	const palette = paletteNow();
	if (palette.name == 'by share of self')
		return Math.max(0, Math.min(15, box.t ? box.s / box.t * 15 | 0 : 0));
	if (palette.name == 'by depth') return box.depth & 1;
	const cls = palette.classes.charCodeAt(box.row) - 63;
	return palette.name == 'by kind' && cls == 1 && box.inlined == 1 ? 2 : cls;
};

// What follows a name when there is room: its share, or its change.
const suffixOf = (box) => {
	if (!isDiff()) return box.row == ROOT ? brief(box.t, typeNow()) :
		(Math.round(box.t / (sums.allB || 1) * 1000) / 10) + '%';
	const t = state.deltaSelf ? box.s : box.t;
	const a = state.deltaSelf ? box.as : box.a;
	if (tintOf(box) == TINT.same) return '';
	return (t > a ? '\u25b2 ' : '\u25bc ') + relative(t, a);
};

// { fill, ink, frame } of a box as it is now.
const looksOf = (box, panel, dark) => {
	if (forced.matches) return { fill: 'Canvas', ink: 'CanvasText',
		frame: isMatch(box) ? 'Highlight' : 'CanvasText' };
	const faded = dark ? '#878c96' : '#e4e4e4';
	if (box.depth < panel.zoom.depth) return { fill: faded, ink: INK };
	if (isMatch(box)) return isDiff() ? { fill: colorOf(classOf(box), dark),
		ink: INK, frame: '#93188f' } : { fill: MATCH, ink: INK };
	if (matched && !isDiff() && box.row >= 0) return { fill: faded, ink: INK };
	return { fill: colorOf(classOf(box), dark), ink: INK };
};

// The label of a box that is `room` px wide.
const labelOf = (box, room) => {
	const name = nameOf(box) + (box.levels > 1 ? ' \u00d7' + box.levels : '');
	const end = suffixOf(box), space = textWidth('mm');
	if (end && textWidth(name) + space + textWidth(end) <= room)
		return [name, end];
	return [fit(name, room), ''];
};

const drawBox = (to, box, panel, y, dark, dpr) => {
	const snap = (v) => Math.round(v * dpr) / dpr;
	const l = snap(Math.max(0, box.l)), r = snap(Math.min(graphWidth, box.r));
	const gap = r - l >= 3 ? 1 / dpr : 0, w = Math.max(r - l - gap, 1 / dpr);
	const looks = looksOf(box, panel, dark);
	to.fillStyle = looks.fill;
	to.fillRect(l, y, w, ROW - 1);
	if (box.t < 0 && !isDiff() && w > 3) hatch(to, l, y, w);
	if (looks.frame && w >= 2) {
		to.strokeStyle = looks.frame;
		to.lineWidth = isMatch(box) ? 2 : 1;
		to.strokeRect(l + 1, y + 1, w - 2, ROW - 3);
	}
	// Inlined code hangs on to its caller by a dashed line.
	if (box.inlined == 1 && w > 6) {
		to.fillStyle = 'rgba(26,26,26,.5)';
		const at = panel.up ? y + ROW - 2 : y;
		for (let x = l; x < l + w - 3; x += 6) to.fillRect(x, at, 3, 1);
	}
	if (r - l < 24) return;
	const [name, end] = labelOf(box, r - l - 8);
	if (!name) return;
	to.fillStyle = looks.ink;
	to.font = (box.row >= 0 && frames.kind[box.row] & UNKNOWN ? 'italic ' : '') +
		'12px ' + FONT;
	to.fillText(name, l + 4, y + 12.5);
	if (end) to.fillText(end, l + 4 + textWidth(name) + textWidth('mm'), y + 12.5);
};

const hatch = (to, l, y, w) => {
	to.save();
	to.beginPath();
	to.rect(l, y, w, ROW - 1);
	to.clip();
	to.strokeStyle = 'rgba(26,26,26,.25)';
	to.lineWidth = 2;
	to.beginPath();
	for (let x = l - ROW; x < l + w; x += 6) {
		to.moveTo(x, y + ROW);
		to.lineTo(x + ROW, y);
	}
	to.stroke();
	to.restore();
};

// An outline inside a box; the rows scroll, so it is drawn, not an element.
const outline = (to, box, color, width) => {
	const panel = panelOf(box);
	if (!panel || box.l == null) return;
	const y = rowTop(panel, box.depth);
	const l = Math.max(0, box.l), r = Math.min(graphWidth, box.r);
	to.strokeStyle = color;
	to.lineWidth = width;
	to.strokeRect(l + width / 2, y + width / 2, Math.max(r - l - width, 1),
		ROW - 1 - width);
};

// Rows from `from` to `to` px, on a context whose top is at `from`.
const drawRows = (context, from, to, dark, dpr) => {
	panels.forEach((panel, p) => panel.rows.forEach((row, depth) => {
		const y = rowTop(panel, depth);
		if (y + ROW < from || y > to || (p && !depth)) return;
		for (const box of row) drawBox(context, box, panel, y, dark, dpr);
	}));
};

// Both canvas and marks; called at most once a frame of the screen.
let wanted = 0;
const paint = () => {
	wanted = 0;
	const canvas = byId('canvas'), scroller = byId('scroller');
	const dpr = devicePixelRatio || 1, height = scroller.clientHeight;
	if (canvas.width != Math.round(graphWidth * dpr) ||
		canvas.height != Math.round(height * dpr)) {
		canvas.width = Math.round(graphWidth * dpr);
		canvas.height = Math.round(height * dpr);
		canvas.style.width = graphWidth + 'px';
		canvas.style.height = height + 'px';
	}
	const context = canvas.getContext('2d'), top = scroller.scrollTop;
	context.setTransform(dpr, 0, 0, dpr, 0, 0);
	context.clearRect(0, 0, graphWidth, height);
	context.translate(0, -top);
	drawRows(context, top, top + height, isDark(), dpr);
	const ink = forced.matches ? 'Highlight' : isDark() ? '#fff' : '#000';
	if (hovered && hovered.row >= 0)
		for (const panel of panels) for (const row of panel.rows)
			for (const box of row) if (box.row == hovered.row)
				outline(context, box, ink, 1);
	if (current && document.activeElement == byId('graph'))
		outline(context, current, ink, 2.5);
};
const repaint = () => {
	if (!wanted) wanted = requestAnimationFrame(paint);
};
