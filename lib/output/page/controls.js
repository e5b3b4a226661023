// SPDX-License-Identifier: Apache-2.0
//
// Everything around the graph that sets the state, and what follows from it.
// Base names where they tell profiles apart; in full in the tooltip.
const nameOfProfile = (i) => {
	const base = (p) => p.name.replace(/^.*\/(?=.)/, '') + (p.side ?
		' (' + p.side + ')' : '');
	const mine = base(meta.profiles[i]);
	return meta.profiles.filter((p) => base(p) == mine).length > 1 ?
		meta.profiles[i].name : mine;
};

const fillSelect = (id, options) => {
	byId(id).replaceChildren(...options.map(([value, text]) =>
		make('option', { value }, text)));
};

const fillControls = () => {
	const list = meta.profiles.map((_, i) => [i, nameOfProfile(i)]);
	fillSelect('type', meta.types.map((type, i) => [i, type.name]));
	fillSelect('profile', list);
	fillSelect('base', [[-1, 'nothing'], ...list]);
	fillSelect('palette', meta.palettes.map((palette, i) => [i, palette.name]));
	if (meta.factor > 0) byId('normalize').append(make('option',
		{ value: 'factor' }, '\u00d7' + meta.factor));
	byId('step').max = meta.profiles.length - 1;
	byId('type').parentNode.hidden = meta.types.length < 2;
	for (const id of ['profile', 'base'])
		byId(id).parentNode.hidden = meta.profiles.length < 2;
	byId('step').parentNode.hidden = meta.profiles.length < 3;
};

// Show what the state is, whoever set it.
const syncControls = () => {
	for (const id of ['type', 'profile', 'base', 'widths', 'normalize', 'view',
		'sort', 'palette']) byId(id).value = state[id];
	byId('delta').value = state.deltaSelf ? 'self' : 'total';
	byId('step').value = state.profile;
	byId('profile').title = meta.profiles[state.profile].name;
	byId('base').title = isDiff() ? meta.profiles[state.base].name : '';
	byId('step').setAttribute('aria-valuetext', nameOfProfile(state.profile));
	byId('search').value = state.search;
	const press = (id, is) => byId(id).setAttribute('aria-pressed', is);
	press('recursion', state.recursion);
	press('ignorecase', state.ignoreCase);
	press('flip', !state.icicle);
	for (const id of ['widths', 'normalize', 'delta'])
		byId(id).parentNode.hidden = !isDiff();
	byId('palette').parentNode.hidden = isDiff();
	byId('flip').disabled = state.view == 'sandwich';
	byId('view').querySelector('[value=sandwich]').disabled = !state.pivot;
	if (state.theme) document.documentElement.dataset.theme = state.theme;
	else delete document.documentElement.dataset.theme;
};

const drawHead = () => {
	const type = typeNow(), about = meta.profiles[state.profile]
		.columns[state.type];
	const whole = viewRoot();
	byId('totals').textContent = type.name + ': ' + (isDiff() ?
		'B ' + words(sums.b[tree.n], type) + ' against A ' +
		words(sums.a[tree.n] / sums.scale, type) + (sums.scale != 1 ?
		', A scaled \u00d7' + +sums.scale.toPrecision(4) : ', not scaled') +
		': ' + changeWords(sums.b[tree.n], sums.a[tree.n], 0) :
		sums.kept ? words(sums.b[tree.n], type) + ' of ' + about.total + ' ' +
		type.noun + ' after filters' : about.shift ? about.total + ' ' +
		type.noun : words(sums.b[tree.n], type));
	byId('note').textContent = !whole.w ? 'No samples: ' +
		(state.filters.length ? 'the filters leave nothing' : state.view ==
		'sandwich' ? 'no function matches ' + state.pivot : 'every value of ' +
		type.name + ' is 0 here') : goneWords();
};

// What only A has has no width in a graph of B.
const goneWords = () => {
	if (!isDiff() || state.widths != 'b') return '';
	let gone = 0;
	for (let i = 0; i < tree.n; i++)
		if (tree.hasSelf[i] && !before(sums.b, i)) gone += sums.a[i + 1] - sums.a[i];
	return gone ? 'Only in A (gone): ' + words(gone, typeNow()) + ', ' +
		share(gone, sums.allA) + ' of A; it has no width here: set widths to ' +
		'A or to the larger of both to see it' : '';
};

const drawLegend = () => {
	const palette = paletteNow(), dark = isDark();
	byId('legend').replaceChildren(...palette.legend.map(([name, cls]) => {
		const item = make('li'), swatch = make('span', { class: 'swatch' });
		const holder = make(isDiff() ? 'span' : 'button', isDiff() ? {} :
			{ type: 'button' });
		swatch.style.background = css(palette[dark ? 'dark' : 'light'][cls]);
		holder.append(swatch, name);
		if (!isDiff()) on(holder, 'click', () => pickClass(cls, name));
		item.append(holder);
		return item;
	}), ...palette.more ? [make('li', {}, '+' + palette.more + ' more')] : []);
};

// Frames of one colour, marked as a search marks them.
const pickClass = (cls, name) => {
	const { classes } = paletteNow();
	state.search = '';
	matched = Uint8Array.from(names, (_, i) => +(classes.charCodeAt(i) - 63 ==
		cls));
	syncControls();
	describe(null);
	say(name + ': ' + searchWords());
	drawTableLater();
	repaint();
};

// The state has changed: everything anew; zoom stays as far as it goes.
const renew = () => {
	const old = panels.length ? pathOf(zoomNow().zoom).map(nameOf) : [];
	const view = panels.length && panels[0].view;
	if (takeValues()) forgetTotals();
	takeSearch();
	makePanels();
	panels[0].view = state.view;
	current = hovered = null;
	if (view == state.view && panels.length == 1) {
		let box = panels[0].root;
		for (const name of old) {
			const next = kidsOf(box).find((kid) => nameOf(kid) == name);
			if (!next) break;
			box = next;
		}
		if (box.w) panels[0].zoom = box;
	}
	syncControls();
	arrange(true);
	drawHead();
	drawFilters();
	drawLegend();
	drawTableLater();
	drawCallTree();
	saveLink();
};

const research = () => {
	takeSearch();
	describe(null);
	if (matched) say(searchWords());
	drawTableLater();
	repaint();
	saveLink();
};

const toggle = (key, act) => () => {
	state[key] = !state[key];
	(act || renew)();
};
const flip = () => {
	if (panels.length > 1) return;
	state.icicle = !state.icicle;
	panels[0].up = !state.icicle;
	syncControls();
	arrange(true);
	saveLink();
};
const switchTheme = () => {
	state.theme = isDark() ? 'light' : 'dark';
	try {
		localStorage.setItem('pprof-theme', state.theme);
	} catch (e) {
		// Not kept: this page may keep nothing.
	}
	syncControls();
	drawLegend();
	repaint();
};
const cycleView = () => {
	state.view = state.view == 'calls' ? 'callers' : 'calls';
	renew();
};

const pageKeys = {
	'/': () => byId('search').select(), i: flip, v: cycleView,
	r: toggle('recursion'), d: switchTheme, n: () => nextMatch(),
	N: () => nextMatch(true), '?': () => byId('help').showModal(),
	t: () => {
		byId('functions').open = true;
		byId('functions').scrollIntoView();
		byId('functions').querySelector('summary').focus();
	}
};

const pageKey = (event) => {
	const { key } = event, control = event.ctrlKey || event.metaKey;
	const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
	if (control && /^f$/i.test(key)) {
		// A second time is the browser's own search.
		if (event.target == byId('search')) return;
		event.preventDefault();
		byId('search').select();
	} else if (key == 'F3') {
		event.preventDefault();
		nextMatch(event.shiftKey);
	} else if (key == 'Escape' && !byId('help').open) {
		if (state.search || matched) {
			state.search = byId('search').value = '';
			research();
		} else if (!typing) {
			zoomReset();
		}
		if (event.target == byId('search')) byId('graph').focus();
	} else if (!typing && !control && !event.altKey && pageKeys[key]) {
		event.preventDefault();
		pageKeys[key]();
	}
};

const startSearch = () => {
	const field = byId('search');
	let timer;
	on(field, 'input', () => {
		clearTimeout(timer);
		timer = setTimeout(() => {
			state.search = field.value;
			research();
		}, 80);
	});
	on(field, 'keydown', (event) => {
		if (event.key != 'Enter') return;
		clearTimeout(timer);
		if (state.search != field.value) {
			state.search = field.value;
			research();
		}
		nextMatch(event.shiftKey);
	});
	on(byId('next'), 'click', () => nextMatch());
	on(byId('previous'), 'click', () => nextMatch(true));
	on(byId('ignorecase'), 'click', toggle('ignoreCase', () => {
		syncControls();
		research();
	}));
};

const startControls = () => {
	fillControls();
	for (const id of ['type', 'profile', 'base', 'palette'])
		on(byId(id), 'change', () => {
			state[id] = +byId(id).value;
			renew();
		});
	for (const id of ['widths', 'normalize', 'view', 'sort'])
		on(byId(id), 'change', () => {
			state[id] = byId(id).value;
			renew();
		});
	on(byId('delta'), 'change', () => {
		state.deltaSelf = byId('delta').value == 'self';
		renew();
	});
	on(byId('step'), 'input', () => {
		state.profile = +byId('step').value;
		renew();
		say(nameOfProfile(state.profile) + ': ' + summary());
	});
	on(byId('reset'), 'click', zoomReset);
	on(byId('flip'), 'click', flip);
	on(byId('recursion'), 'click', toggle('recursion'));
	on(byId('theme'), 'click', switchTheme);
	on(byId('askhelp'), 'click', () => byId('help').showModal());
	on(byId('closehelp'), 'click', () => byId('help').close());
	on(byId('save'), 'click', () => {
		const at = byId('save').getBoundingClientRect();
		showMenu([['SVG of this view', saveSvg], ['PNG of this view', savePng],
			['Folded stacks of this view', saveFolded]], 'Save', at.left,
			at.bottom + 4);
	});
	on(byId('calltree'), 'toggle', drawCallTree);
	on(document, 'keydown', pageKey);
	on(darkMedia, 'change', drawLegend);
	startSearch();
};
