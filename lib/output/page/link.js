// SPDX-License-Identifier: Apache-2.0
//
// The state in the address, behind "#": links that can be sent, and the
// Back button. A path of zoom is a hash of each name, so that it is found
// again in another report of the same program, or as far as it goes.
// Frames without an address of their own refuse all of this, silently.
const hashOf = (text) => {
	let hash = 0x811c9dc5;
	for (let i = 0; i < text.length; i++)
		hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
	return ((hash ^ hash >>> 16) >>> 0).toString(36).slice(-5);
};

const MOST_LEVELS = 400;
let quietly = false, startState;

const linkText = () => {
	const link = new URLSearchParams(), { zoom } = zoomNow();
	const plain = JSON.parse(startState);
	for (const key in plain) {
		const value = state[key];
		if (JSON.stringify(value) != JSON.stringify(plain[key]))
			link.set(key, typeof value == 'object' ? JSON.stringify(value) :
				String(value));
	}
	const path = pathOf(zoom).filter((b) => b.row >= 0);
	if (path.length && path.length < MOST_LEVELS)
		link.set('z', (panels.indexOf(zoomNow()) || '') + '/' +
			path.map((b) => hashOf(nameOf(b))).join('.'));
	return '#' + link;
};

const saveLink = (push) => {
	if (quietly) return;
	try {
		const text = linkText();
		if (text == (location.hash || '#')) return;
		history[push ? 'pushState' : 'replaceState'](null, '', text);
	} catch (e) {
		// No address of its own: nothing to keep it in.
	}
};

// Only what the state has, and only of the same type; null: not one.
const takeValue = (key, text) => {
	const old = state[key];
	if (key == 'filters') {
		const list = JSON.parse(text);
		return list.filter((f) => /^(focus|ignore|hide)$/.test(f.how) &&
			typeof f.what == 'string');
	}
	if (typeof old == 'boolean') return text == 'true';
	if (typeof old == 'string') return text;
	const most = { type: meta.types, profile: meta.profiles,
		base: meta.profiles, palette: meta.palettes }[key].length;
	return Number.isInteger(+text) && +text < most && +text >=
		(key == 'base' ? -1 : 0) ? +text : null;
};

const choices = { widths: /^(b|a|union|delta)$/,
	view: /^(calls|callers|sandwich)$/, sort: /^(name|value)$/,
	normalize: /^(auto|none|total|rate|factor)$/, theme: /^(|light|dark)$/ };

const followPath = (text) => {
	const [which, path] = text.split('/');
	let box = (panels[+which || 0] || panels[0]).root, isCut = false;
	for (const hash of (path || '').split('.')) {
		const next = kidsOf(box).find((kid) => hashOf(nameOf(kid)) == hash);
		if (!next) {
			isCut = true;
			break;
		}
		box = next;
	}
	if (box.up) zoomTo(box, true);
	if (isCut) say('the link goes on to what is not in this report');
};

const readLink = () => {
	let link;
	try {
		link = new URLSearchParams(location.hash.slice(1));
	} catch (e) {
		return;
	}
	Object.assign(state, JSON.parse(startState));
	for (const [key, text] of link) {
		if (!(key in state)) continue;
		try {
			const value = takeValue(key, text);
			if (value != null && !(choices[key] && !choices[key].test(value)))
				state[key] = value;
		} catch (e) {
			say('a part of the link cannot be read: ' + key);
		}
	}
	quietly = true;
	panels = [];
	renew();
	if (link.get('z')) followPath(link.get('z'));
	quietly = false;
};

const startLinks = () => {
	startState = JSON.stringify(state);
	on(window, 'popstate hashchange', readLink);
};
