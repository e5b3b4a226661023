// SPDX-License-Identifier: Apache-2.0
//
// Unpacks what page_data.c wrote: numbers of five bits a character, the
// lowest first, from "?" on; 32 more says that another one follows.
let meta;
const names = [], modules = [''], files = [''];

// Of each frame, by row: bits of its kind, module, file and line.
const frames = {};
const UNKNOWN = 1, KERNEL = 2, JIT = 4, SYNTHETIC = 8;

// Nodes in pre-order. end: index after the subtree. Node 0 is the root.
const tree = { n: 0 };

// Lines of the columns that were not unpacked yet, and those that were.
let lines;
const columns = new Map();

const reader = (text) => {
	let at = 0;
	return () => {
		let c = text.charCodeAt(at++) - 63, value = c & 31, unit = 32;
		while (c > 31) {
			c = text.charCodeAt(at++) - 63;
			value += (c & 31) * unit;
			unit *= 32;
		}
		return value;
	};
};

// Each text says how much it shares with the one before it.
const unpackTexts = (list, to) => {
	let last = '';
	for (const text of list) {
		last = last.slice(0, text.charCodeAt(0) - 63) + text.slice(1);
		to.push(last);
	}
};

const unpackFrames = (line) => {
	const read = reader(line), n = names.length;
	frames.kind = new Uint8Array(n);
	frames.module = new Uint32Array(n);
	frames.file = new Uint32Array(n);
	frames.line = new Float64Array(n);
	for (let i = 0; i < n; i++) {
		frames.kind[i] = read();
		frames.module[i] = read();
		frames.file[i] = read();
		frames.line[i] = read();
	}
};

const unpackNodes = (line) => {
	const n = tree.n = meta.nodes, read = reader(line);
	const row = tree.row = new Uint32Array(n);
	const depth = tree.depth = new Uint32Array(n);
	const parent = tree.parent = new Uint32Array(n);
	const end = tree.end = new Uint32Array(n);
	const hasSelf = tree.hasSelf = new Uint8Array(n);
	// Innermost node that is open, and the ones above it by parent.
	let open = 0;
	hasSelf[0] = read();
	for (let i = 1; i < n; i++) {
		const v = read();
		for (let up = v >>> 1; up; up--) {
			end[open] = i;
			open = parent[open];
		}
		hasSelf[i] = v & 1;
		row[i] = read();
		parent[i] = open;
		depth[i] = depth[open] + 1;
		open = i;
	}
	for (; open; open = parent[open]) end[open] = n;
	end[0] = n;
};

// 1: inlined code, 2: both inlined and called; else 0.
const unpackInlined = (line) => {
	const read = reader(line);
	tree.inlined = new Uint8Array(tree.n);
	for (let left = read(), i = 0; left; left--) {
		const v = read();
		i += v >>> 1;
		tree.inlined[i] = 1 + (v & 1);
	}
};

// Values of one profile and type, node by node, and their variances: a
// number when each is that many times the value.
const column = (profile, type) => {
	const at = profile * meta.types.length + type;
	if (columns.has(at)) return columns.get(at);
	const about = meta.profiles[profile].columns[type];
	const unit = +about.unit.replace(/,/g, '');
	const self = new Float64Array(tree.n), line = lines.get(at);
	const read = reader(line.self);
	for (let i = 0; i < tree.n; i++) {
		if (!tree.hasSelf[i]) continue;
		const v = read();
		self[i] = unit * (!about.signed ? v : v % 2 ? -(v - 1) / 2 : v / 2);
	}
	let variance = about.variance;
	if (line.variance != null) {
		const readBits = reader(line.variance);
		const bits = new Uint32Array(1), value = new Float32Array(bits.buffer);
		variance = new Float64Array(tree.n);
		for (let i = 0; i < tree.n; i++) {
			if (!tree.hasSelf[i]) continue;
			bits[0] = readBits() << 12;
			variance[i] = value[0];
		}
	}
	const made = { self, variance, about };
	columns.set(at, made);
	return made;
};

const unpack = (text) => {
	const all = text.split('\n');
	let at = 0;
	unpackTexts(JSON.parse(all[at++]), names);
	unpackTexts(JSON.parse(all[at++]), modules);
	unpackTexts(JSON.parse(all[at++]), files);
	unpackFrames(all[at++]);
	unpackNodes(all[at++]);
	unpackInlined(all[at++]);
	lines = new Map();
	meta.profiles.forEach((profile, i) => profile.columns.forEach((about, j) => {
		const self = all[at++];
		lines.set(i * meta.types.length + j, { self,
			variance: about.variance == null ? all[at++] : null });
	}));
};

// gzip in base64, of data that is large.
const inflate = async (text) => {
	if (typeof DecompressionStream == 'undefined')
		throw Error('this browser cannot unpack the data (no ' +
			'DecompressionStream): open the report in a newer one');
	const raw = atob(text.trim());
	const bytes = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
	const stream = new Blob([bytes]).stream().pipeThrough(
		new DecompressionStream('gzip'));
	return new Response(stream).text();
};

const load = async () => {
	const data = byId('data');
	meta = JSON.parse(byId('meta').textContent);
	let text = data.textContent.slice(1);
	if (data.dataset.packed) text = await inflate(text);
	unpack(text);
	// The text is not needed a second time.
	data.remove();
};
