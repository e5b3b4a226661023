// SPDX-License-Identifier: Apache-2.0
//
// The menu of a box or a function, and the filters that it sets.
let menuReturn = null;

const drawFilters = () => {
	const list = byId('filters');
	list.replaceChildren(...state.filters.map((filter, i) => {
		const item = make('li');
		const shownAs = filter.what.replace(/^\^(.*)\$$/, '$1')
			.replace(/\\(\W)/g, '$1');
		const button = make('button', { type: 'button',
			'aria-label': 'Remove: ' + filter.how + ' ' + shownAs },
			filter.how + ' ' + shownAs + ' \u00d7');
		on(button, 'click', () => {
			state.filters.splice(i, 1);
			renew();
			byId('graph').focus();
		});
		item.append(button);
		return item;
	}));
};

const addFilter = (how, what) => {
	state.filters.push({ how, what });
	renew();
	say(how + ' ' + what + ': ' + summary());
};

const pivotOn = (name) => {
	state.view = 'sandwich';
	state.pivot = literally(name);
	renew();
	byId('graph').focus();
	byId('scroller').scrollIntoView({ block: 'nearest' });
};

const searchFor = (name) => {
	byId('search').value = state.search = literally(name);
	research();
};

// Only what a browser should open from here; the template is the report's
// maker's, the file and line come from the profile.
const sourceUrl = (row) => {
	const file = files[frames.file[row]];
	if (!meta.source_url || !file) return null;
	const url = meta.source_url
		.replace(/\{file\}/g, () => file.split('/').map(encodeURIComponent)
			.join('/'))
		.replace(/\{line\}/g, () => String(frames.line[row] || 1));
	return /^(https?|file|vscode|idea|txmt):\/\//.test(url) ? url : null;
};

const functionItems = (row) => {
	const name = names[row], url = sourceUrl(row);
	return [
		['Copy name', () => copyText(name, 'the name')],
		['Search this name', () => searchFor(name)],
		['Callers and callees (sandwich)', () => pivotOn(name)],
		['Focus: only stacks with it', () => addFilter('focus', literally(name))],
		['Ignore: no stacks with it', () => addFilter('ignore', literally(name))],
		['Hide this frame', () => addFilter('hide', literally(name))],
		...url ? [['Open source', () => {
			const link = make('a', { href: url, target: '_blank',
				rel: 'noopener noreferrer' });
			link.click();
		}]] : []
	];
};

const closeMenu = (toOwner) => {
	const menu = byId('menu');
	if (menu.hidden) return;
	menu.hidden = true;
	if (toOwner && menuReturn) menuReturn.focus();
};

const showMenu = (items, title, x, y) => {
	const menu = byId('menu');
	hideTip();
	menuReturn = document.activeElement;
	menu.setAttribute('aria-label', title);
	menu.replaceChildren(...items.map(([text, act]) => {
		const item = make('button', { type: 'button', role: 'menuitem',
			tabindex: '-1' }, text);
		on(item, 'click', () => {
			closeMenu(true);
			act();
		});
		return item;
	}));
	menu.hidden = false;
	const { width, height } = menu.getBoundingClientRect();
	menu.style.left = Math.max(4, Math.min(x, innerWidth - width - 8)) + 'px';
	menu.style.top = Math.max(4, Math.min(y, innerHeight - height - 8)) + 'px';
	menu.firstChild.focus();
};

const openMenu = (box, x, y) => {
	select(box, true);
	showMenu([['Zoom', () => zoomTo(box)],
		['Copy stack', () => copyText(stackOf(box), 'the stack')],
		...box.row >= 0 ? functionItems(box.row) : []], nameOf(box), x, y);
};
const openMenuAtBox = (box) => {
	const at = byId('canvas').getBoundingClientRect();
	openMenu(box, at.left + Math.max(0, box.l) + 8, at.top + ROW +
		rowTop(panelOf(box), box.depth) - byId('scroller').scrollTop);
};
const openFunctionMenu = (row, x, y) => showMenu(functionItems(row),
	names[row], x, y);

const menuKey = (event) => {
	const items = [...byId('menu').children];
	const at = items.indexOf(document.activeElement), n = items.length;
	const to = { ArrowDown: (at + 1) % n, ArrowUp: (at + n - 1) % n, Home: 0,
		End: n - 1 }[event.key];
	event.stopPropagation();
	if (to != null) items[to].focus();
	else if (/^(Escape|Tab)$/.test(event.key)) closeMenu(true);
	else return;
	event.preventDefault();
};

const startMenu = () => {
	on(byId('menu'), 'keydown', menuKey);
	on(document, 'pointerdown', (event) => {
		if (!byId('menu').contains(event.target)) closeMenu();
	});
	on(window, 'blur resize', () => closeMenu());
};
