// SPDX-License-Identifier: Apache-2.0
//
// Unpack, begin as the report's maker wanted it, then as the link says.
const startWith = () => {
	const last = meta.profiles.length - 1;
	Object.assign(state, { type: meta.type, profile: last, view: meta.view,
		pivot: meta.pivot, sort: meta.sort, widths: meta.widths,
		normalize: meta.factor > 0 ? 'factor' : meta.normalize,
		deltaSelf: meta.delta_self,
		theme: meta.theme == 'auto' ? '' : meta.theme });
	// Before and after; the two sides of one profile stand at the end.
	if (meta.diff) state.base = meta.profiles[last].side ? last - 1 : 0;
};

const begin = async () => {
	const begun = performance.now();
	try {
		await load();
	} catch (e) {
		byId('note').textContent = 'The report cannot be shown: ' + e.message;
		return;
	}
	byId('title').textContent = meta.title;
	byId('subtitle').textContent = meta.subtitle;
	byId('subtitle').hidden = !meta.subtitle;
	startWith();
	startControls();
	startGraph();
	startTable();
	startMenu();
	startAbout();
	startLinks();
	try {
		state.theme = localStorage.getItem('pprof-theme') || state.theme;
	} catch (e) {
		// This page may keep nothing.
	}
	readLink();
	document.documentElement.dataset.ready =
		Math.round(performance.now() - begun);
};
begin();
})();
