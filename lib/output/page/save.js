// SPDX-License-Identifier: Apache-2.0
//
// This view as a file: SVG, PNG, or folded stacks.
const SHEET = 16000;

const offer = (blob, ending) => {
	const url = URL.createObjectURL(blob);
	const name = (meta.title.replace(/[^\w.-]+/g, '_') || 'profile') + ending;
	const link = make('a', { href: url, download: name });
	document.body.append(link);
	link.click();
	link.remove();
	setTimeout(() => URL.revokeObjectURL(url), 60000);
	say('saved as ' + name);
};

const xml = (text) => text.replace(/[&<>"']/g, (c) =>
	'&#' + c.charCodeAt(0) + ';');

const svgBox = (box, panel) => {
	const l = Math.max(0, box.l), r = Math.min(graphWidth, box.r);
	const y = rowTop(panel, box.depth) + 24, looks = looksOf(box, panel, false);
	const at = (v) => String(Math.round(v * 100) / 100);
	const [name, end] = r - l < 24 ? ['', ''] : labelOf(box, r - l - 8);
	return '<g><title>' + xml(linesOf(box).join('\n')) + '</title><rect x="' +
		at(l) + '" y="' + y + '" width="' + at(Math.max(.5, r - l -
		(r - l > 3 ? 1 : 0))) + '" height="' + (ROW - 1) + '" fill="' +
		looks.fill + '"/>' + (name ? '<text x="' + at(l + 4) + '" y="' +
		(y + 12.5) + '">' + xml(name + (end ? '  ' + end : '')) + '</text>' :
		'') + '</g>';
};

const saveSvg = () => {
	const parts = ['<?xml version="1.0" encoding="UTF-8"?>\n' +
		'<svg xmlns="http://www.w3.org/2000/svg" width="' + graphWidth +
		'" height="' + (graphRows * ROW + 28) + '" font-family="' + xml(FONT) +
		'" font-size="12"><rect width="100%" height="100%" fill="#fff"/>' +
		'<text x="4" y="16" fill="' + INK + '">' + xml(meta.title + ': ' +
		summary()) + '</text><g fill="' + INK + '">\n'];
	panels.forEach((panel, p) => panel.rows.forEach((row, depth) => {
		if (p && !depth) return;
		for (const box of row) parts.push(svgBox(box, panel), '\n');
	}));
	parts.push('</g></svg>\n');
	offer(new Blob(parts, { type: 'image/svg+xml' }), '.svg');
};

// Canvases have a greatest size; what is below it is left out, and said.
const savePng = () => {
	const sheet = make('canvas'), dpr = graphWidth < 2000 ? 2 : 1;
	const height = Math.min(graphRows * ROW, SHEET / dpr);
	sheet.width = graphWidth * dpr;
	sheet.height = height * dpr;
	const context = sheet.getContext('2d');
	context.scale(dpr, dpr);
	context.fillStyle = isDark() ? '#16181d' : '#fff';
	context.fillRect(0, 0, graphWidth, height);
	drawRows(context, 0, height, isDark(), dpr);
	sheet.toBlob((blob) => {
		offer(blob, '.png');
		if (height < graphRows * ROW) say('saved; rows below ' +
			Math.floor(height / ROW) + ' are left out of the picture');
	});
};

// Stacks with a value under what is zoomed to, as they are in the profile,
// frames that are hidden left out.
const foldedText = () => {
	const { zoom } = zoomNow(), parts = [], path = [];
	const add = (i, v) => {
		if (!v) return;
		path.length = 0;
		for (let k = i; k; k = tree.parent[k]) if (!isHidden(tree.row[k]))
			path.push(names[tree.row[k]].replace(/;/g, ':'));
		parts.push(path.reverse().join(';') + ' ' + v + '\n');
	};
	const self = (i) => sums.b[i + 1] - sums.b[i];
	if (!zoom.of) {
		for (const from of zoom.nodes)
			for (let i = from; i < tree.end[from]; i++) add(i, self(i));
		return parts;
	}
	// The stacks of a callers box end in it or go on below it.
	for (let k = 0; k < zoom.of.length; k++) {
		const i = panels[0].root.nodes[zoom.of[k]];
		add(i, stacks.b[zoom.of[k]]);
	}
	return parts;
};
const saveFolded = () => offer(new Blob(foldedText(), { type: 'text/plain' }),
	'.folded');
