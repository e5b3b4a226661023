// SPDX-License-Identifier: Apache-2.0
//
// The HTML report of pprof-flame as people use it. What it draws is read
// from the SVG that it saves, numbers are summed up here from the input.
import { draw, equal, finish, folder, match, test, write } from './page.mjs';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const axe = readFileSync(createRequire(import.meta.url)
	.resolve('axe-core/axe.min.js'), 'utf8');

const small = `main;outer;inner 10
main;outer;x 30
main;other;inner 60
`;
// Sums of folded text: self and total of each name, a stack counted once.
const sumsOf = (text) => {
	const sums = {};
	for (const line of text.trim().split('\n')) {
		const [, stack, value] = /^(.*) (\d+)$/.exec(line);
		const frames = stack.split(';');
		for (const name of new Set(frames))
			(sums[name] ||= { self: 0, total: 0 }).total += +value;
		sums[frames[frames.length - 1]].self += +value;
	}
	return sums;
};

// Several profiles in one report.
const drawSeries = (name, texts, ...options) => {
	const files = texts.map((text, i) => {
		const file = join(folder, name + '.' + i + '.folded');
		writeFileSync(file, text);
		return file;
	});
	execFileSync('pprof-flame', ['-q', '--format=folded', ...options, '-o',
		join(folder, name), ...files]);
	return pathToFileURL(join(folder, name)).href;
};

const open = async (p, url) => {
	p.requests = [];
	p.page.on('request', (r) => p.requests.push(r.url()));
	p.page.on('console', (m) => m.type() == 'error' &&
		p.errors.push(m.text()));
	await p.open(url);
	await ready(p);
};
// Asked again and again: the page's policy has no eval, which is what
// waitForFunction() would wait with.
const until = async (frame, holds) => {
	for (let i = 0; i < 400; i++) {
		if (await frame.evaluate(holds)) return;
		await new Promise((done) => setTimeout(done, 25));
	}
	throw Error('waited in vain: ' + holds);
};
const isReady = () => document.documentElement.dataset.ready;
const ready = (p) => until(p.page, isReady);
const text = (p, what) => p.page.textContent(what);
const details = (p) => text(p, '#details');
const item = (p) => text(p, '#item');

// What a button of the menu "Save" gives.
const saved = async (p, what) => {
	await p.page.click('#save');
	const [download] = await Promise.all([p.page.waitForEvent('download'),
		p.page.click('#menu >> text=' + what)]);
	return readFileSync(await download.path(), what == 'PNG' ? null : 'utf8');
};
// Boxes of the present view: name, lines, place and width in px.
const boxes = async (p) => [...(await saved(p, 'SVG')).matchAll(
	/<title>([^<]*)<\/title><rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"/g)]
	.map(([, title, x, y, w]) => {
		const plain = title.replace(/&#(\d+);/g, (_, c) =>
			String.fromCharCode(c));
		return { name: plain.split('\n')[0], title: plain, x: +x,
			row: (+y - 24) / 18, w: +w };
	});
const find = async (p, name, nth = 0) => {
	const box = (await boxes(p)).filter((b) => b.name == name)[nth];
	if (!box) throw Error('no box ' + name);
	return box;
};
// Click a box, or what `button` and modifiers make of it.
const click = async (p, name, options, nth) => {
	const b = await find(p, name, nth);
	const at = await p.page.locator('#canvas').boundingBox();
	const top = await p.page.evaluate(() =>
		document.getElementById('scroller').scrollTop);
	await p.page.mouse.click(at.x + b.x + Math.min(b.w, 20) / 2,
		at.y + b.row * 18 + 8 - top, options);
};
const menu = async (p, name, what) => {
	await click(p, name, { button: 'right' });
	await p.page.click('#menu >> text=' + what);
};
const search = async (p, what) => {
	await p.press('/');
	await p.page.keyboard.type(what);
	await p.settle();
};
// The table: name, self, total, ..., without places and ranges.
const rows = async (p) => {
	await until(p.page, () => !document.querySelector('#table[aria-busy]'));
	return p.page.evaluate(() =>
		[...document.querySelectorAll('#table tbody tr')].map((tr) =>
			[...tr.children].map((cell) => (cell.querySelector('.value') ||
				cell.querySelector('.name') || cell).textContent)));
};
const axeFinds = async (p) => {
	await p.page.evaluate(axe);
	return p.page.evaluate(async () => (await axe.run(document, {
		runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']
	})).violations.map((v) => v.id + ': ' + v.nodes.map((n) =>
		n.target.join(' ') + ' ' + n.failureSummary).join('; ')));
};

const one = draw('one.html', small);

await test('one file, nothing fetched, all of the tree', async (p) => {
	await open(p, one);
	equal('requests', p.requests.filter((u) => /^https?:/.test(u)), []);
	equal('title', await text(p, '#totals'), 'samples: 100 samples');
	equal('boxes', (await boxes(p)).map((b) => [b.name, b.row]), [['all', 0],
		['main', 1], ['other', 2], ['outer', 2], ['inner', 3], ['inner', 3],
		['x', 3]]);
	const width = (await find(p, 'all')).w;
	const w = (await find(p, 'outer')).w / width;
	equal('width of outer', Math.abs(w - .4) < .005, true);
	match('tooltip', (await find(p, 'x')).title,
		/^x\n30 samples, 30%, all self\n75% of its caller/);
	match('summary', await item(p), /^all; 100 samples, 100%/);
});

await test('zoom, Back, links', async (p) => {
	await open(p, one);
	await click(p, 'outer');
	const width = (await find(p, 'all')).w;
	equal('in view', (await boxes(p)).map((b) => b.name),
		['all', 'main', 'outer', 'inner', 'x']);
	equal('fills', (await find(p, 'outer')).w, width);
	equal('a quarter', Math.round((await find(p, 'inner')).w / width * 100), 25);
	const link = await p.page.evaluate(() => location.href);
	match('link', link, /#z=/);
	await p.page.goBack();
	equal('back', (await boxes(p)).length, 7);
	await p.page.goForward();
	equal('forward', (await boxes(p)).length, 5);
	await p.page.click('#reset');
	equal('reset', (await boxes(p)).length, 7);
	await open(p, link);
	equal('from the link', (await boxes(p)).length, 5);
	// A report made anew: the link leads as far as it can.
	const other = draw('other.html', small.replace(/outer;x/, 'new;x') +
		'a 5\n');
	await open(p, other + new URL(link).hash);
	equal('the same box', (await boxes(p)).map((b) => b.name),
		['all', 'main', 'outer', 'inner']);
	const gone = draw('gone.html', 'main;other;inner 60\nb 1\n');
	await open(p, gone + new URL(link).hash + '&search=inner');
	match('says so', await text(p, '#status'), /not in this report/);
	equal('as far as it goes', (await boxes(p)).map((b) => b.name),
		['all', 'main', 'other', 'inner']);
});

await test('links that are broken do no harm', async (p) => {
	for (const hash of ['#z=9/..', '#%ff=%', '#type=99&view=evil&filters=[1',
		'#profile=-3&base=x&palette=1e9&filters={"how":1}', '#__proto__=1&z=x'])
		await open(p, one + hash);
	equal('boxes', (await boxes(p)).length, 7);
});

await test('search counts what is in view, exactly', async (p) => {
	await open(p, one);
	await search(p, 'inner');
	equal('of all', await details(p),
		'1 function, 2 frames, 70% of view, self 70%');
	await p.press('Escape');
	await click(p, 'outer');
	await search(p, 'inner');
	equal('of view', await details(p),
		'1 function, 1 frame, 25% of view (70% of all), self 25%');
	equal('table', (await rows(p)).map((r) => r[0]), ['inner']);
	await p.press('Escape');
	await p.page.click('#reset');
	await search(p, 'inner(');
	match('no expression', await details(p),
		/^no regular expression, searched as text: 0 functions/);
	await p.press('Escape');
	await search(p, 'INNER');
	match('capitals', await details(p), /^0 functions/);
	await p.page.click('#ignorecase');
	match('ignored', await details(p), /^1 function, 2 frames/);
	await p.press('/', 'Enter');
	match('next', await item(p), /^inner; 60/);
	await p.page.click('#next');
	match('next but one', await item(p), /^inner; 10/);
	match('link', await p.hash(), /search=INNER/);
});

await test('keyboard and menu without a pointer', async (p) => {
	await open(p, one);
	await p.page.focus('#graph');
	await p.press('ArrowDown', 'ArrowDown');
	match('widest child', await item(p), /^other; 60 samples, 60%/);
	await p.press('ArrowRight');
	match('right', await item(p), /^outer; /);
	equal('level', await p.page.getAttribute('#item', 'aria-level'), '3');
	equal('position', await p.page.evaluate(() => ['posinset', 'setsize'].map(
		(a) => document.getElementById('item').getAttribute('aria-' + a))),
		['2', '2']);
	await p.press('Enter');
	equal('zoomed', (await boxes(p)).length, 5);
	await p.page.focus('#graph');
	await p.press('u', 'u');
	equal('up', (await boxes(p)).length, 7);
	await p.page.focus('#graph');
	await p.press('ArrowDown', 'End', 'Shift+F10');
	equal('menu', await p.page.evaluate(() =>
		document.activeElement.textContent), 'Zoom');
	await p.press('End', 'ArrowUp', 'Escape');
	equal('focus returns', await p.page.evaluate(() =>
		document.activeElement.id), 'graph');
	// i: the root at the foot, and arrows go by what is seen.
	await p.press('0', 'i', 'ArrowUp');
	match('up is to the leaves', await item(p), /^main; /);
	equal('root below', (await find(p, 'all')).row, 3);
	await p.press('?');
	equal('help', await p.page.evaluate(() =>
		document.getElementById('help').open), true);
	await p.press('Escape', 't');
	equal('table', await p.page.evaluate(() =>
		document.activeElement.parentNode.id), 'functions');
});

const heavy = `main;a;f 100
main;a;f;g;f 50
main;b;f 30
main;b;g 7
main;c;c;c;leaf 13
main;c 1
`;

await test('the table has the sums of the input', async (p) => {
	await open(p, draw('table.html', heavy));
	const sums = sumsOf(heavy);
	const got = Object.fromEntries((await rows(p)).map(([name, self, total]) =>
		[name, { self: parseInt(self), total: parseInt(total) }]));
	const expected = Object.fromEntries(Object.keys(got).map((k) =>
		[k, sums[k]]));
	equal('sums', got, expected);
	equal('functions', Object.keys(got).length, Object.keys(sums).length);
	equal('sorted by self', (await rows(p)).map((r) => r[0]).slice(0, 3),
		['f', 'leaf', 'g']);
	await p.page.click('#table thead >> text=Total');
	equal('by total', (await rows(p)).map((r) => r[0]).slice(0, 3),
		['main', 'f', 'a']);
	equal('said', await p.page.getAttribute('#table th:nth-child(3)',
		'aria-sort'), 'descending');
	await p.press('Enter');
	equal('rising', (await rows(p))[0][0], 'leaf');
	// As pprof-report has them.
	const report = execFileSync('pprof-report', ['-q', 'top', '--format=folded',
		join(folder, 'table.html.folded')], { encoding: 'utf8' });
	for (const [name, { self, total }] of Object.entries(got))
		match('pprof-report', report, RegExp('^ *' + self + ' .* ' + total +
			' +\\S+ +' + name + '$', 'm'));
});

await test('callers, sandwich, recursion', async (p) => {
	await open(p, draw('views.html', heavy));
	await p.page.selectOption('#view', 'callers');
	equal('self of each', (await boxes(p)).filter((b) => b.row == 1).map((b) =>
		b.title.match(/^(\w+)\n(\d+)/).slice(1)), [['c', '1'], ['f', '180'],
		['g', '7'], ['leaf', '13']]);
	equal('callers of f', (await boxes(p)).filter((b) => b.row == 2 &&
		b.name != 'c' && b.name != 'main').map((b) =>
		b.title.match(/^(\w+)\n(\d+)/).slice(1)),
		[['a', '100'], ['b', '30'], ['g', '50'], ['b', '7']]);
	await search(p, '^a$');
	match('stacks through a', await details(p),
		/^1 function, 74.63% of view/);
	await p.press('Escape');
	await p.page.selectOption('#view', 'calls');
	await menu(p, 'g', 'Callers and callees');
	const seen = (await boxes(p)).map((b) => [b.row, ...b.title.match(
		/^(\w+)\n(\d+)/).slice(1)]);
	// Rows from the top: main, a and b, f, g, f. Recursion counts once.
	equal('sandwich', seen.sort(), [[0, 'main', '50'], [1, 'a', '50'],
		[1, 'main', '7'], [2, 'b', '7'], [2, 'f', '50'], [3, 'g', '57'],
		[4, 'f', '50']]);
	await p.page.selectOption('#view', 'calls');
	await p.page.click('#recursion');
	const c = await find(p, 'c (3 levels of recursion)');
	match('joined', c.title, /\n14 samples, 6.97%, self 1 sample/);
	match('leaf below', (await find(p, 'leaf')).title, /13 samples/);
	equal('row of leaf', (await find(p, 'leaf')).row, 3);
});

await test('focus, ignore, hide and what they leave', async (p) => {
	await open(p, draw('filters.html', heavy));
	await menu(p, 'g', 'Focus');
	match('focus', await text(p, '#totals'), /^samples: 57 samples of 201/);
	equal('folded', (await saved(p, 'Folded')).trim().split('\n'),
		['main;a;f;g;f 50', 'main;b;g 7']);
	await menu(p, 'a', 'Ignore');
	equal('ignore', await saved(p, 'Folded'), 'main;b;g 7\n');
	await p.page.click('#filters button');
	match('one is left', await text(p, '#totals'), /^samples: 51 samples/);
	await p.page.click('#filters button');
	equal('none', await text(p, '#totals'), 'samples: 201 samples');
	await menu(p, 'f', 'Hide');
	match('what f had is its callers\'', (await find(p, 'a')).title,
		/^a\n150 samples, 74.63%, self 100 samples/);
	equal('hidden', (await boxes(p)).filter((b) => b.name == 'f').length, 0);
	equal('not in the table', (await rows(p)).map((r) => r[0]).includes('f'),
		false);
	await p.page.click('#reset', { force: true, timeout: 500 }).catch(() => 0);
	match('link keeps it', decodeURIComponent(await p.hash()), /hide/);
	await p.page.reload();
	await ready(p);
	equal('still', (await boxes(p)).filter((b) => b.name == 'f').length, 0);
});

await test('copy, source links, PNG', async (p, context) => {
	await context.grantPermissions(['clipboard-read', 'clipboard-write']);
	// What the clipboard holds, once it is no more what it was.
	let before = '';
	const clip = async () => {
		let now = before;
		for (let i = 0; i < 400 && now == before; i++)
			now = await p.page.evaluate(() =>
				navigator.clipboard.readText());
		return before = now;
	};
	await open(p, one);
	await click(p, 'x', { button: 'right' });
	equal('no source', await p.page.locator('#menu >> text=source').count(), 0);
	await p.page.click('#menu >> text=Copy name');
	equal('name', await clip(), 'x');
	await menu(p, 'x', 'Copy stack');
	equal('stack', await clip(), 'main;outer;x 30');
	await click(p, 'outer', { modifiers: ['Shift'] });
	const png = await saved(p, 'PNG');
	equal('PNG', png.subarray(1, 4).toString(), 'PNG');
});

const A = `parent;first 100
parent;second 100
parent2 300
m;gone 100
`, B = `parent;first 300
parent;second 300
parent2 300
m;fresh 50
`;

await test('difference: three values, all widths, gone and new', async (p) => {
	await open(p, drawSeries('diff.html', [A, B], '--normalize=none'));
	match('totals', await text(p, '#totals'),
		/^samples: B 950 samples against A 600 samples, not scaled: \+350 samples \(\+58.3% of A/);
	match('parent', (await find(p, 'parent')).title,
		/B 600 samples, 63.16%\nA 200 samples, 33.33%\n\+400 samples \(\+200% of A; \+29.82 points\)/);
	match('same', (await find(p, 'parent2')).title, /no change/);
	match('new', (await find(p, 'fresh')).title, /\(new; /);
	match('gone is told', await text(p, '#note'),
		/Only in A \(gone\): 100 samples, 16.67% of A/);
	await p.page.selectOption('#widths', 'union');
	match('gone is seen', (await find(p, 'gone')).title,
		/B 0 samples.*\nA 100 samples.*\n-100 samples \(gone/s);
	const all = await find(p, 'all');
	equal('union', Math.round((await find(p, 'parent')).w / all.w * 1050), 600);
	await p.page.selectOption('#widths', 'a');
	equal('A', Math.round((await find(p, 'parent')).w / all.w * 600), 200);
	await p.page.selectOption('#widths', 'delta');
	equal('delta', Math.round((await find(p, 'gone')).w / all.w * 550), 100);
	equal('table', (await rows(p)).find((r) => r[0] == 'gone'),
		['gone', '0 samples', '0 samples', '100 samples',
			'\u25bc -100 samples, gone']);
	// Either alone, and the other way round.
	await p.page.selectOption('#base', '-1');
	equal('B alone', await text(p, '#totals'), 'samples: 950 samples');
	await p.page.selectOption('#profile', '0');
	await p.page.selectOption('#base', '1');
	match('swapped', await text(p, '#totals'), /^samples: B 600 .* A 950/);
	// One tenth of the rate is no change once scaled.
	await open(p, drawSeries('rate.html', ['w;x 900\nw;y 100\n',
		'w;x 90\nw;y 10\n']));
	match('scaled', await text(p, '#totals'), /A scaled \u00d70.1: no change/);
	match('neutral', (await find(p, 'x')).title, /no change/);
});

await test('a series with a slider', async (p) => {
	await open(p, drawSeries('series.html', ['a;b 10\n', 'a;b 20\na;c 5\n',
		'a;c 40\n']));
	equal('the last', await text(p, '#totals'), 'samples: 40 samples');
	await p.page.focus('#step');
	await p.press('ArrowLeft');
	equal('before', await text(p, '#totals'), 'samples: 25 samples');
	match('named', await p.page.getAttribute('#step', 'aria-valuetext'),
		/series.html.1.folded$/);
	await p.press('Home');
	equal('first', (await boxes(p)).map((b) => b.name), ['all', 'a', 'b']);
	await p.page.selectOption('#base', '2');
	match('any two', await text(p, '#totals'), /B 10 samples against A 40/);
});

await test('sample types of a heap, with the error of sampling', async (p) => {
	const heap = `heap_v2/524288
  t*: 8: 8192 [0: 0]
  t0: 8: 8192 [0: 0]
@ 0x1000 0x2000
  t*: 5: 5120 [0: 0]
  t0: 5: 5120 [0: 0]
@ 0x1000 0x3000
  t*: 3: 3072 [0: 0]
  t0: 3: 3072 [0: 0]
`;
	writeFileSync(join(folder, 'in.heap'), heap);
	execFileSync('pprof-flame', ['-q', '-o', join(folder, 'heap.html'),
		join(folder, 'in.heap')]);
	await open(p, pathToFileURL(join(folder, 'heap.html')).href);
	// Each block stands for 1 / (1 - e^(-1024/524288)).
	const scale = 1 / -Math.expm1(-1024 / 524288);
	const grouped = (n) => Math.round(n).toLocaleString('en');
	match('bytes', await text(p, '#totals'), RegExp('^inuse_space: 4 MiB \\(' +
		grouped(8192 * scale).slice(0, 3)));
	const options = await p.page.locator('#type option').allTextContents();
	equal('types', options, ['inuse_objects', 'inuse_space', 'alloc_objects',
		'alloc_space'].slice(0, options.length));
	await p.page.selectOption('#type', '0');
	match('objects', await text(p, '#totals'), RegExp('^inuse_objects: ' +
		grouped(5 * scale + 3 * scale).slice(0, 3)));
	await rows(p);
	// 95 % of 8 sampled blocks: 4.05 to 15.8 of them.
	const [low, high] = (await p.page.evaluate(() =>
		document.querySelector('#table tbody tr .range').textContent))
		.split(' \u2013 ').map((s) => parseInt(s.replace(/,/g, '')));
	equal('range', [low / scale, high / scale].map((v) =>
		Math.round(v * 10) / 10), [4.1, 15.8]);
});

await test('hostile names are shown, not run', async (p) => {
	const bytes = [];
	for (let c = 1; c < 256; c++) if (c != 10 && c != 13 && c != 59)
		bytes.push(c);
	const evil = ['<img src=x onerror=alert(1)>', '</script><script>alert(2)' +
		'</script>', '<!--<script>', ']]>', '${alert(3)}', '__proto__',
		'constructor', '\\u003c', '"\'`&amp', '\u202eevil\u2066', '\u200bzero'];
	const file = join(folder, 'hostile.folded');
	writeFileSync(file, Buffer.concat([...evil.map((e) => Buffer.from('r;' + e +
		' 10\n')), Buffer.from('r;all '), Buffer.from(bytes),
	Buffer.from('end 10\n')].map((b) => b)));
	execFileSync('pprof-flame', ['-q', '--format=folded', '--title', evil[1],
		'--subtitle', evil[0], '--notes', evil[0], '-o',
		join(folder, 'hostile.html'), file]);
	let dialogs = 0;
	p.page.on('dialog', (d) => {
		dialogs++;
		d.dismiss();
	});
	await open(p, pathToFileURL(join(folder, 'hostile.html')).href);
	await p.page.click('#calltree summary');
	await p.page.click('#about summary');
	equal('title', await text(p, '#title'), evil[1]);
	const got = (await rows(p)).map((r) => r[0]);
	for (const name of evil.slice(0, 9))
		equal(name, got.includes(name), true);
	equal('bidi', got.includes('\\u202eevil\\u2066'), true);
	equal('zero width', got.includes('\\u200bzero'), true);
	equal('bytes', got.some((n) => /^all \\x01.*\\x1b.*\\x7f.*\\xff/.test(n)),
		true);
	for (const name of evil.slice(0, 3)) {
		await menu(p, name, 'Focus');
		equal('in a filter', (await boxes(p)).some((b) => b.name == name), true);
		await p.page.click('#filters button');
	}
	equal('dialogs', dialogs, 0);
	equal('elements', await p.page.evaluate(() =>
		document.querySelectorAll('img, script:not([id])').length), 1);
});

await test('50,000 frames deep', async (p) => {
	const deep = 'a;b;'.repeat(25000) + 'leaf 7\n';
	await open(p, draw('deep.html', deep + 'c 1\n', '--max', 'frames=60000'));
	await p.page.evaluate(() => {
		document.getElementById('scroller').scrollTop = 1e9;
	});
	await p.page.waitForTimeout(200);
	const at = await p.page.locator('#scroller').boundingBox();
	await p.page.mouse.move(at.x + 20, at.y + at.height - 12);
	match('the last', await text(p, '#tip'), /^leaf7 samples/);
	await p.page.click('#reset', { force: true, timeout: 500 }).catch(() => 0);
	await p.page.selectOption('#view', 'callers');
	match('callers', await text(p, '#totals'), /8 samples/);
	await p.page.click('#recursion');
	equal('folded', (await saved(p, 'Folded')).length, deep.length + 4);
});

await test('100,000 siblings, values beyond 2^53, nothing at all', async (p) => {
	let wide = '';
	for (let i = 0; i < 100000; i++) wide += 'r;s' + i + ' 1\n';
	await open(p, draw('wide.html', wide));
	equal('all', await text(p, '#totals'), 'samples: 100,000 samples');
	await search(p, '9999');
	match('found', await details(p), /^19 functions, 19 frames, 0.02% of view/);
	await open(p, draw('large.html', 'a;b 9223372036854775807\n' +
		'a;c 9223372036854775807\n'));
	equal('exact', await text(p, '#totals'),
		'samples: 18,446,744,073,709,551,614 samples');
	match('half', (await find(p, 'b')).title, /50%/);
	await open(p, draw('none.html', 'a;b 0\n'));
	match('empty', await text(p, '#note'), /^No samples: /);
});

await test('negative values are drawn by size, and said', async (p) => {
	await open(p, draw('negative.html', 'a;b 100\na;c -40\n'));
	equal('net', await text(p, '#totals'), 'samples: 60 samples');
	const all = await find(p, 'all');
	equal('width', Math.round((await find(p, 'c')).w / all.w * 140), 40);
	match('sign', (await find(p, 'c')).title, /^c\n-40 samples/);
	match('told', await text(p, '#facts'), /1 negative stack drawn by size/);
});

await test('where scripts are not run it has the largest functions', async (p) => {
	await p.open(one);
	match('total', await p.page.locator('body').innerText(), /100 samples/);
	match('top', await p.page.locator('table').first().innerText(),
		/70 samples\s+inner\s+30 samples\s+x/);
}, { javaScriptEnabled: false });

await test('in a sandboxed frame, and packed', async (p) => {
	const packed = draw('packed.html', small, '--compress');
	await open(p, packed);
	equal('packed', (await boxes(p)).length, 7);
	const html = readFileSync(join(folder, 'one.html'), 'utf8');
	const url = write('frame.html', '<!DOCTYPE html><title>f</title><iframe ' +
		'sandbox="allow-scripts" width="900" height="500" srcdoc="' +
		html.replace(/&/g, '&amp;').replace(/"/g, '&quot;') + '"></iframe>');
	await p.open(url);
	const frame = await (await p.page.waitForSelector('iframe')).contentFrame();
	await until(frame, isReady);
	await frame.fill('#search', 'inner');
	await p.settle();
	equal('search', await frame.textContent('#details'),
		'1 function, 2 frames, 70% of view, self 70%');
});

await test('style and script are the same in all, as --csp says', async () => {
	const parts = (name) => {
		const html = readFileSync(join(folder, name), 'utf8');
		return [/<style>[^]*?<\/style>/, /<script>[^]*<\/script>/,
			/<meta http-equiv[^>]*>/].map((re) => re.exec(html)[0]);
	};
	equal('parts', parts('one.html'), parts('hostile.html'));
	const policy = execFileSync('pprof-flame', ['--to=html', '--csp',
		join(folder, 'one.html.folded')], { encoding: 'utf8' });
	for (const [, hash] of policy.matchAll(/('sha256-[^']*')/g))
		equal(hash, parts('one.html')[2].includes(hash), true);
	equal('two', policy.match(/sha256/g).length, 2);
});

await test('an HTML validator finds nothing', async () => {
	const { HtmlValidate } = await import('html-validate');
	const validate = new HtmlValidate({ extends: ['html-validate:recommended'] });
	for (const name of ['one', 'diff', 'series', 'heap', 'hostile', 'packed']) {
		const found = await validate.validateFile(join(folder, name + '.html'));
		equal(name, found.results.flatMap((r) => r.messages.map((m) =>
			m.line + ': ' + m.message)), []);
	}
});

const looks = { light: {}, dark: { colorScheme: 'dark' },
	narrow: { viewport: { width: 400, height: 700 } },
	forced: { forcedColors: 'active' } };
for (const look in looks)
	await test('axe finds nothing: ' + look, async (p) => {
		await open(p, one);
		equal('page', await axeFinds(p), []);
		await p.page.click('#calltree summary');
		await p.page.click('#about summary');
		await search(p, 'inner');
		equal('open', await axeFinds(p), []);
		await p.press('Escape');
		await click(p, 'outer', { button: 'right' });
		equal('menu', await axeFinds(p), []);
		await p.press('Escape', '?');
		equal('help', await axeFinds(p), []);
		await open(p, pathToFileURL(join(folder, 'diff.html')).href);
		equal('difference', await axeFinds(p), []);
	}, looks[look]);

await test('dark mode follows the system, then the button', async (p) => {
	await open(p, one);
	const page = () => p.page.evaluate(() =>
		getComputedStyle(document.body).backgroundColor);
	equal('dark', await page(), 'rgb(22, 24, 29)');
	await p.page.click('#theme');
	equal('light', await page(), 'rgb(255, 255, 255)');
	await p.page.emulateMedia({ media: 'print' });
	equal('print', await page(), 'rgb(255, 255, 255)');
}, { colorScheme: 'dark' });

await finish();
