// SPDX-License-Identifier: Apache-2.0
//
// The table of functions: real rows and headers that sort, as many rows as
// one looks at.
const STEP = 100;
let rowsNow = null, totalsNow = null, sortBy = 's', sortUp = false, shown = STEP;

// By frame; made when first asked for.
const functionTotals = () => {
	if (!totalsNow) {
		rowsNow = tableRows();
		totalsNow = new Map(rowsNow.map((r) => [r.row, r]));
	}
	return totalsNow;
};
const forgetTotals = () => {
	rowsNow = totalsNow = null;
};

const changeOf = (r) => state.deltaSelf ? r.s - r.as : r.t - r.a;
const sortKeys = {
	n: (r) => r.row, s: (r) => Math.abs(r.s), t: (r) => Math.abs(r.t),
	a: (r) => Math.abs(r.a), d: (r) => Math.abs(changeOf(r))
};

const columnsNow = () => isDiff() ? [['n', 'Function'], ['s', 'Self, B'],
	['t', 'Total, B'], ['a', 'Total, A'], ['d', state.deltaSelf ?
	'Change of self' : 'Change of total']] :
	[['n', 'Function'], ['s', 'Self'], ['t', 'Total']];

const sortRows = () => {
	functionTotals();
	const key = sortKeys[sortBy] || sortKeys.s, sign = sortUp ? 1 : -1;
	const list = matched ? rowsNow.filter((r) => matched[r.row]) :
		rowsNow.slice();
	return list.sort((p, q) => sign * (key(p) - key(q)) || p.row - q.row);
};

// A bar whose length is the value, with its error where it is known.
const bar = (v, variance, all, most) => {
	const box = make('span', { class: 'bar', 'aria-hidden': 'true' });
	const px = (x) => Math.max(0, Math.min(100, 100 * x / (most || 1))) + '%';
	const fill = make('span', { class: 'fill' });
	fill.style.width = px(Math.abs(v));
	box.append(fill);
	if (variance > 0) {
		const [low, high] = interval(Math.abs(v), variance);
		const error = make('span', { class: 'error' });
		error.style.left = px(low);
		error.style.width = px(high - low);
		box.append(error);
	}
	return box;
};

const valueCell = (v, variance, all, most) => {
	const cell = make('td', { class: 'number' }), type = typeNow();
	cell.append(bar(v, variance, all, most), make('span', { class: 'value' },
		brief(v, type)), make('span', { class: 'share' }, share(v, all)));
	let title = words(v, type);
	if (variance > 0) {
		const [low, high] = interval(v, variance);
		cell.append(make('span', { class: 'range' }, brief(low, type) +
			' \u2013 ' + brief(high, type)));
		title += '; 95 % between ' + words(low, type) + ' and ' +
			words(high, type);
	}
	cell.title = title;
	return cell;
};

const changeCell = (r) => {
	const cell = make('td', { class: 'number' }), delta = changeOf(r);
	const t = state.deltaSelf ? r.s : r.t, a = state.deltaSelf ? r.as : r.a;
	const noise = noiseOf(state.deltaSelf ? r.sv : r.tv,
		state.deltaSelf ? 0 : r.av);
	const text = !delta ? 'no change' : (delta > 0 ? '\u25b2 ' : '\u25bc ') +
		signed(brief(delta, typeNow()), delta) + ', ' + relative(t, a);
	const quiet = isNoise(t, a, noise);
	cell.append(make('span', { class: quiet ? 'noise' : delta > 0 ? 'grew' :
		'shrank' }, text + (quiet && delta ? ' (noise)' : '')));
	cell.title = changeWords(t, a, noise);
	return cell;
};

const nameCell = (row) => {
	const cell = make('th', { scope: 'row' });
	const button = make('button', { type: 'button', class: 'name',
		title: 'Callers and callees of ' + names[row] }, names[row]);
	on(button, 'click', () => pivotOn(names[row]));
	on(button, 'contextmenu', (event) => {
		event.preventDefault();
		openFunctionMenu(row, event.clientX, event.clientY);
	});
	cell.append(button);
	if (placeOf(row)) cell.append(make('span', { class: 'place' }, placeOf(row)));
	return cell;
};

const headCell = ([key, text]) => {
	const cell = make('th', { scope: 'col' });
	const button = make('button', { type: 'button' }, text);
	if (sortBy == key) cell.setAttribute('aria-sort',
		sortUp ? 'ascending' : 'descending');
	on(button, 'click', () => {
		sortUp = sortBy == key ? !sortUp : key == 'n';
		sortBy = key;
		drawTable();
		byId('table').querySelector('[aria-sort] button').focus();
		say('sorted by ' + text + (sortUp ? ', rising' : ', falling'));
	});
	cell.append(button);
	return cell;
};

const drawTable = () => {
	const table = byId('table');
	table.removeAttribute('aria-busy');
	if (!byId('functions').open) return;
	const list = sortRows(), head = make('tr'), body = make('tbody');
	const most = Math.max(...['s', 't', 'a'].map((k) => list.reduce((m, r) =>
		Math.max(m, Math.abs(r[k])), 0)));
	head.append(...columnsNow().map(headCell));
	for (const r of list.slice(0, shown)) {
		const row = make('tr');
		row.append(nameCell(r.row), valueCell(r.s, r.sv, sums.allB, most),
			valueCell(r.t, r.tv, sums.allB, most));
		if (isDiff()) row.append(valueCell(r.a, r.av, sums.allA, most),
			changeCell(r));
		body.append(row);
	}
	table.tHead.replaceChildren(head);
	table.tBodies[0].replaceWith(body);
	byId('counted').textContent = plural(list.length, 'function') +
		(matched ? ' match' + (list.length == 1 ? 'es' : '') : '') +
		(list.length > shown ? ', ' + shown + ' shown' : '');
	byId('more').hidden = list.length <= shown;
};

// After what is seen first was drawn.
let tableTimer;
const drawTableLater = () => {
	byId('table').setAttribute('aria-busy', 'true');
	clearTimeout(tableTimer);
	tableTimer = setTimeout(drawTable, 30);
};

const startTable = () => {
	on(byId('functions'), 'toggle', drawTable);
	on(byId('more'), 'click', () => {
		shown *= 3;
		drawTable();
	});
};
