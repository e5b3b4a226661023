// SPDX-License-Identifier: Apache-2.0
//
// Which boxes are seen, and where: rows of those that are half a px wide or
// wider, of the others one a device pixel. Work follows what is seen, not
// how large the tree is.
//
// A panel is a graph: { root, zoom, up: root at the foot, rows, top }.
// Boxes get l and r, px within the graph.
const ROW = 18, LEAST = .5;
let panels = [], graphWidth = 0, graphRows = 0;

// After values, filters or the view changed: all boxes are made anew.
const makePanels = () => {
	const panel = (root, up) => ({ root, zoom: root, up, rows: [], top: 0 });
	if (state.view == 'sandwich') {
		const [above, below] = sandwichRoots();
		panels = [panel(above, true), panel(below, false)];
	} else {
		panels = [panel(state.view == 'callers' ? callersRoot() :
			callsRoot(), !state.icicle)];
	}
};

const ancestors = (box) => {
	const list = [];
	for (let b = box.up; b; b = b.up) list.unshift(b);
	return list;
};

// Boxes under those of `row`; of the narrow ones one a device pixel.
const rowBelow = (row, zoom) => {
	const next = [], k = graphWidth / zoom.w, dpr = devicePixelRatio || 1;
	let pixel = -1;
	for (const box of row) {
		if (box.r - box.l < LEAST) continue;
		for (const kid of kidsOf(box)) {
			kid.l = (kid.x - zoom.x) * k;
			kid.r = kid.l + kid.w * k;
			if (kid.r - kid.l < LEAST) {
				const at = Math.floor(kid.l * dpr);
				if (at == pixel) continue;
				pixel = at;
			}
			next.push(kid);
		}
	}
	return next;
};

const layoutPanel = (panel) => {
	const { zoom } = panel;
	panel.rows = [...ancestors(zoom), zoom].map((box) => {
		box.l = 0;
		box.r = graphWidth;
		return [box];
	});
	if (!zoom.w) return;
	for (let row = [zoom]; (row = rowBelow(row, zoom)).length;)
		panel.rows.push(row);
};

const layout = () => {
	panels.forEach(layoutPanel);
	if (panels.length > 1) {
		// Both begin with the pivot, which is drawn once.
		panels[0].top = 0;
		panels[1].top = (panels[0].rows.length - 1) * ROW;
		graphRows = panels[0].rows.length + panels[1].rows.length - 1;
	} else {
		graphRows = panels[0].rows.length;
	}
};

const rowTop = (panel, depth) => panel.top + ROW *
	(panel.up ? panel.rows.length - 1 - depth : depth);
const panelOf = (box) => {
	let root = box;
	while (root.up) root = root.up;
	return panels.find((panel) => panel.root == root);
};

// Place of the last box of a row that begins at or before x; -1: none.
const placeIn = (row, x) => {
	let a = 0, b = row.length;
	while (a < b) {
		const m = (a + b) >> 1;
		if (row[m].l <= x) a = m + 1; else b = m;
	}
	return a - 1;
};

const boxAt = (x, y) => {
	for (const panel of panels) {
		const nr = panel.rows.length, line = Math.floor((y - panel.top) / ROW);
		const row = panel.rows[panel.up ? nr - 1 - line : line];
		if (!row || line < 0) continue;
		const box = row[placeIn(row, x)];
		if (box && x < Math.max(box.r, box.l + 1)) return box;
	}
	return null;
};
