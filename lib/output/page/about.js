// SPDX-License-Identifier: Apache-2.0
//
// Where the numbers come from: inputs, build IDs, how well they are
// symbolized, how they were sampled, what was filtered.
const bare = (text) => +text.replace(/,/g, '');

const timeWords = (profile) => {
	const ns = bare(profile.time_ns), parts = [];
	if (ns > 0) parts.push('taken ' + new Date(ns / 1e6).toISOString());
	const seconds = bare(profile.duration_ns) / 1e9;
	if (seconds > 0) parts.push('over ' + decimals(seconds) + ' s');
	return parts.join(' ');
};

const samplingWords = (about, type) => ({
	heap: 'sampled once in ' + group(String(Math.round(about.rate))) +
		' bytes on average; ranges hold 95 % of what that leaves open',
	ticks: 'sampled; ranges hold 95 % of what counting leaves open',
	exact: about.variance ? 'counted samples; ranges hold 95 % of what ' +
		'counting leaves open' : 'every event counted, or nothing is known ' +
		'of the sampling: no error shown'
})[about.sampling] || type.name;

const mappingTable = (profile) => {
	const table = make('table', { class: 'mappings' });
	const head = make('tr'), body = make('tbody');
	table.append(make('caption', {}, 'Files of ' + profile.name +
		(profile.side ? ' (' + profile.side + ')' : '')), make('thead'), body);
	table.tHead.append(head);
	for (const text of ['File', 'Build ID', 'Addresses with a name', 'Verdict'])
		head.append(make('th', { scope: 'col' }, text));
	for (const map of profile.mappings) {
		const row = make('tr');
		row.append(make('th', { scope: 'row' }, map.file || '(in no file)'),
			make('td', { class: 'id' }, map.build_id || '\u2013'),
			make('td', { class: 'number' }, group(String(map.named)) + ' of ' +
				group(String(map.addresses))),
			make('td', {}, map.named == map.addresses ? 'symbolized' :
				map.named ? 'in part' : 'not symbolized'));
		body.append(row);
	}
	return table;
};

const fact = (list, name, text) => {
	if (text) list.append(make('dt', {}, name), make('dd', {}, text));
};

const profileFacts = (profile) => {
	const part = make('section'), list = make('dl');
	part.append(make('h3', {}, profile.name + (profile.side ?
		', side ' + profile.side : '')), list);
	fact(list, 'When', timeWords(profile));
	fact(list, 'Samples', plural(profile.samples, 'sample'));
	if (bare(profile.period)) fact(list, 'Period', profile.period + ' ' +
		profile.period_unit + ' of ' + profile.period_type);
	meta.types.forEach((type, i) => {
		const about = profile.columns[i];
		fact(list, type.name, about.total + ' ' + type.noun + ', ' +
			samplingWords(about, type) + (about.negative ? '; ' +
			plural(about.negative, 'negative stack') +
			' drawn by size and hatched' : '') + (about.shift ?
			'; values are rounded to multiples of ' + about.unit : '') +
			(about.clamped ? '; some sums stay at the limit of 64 bits' : ''));
	});
	for (const text of profile.comments) fact(list, 'Comment', text);
	if (profile.more_comments) fact(list, 'Comments',
		plural(profile.more_comments, 'more comment'));
	if (profile.mappings.length) part.append(mappingTable(profile));
	return part;
};

const startAbout = () => {
	const about = byId('facts'), list = make('dl');
	const made = { function: 'functions', filefunction: 'functions and files',
		line: 'functions and lines', file: 'files', address: 'addresses',
		module: 'mapped files' };
	fact(list, 'Made by', meta.generator);
	fact(list, 'Frames are', made[meta.by] + (meta.inlines ?
		', inlined calls apart' : ', inlined calls joined'));
	fact(list, 'Tree', plural(meta.nodes - 1, 'frame') + ' of ' +
		plural(meta.frames, 'function') + ', nothing left out; the deepest ' +
		'stack has ' + group(String(meta.deepest)));
	for (const note of meta.notes) fact(list, 'Note', note);
	about.append(list, ...meta.profiles.map(profileFacts));
};
