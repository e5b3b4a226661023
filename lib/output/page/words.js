// SPDX-License-Identifier: Apache-2.0
//
// Values in words, as lib/view/units.c has them.
const group = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ',');

const plural = (n, noun) => group(String(n)) + ' ' + noun + (n == 1 ? '' : 's');

// At most two decimals; none when both are 0.
const decimals = (v) => v.toFixed(2).replace(/\.00$/, '');

// A unit can be divided by a power of ten: "count/1000".
const exact = (v, type) => {
	const of = (s) => /^(.*)\/1(0+)$/.exec(s) || [0, s, ''];
	const places = of(type.unit)[2].length, noun = of(type.noun)[1];
	const size = Math.abs(v);
	let text = group(String(Math.floor(size / 10 ** places)));
	if (size >= 1e21) text = size.toPrecision(6);
	const rest = places ? String(size % 10 ** places).padStart(places, '0')
		.replace(/0+$/, '') : size % 1 && size < 1e6 ?
		(size % 1).toFixed(3).slice(2).replace(/0+$/, '') : '';
	return (v < 0 ? '-' : '') + text + (rest ? '.' + rest : '') +
		(noun ? ' ' + (size == 1 && /...s$/.test(noun) ? noun.slice(0, -1) :
			noun) : '');
};

const scaled = (v, type) => {
	const size = Math.abs(v);
	let best;
	for (const step of type.steps) if (size >= step[0]) best = step;
	if (!best || best[0] == 1) return '';
	return decimals(v / best[0]) + ' ' + best[1];
};

const brief = (v, type) => scaled(v, type) || exact(Math.round(v), type);

const words = (v, type) => {
	const short = scaled(v, type);
	return short ? short + ' (' + exact(Math.round(v), type) + ')' :
		exact(v, type);
};

const share = (v, of) => (of ? Math.round(v / of * 1e4) / 100 : 0) + '%';

const signed = (text, v) => (v > 0 ? '+' : '') + text;

// Score interval of 95 % around a sum (docs/ARCHITECTURE.md, heap numbers).
const Z = 1.959964;
const interval = (sum, variance) => {
	const size = Math.abs(sum), g = size ? variance / size : 0;
	const middle = size + Z * Z * g / 2;
	const half = Z * Math.sqrt(size * g + Z * Z * g * g / 4);
	const [low, high] = [Math.max(0, middle - half), middle + half];
	return sum < 0 ? [-high, -low] : [low, high];
};
