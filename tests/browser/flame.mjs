// SPDX-License-Identifier: Apache-2.0
//
// The SVG of pprof-flame as people use it.
import { draw, equal, finish, folder, match, test, write } from './page.mjs';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const small = draw('small.svg', `main;outer;inner 10
main;outer;x 30
main;other;inner 60
`);
const names = `main;a;std::vector<std::pair<std::string,int>>::push_back(std::pair<std::string,int>&&) 40
main;a;github.com/acme/app/pkg/http.(*Server).ServeHTTP 40
main;a;foo::operator<<(std::ostream&, foo::bar<int> const&) 40
main;a;<T as core::fmt::Display>::fmt 40
main;a;foo::<impl Bar for Baz<u8>>::run 40
main;a;(anonymous namespace)::helper(int, char*) const 40
main;b;a.b.C.method 40
main;b;some_long_function_name.constprop.0 40
main;b;void ns::run<int>(std::function<void (int)>) 40
main;b;ns::{lambda(int)#1}::operator()(int) const 40
main;b;sync.(*Pool[go.shape.int]).Get 40
main;b;x->y;z 40
main;c 3
`;
const svgText = (name) => readFileSync(join(folder, name), 'utf8');
const inline = (...pictures) => '<!DOCTYPE html><title>two</title><body>' +
	pictures.map((s) => s.replace(/^<\?xml.*\?>/, '')).join('\n');

await test('complete without script', async (p) => {
	await p.open(small);
	const seen = await p.page.evaluate(() => [
		document.querySelectorAll('.bt, .det').length,
		document.querySelector('.hint').textContent]);
	equal('tools', seen[0], 0);
	match('hint', seen[1], /in a browser/);
	equal('labels', (await p.labels()).length, 7);
}, { javaScriptEnabled: false });

await test('a click zooms, Back and Reset return', async (p) => {
	await p.open(small);
	equal('boxes', (await p.boxes()).length, 7);
	const before = await p.labels();
	await p.click('outer');
	const outer = await p.box('outer');
	equal('fills the view', [Math.round(outer.x), Math.round(outer.w)],
		[0, 1180]);
	equal('in view', (await p.boxes()).map((b) => b.name),
		['all', 'main', 'outer', 'inner', 'x']);
	const inner = await p.box('inner'), x = await p.box('x');
	equal('a quarter', Math.round(inner.w), 295);
	equal('gap', Math.abs(x.x - inner.x - inner.w - .5) < .2, true);
	match('link', await p.hash(), /^#z=0\w\w\.1\w\w$/);
	equal('dimmed rows', await p.page.evaluate(() =>
		document.querySelectorAll('.rows .d').length), 2);
	await p.page.goBack();
	equal('back', (await p.boxes()).length, 7);
	equal('labels', await p.labels(), before);
	await p.page.goForward();
	equal('forward', (await p.boxes()).length, 5);
	await p.press('0');
	equal('reset', await p.labels(), before);
});

await test('a drag is no click', async (p) => {
	await p.open(small);
	const b = await p.box('outer');
	await p.page.mouse.move(b.x + 30, b.y + 5);
	await p.page.mouse.down();
	await p.page.mouse.move(b.x + 60, b.y + 5);
	await p.page.mouse.up();
	equal('boxes', (await p.boxes()).length, 7);
});

await test('labels of the script are those of the writer', async (p) => {
	const flame = draw('names.svg', names);
	const icicle = draw('icicle.svg', names, '--icicle');
	await p.open(flame);
	const expected = await p.labels();
	await p.open(icicle);
	await p.press('i');
	equal('turned', await p.labels(), expected);
	await p.open(flame);
	await p.press('i');
	const turned = await p.labels();
	await p.open(icicle);
	equal('icicle', turned, await p.labels());
	for (const width of [700, 1000, 1600]) {
		const fixed = draw('w.svg', names, '--width=' + width);
		await p.page.setViewportSize({ width, height: 400 });
		await p.open(fixed);
		const wanted = await p.labels();
		await p.open(flame);
		equal('at ' + width, await p.labels(), wanted);
	}
});

await test('the picture takes the width of the window', async (p) => {
	await p.page.setViewportSize({ width: 800, height: 400 });
	await p.open(small);
	equal('root', Math.round((await p.box('all')).w), 780);
	await p.page.setViewportSize({ width: 1500, height: 400 });
	await p.page.waitForTimeout(50);
	equal('wider', Math.round((await p.box('all')).w), 1480);
	await p.open(draw('fixed.svg', 'a 1\n', '--width=500'));
	equal('fixed', Math.round((await p.box('all')).w), 480);
});

await test('search counts what is in view', async (p) => {
	await p.open(small);
	await p.search('inner');
	equal('marked', await p.marked(), ['inner', 'inner']);
	equal('all', await p.details(),
		'1 function, 2 frames, 70% of view, self 70%');
	equal('link', await p.hash(), '#s=inner');
	await p.press('Enter');
	match('next match', await p.details(), /^inner — 60 samples \(60%\)/);
	await p.press('Enter');
	match('and next', await p.details(), /^inner — 10 samples \(10%\)/);
	await p.click('outer');
	await p.page.mouse.move(5, 590);
	equal('zoomed', await p.details(),
		'1 function, 1 frame, 25% of view (70% of all), self 25%');
	await p.press('Escape');
	await p.settle();
	equal('none', await p.marked(), []);
	// What was asked for stays when the typing has long paused.
	await p.open(small);
	await p.press('/');
	await p.page.keyboard.type('inner');
	await p.press('Enter');
	await p.settle();
	match('after Enter', await p.details(), /^inner — 60 samples/);
});

await test('expressions: smart case, ignored case, mistakes', async (p) => {
	await p.open(draw('case.svg', 'Alloc(int) 5\nalloc 3\nb;x(y 2\n'));
	await p.search('alloc');
	equal('lower', (await p.marked()).length, 2);
	await p.press('Escape');
	await p.search('^Alloc');
	equal('upper', await p.marked(), ['Alloc(int)']);
	await p.page.click('[aria-label="Ignore case"]');
	equal('ignored', (await p.marked()).length, 2);
	equal('link', await p.hash(), '#s=^Alloc&f=i');
	await p.press('/', 'Control+a');
	for (let i = 0; i < 6; i++) await p.press('Backspace');
	await p.page.keyboard.type('lloc(');
	await p.settle();
	equal('literal', await p.marked(), ['Alloc(int)']);
	match('said', await p.details(), /^no regular expression, searched as/);
	await p.press('Control+f');
});

await test('outermost matches count once', async (p) => {
	await p.open(draw('rec.svg', 'f;g;f;h 50\nf 25\nk 25\n'));
	await p.search('f|h');
	match('sum', await p.details(), /^2 functions, 3 frames, 75% of view/);
});

await test('undrawn frames are counted as unknown', async (p) => {
	let text = 'main;big 9000\n';
	for (let i = 0; i < 500; i++) text += 'main;small' + i + ' 2\n';
	await p.open(draw('pruned.svg', text));
	await p.search('small1');
	match('bound', await p.details(),
		/^0 functions, 0 frames, 0% of view, self 0%; undrawn frames may add up to 10%$/);
	await p.search('');
	await p.page.evaluate(() => document.querySelector('.rows .z')
		.dispatchEvent(new MouseEvent('click', { bubbles: true })));
	match('sliver', await p.details(), /smaller --min-width/);
});

await test('links restore zoom, search and layout', async (p, context) => {
	await p.open(small);
	await p.click('other');
	await p.search('inner');
	await p.press('Escape', 'i');
	await p.search('inner');
	const url = p.page.url();
	const { Page } = await import('./page.mjs');
	const q = new Page(await context.newPage());
	await q.open(url);
	equal('in view', (await q.boxes()).map((b) => b.name),
		['all', 'main', 'other', 'inner']);
	equal('marked', (await q.marked()).length, 2);
	equal('layout', (await q.box('all')).y < (await q.box('inner')).y, true);
	equal('errors', q.errors, []);
	// Another picture of the same program: as far as it goes.
	const later = draw('later.svg', 'a 5\nmain;aa 1\nmain;outer;z;inner 9\n');
	const link = new URL(url);
	await q.open(later + link.hash);
	equal('nearest', Math.round((await q.box('main')).w), 1180);
	match('said', await q.details(), /a frame that is not here/);
	equal('still marked', await q.marked(), ['inner']);
	for (const hash of ['#z=9zz.9zz&s=%', '#z=-1&s=(', '#x=9&s=alloc&t=evil',
		'#z=' + '0aa.'.repeat(5000), '#s=%E0%A4%A&l=%00'])
		await q.open(small + hash);
	equal('errors of bad links', q.errors, []);
});

await test('the keyboard reaches every box', async (p, context) => {
	await context.grantPermissions(['clipboard-read', 'clipboard-write'])
		.catch(() => {});
	await p.open(small);
	await p.page.evaluate(() => document.querySelector('.rows').focus());
	const at = () => p.page.evaluate(() => {
		const e = document.querySelector('[role=treeitem][id]');
		return [e.textContent.split('\n')[0], e.getAttribute('aria-level'),
			document.querySelector('.rows')
				.getAttribute('aria-activedescendant') == e.id];
	});
	equal('start', await at(), ['all', '1', true]);
	await p.press('ArrowUp');
	equal('up', await at(), ['main', '2', true]);
	await p.press('ArrowUp');
	equal('widest child', await at(), ['other', '3', true]);
	await p.press('ArrowRight');
	equal('right', await at(), ['outer', '3', true]);
	await p.press('ArrowRight');
	equal('no further', await at(), ['outer', '3', true]);
	await p.press('Home');
	equal('first', await at(), ['other', '3', true]);
	await p.press('End');
	equal('last', await at(), ['outer', '3', true]);
	await p.press('Enter');
	equal('zoomed', (await p.boxes()).length, 5);
	await p.press('ArrowUp', 'C');
	await p.settle();
	match('stack', await p.details(), /main;outer;x 30$/);
	await p.press('c');
	await p.settle();
	match('name', await p.details(), /(^|: )x$/);
	await p.press('u');
	equal('a level up', Math.round((await p.box('main')).w), 1180);
	await p.press('i', 'ArrowUp');
	equal('up is the parent now', await at(), ['outer', '3', true]);
	await p.press('?');
	match('help', await p.details(), /Enter: zoom/);
	equal('live', await p.page.getAttribute('.det', 'aria-live'), 'polite');
	// Tools are buttons with names.
	await p.page.focus('[aria-label="Reset zoom"]');
	await p.press('Enter');
	equal('all', (await p.boxes()).length, 7);
});

await test('dark and light', async (p) => {
	const colour = () => p.page.evaluate(() => getComputedStyle(
		document.querySelector('.bg')).fill);
	await p.open(small);
	equal('dark', await colour(), 'rgb(22, 24, 29)');
	await p.press('d');
	equal('light', await colour(), 'rgb(255, 255, 255)');
	match('link', await p.hash(), /t=light/);
	await p.page.reload();
	equal('kept', await colour(), 'rgb(255, 255, 255)');
	await p.open(draw('fixed-theme.svg', 'a 1\n', '--theme=light'));
	equal('fixed', await colour(), 'rgb(255, 255, 255)');
}, { colorScheme: 'dark' });

await test('print and forced colours', async (p) => {
	await p.open(small);
	const shown = (s) => p.page.evaluate((s) => getComputedStyle(
		document.querySelector(s)).display, s);
	equal('tools on the screen', await shown('.tb'), 'inline');
	await p.page.emulateMedia({ media: 'print' });
	equal('tools on paper', await shown('.tb'), 'none');
	await p.page.emulateMedia({ media: 'screen', forcedColors: 'active' });
	equal('outline', await p.page.evaluate(() => getComputedStyle(
		document.querySelector('.rows rect')).stroke) != 'none', true);
});

await test('as an image, light and dark', async (p) => {
	const data = 'data:image/svg+xml;base64,' +
		Buffer.from(svgText('small.svg')).toString('base64');
	await p.open(write('img.html', '<!DOCTYPE html><img src="' + data + '">'));
	for (const [scheme, page] of [['light', [255, 255, 255]],
		['dark', [22, 24, 29]]]) {
		await p.page.emulateMedia({ colorScheme: scheme });
		const seen = await p.page.evaluate(async (data) => {
			const img = new Image(1200, 174), c =
				document.createElement('canvas');
			img.src = data;
			await img.decode();
			c.width = 1200;
			c.height = 174;
			const pen = c.getContext('2d');
			pen.drawImage(img, 0, 0, 1200, 174);
			const at = (x, y) => [...pen.getImageData(x, y, 1, 1).data]
				.slice(0, 3);
			return [img.naturalWidth, at(3, 3), at(1100, 112)];
		}, data);
		equal('page in ' + scheme, seen[1], page);
		equal('a box in ' + scheme, seen[2].join() != page.join(), true);
	}
});

await test('in a sandboxed frame and from a data: URL', async (p) => {
	const data = 'data:image/svg+xml;base64,' +
		Buffer.from(svgText('small.svg')).toString('base64');
	await p.open(write('frame.html', '<!DOCTYPE html><iframe ' +
		'sandbox="allow-scripts" width="1200" height="300" src="' + data +
		'"></iframe>'));
	const frame = p.page.frames()[1];
	await frame.waitForSelector('.det', { state: 'attached' });
	const used = await frame.evaluate(async () => {
		const svg = document.documentElement;
		const key = (key) => svg.dispatchEvent(new KeyboardEvent('keydown',
			{ key, bubbles: true }));
		document.querySelectorAll('.rows rect')[3].dispatchEvent(
			new MouseEvent('click', { bubbles: true }));
		document.querySelector('[role=searchbox]').focus();
		for (const c of 'inner') key(c);
		key('Enter');
		return [document.querySelectorAll('.m').length,
			document.querySelectorAll('.rows .d').length];
	});
	equal('marked and zoomed', used, [2, 2]);
	await p.open(data);
	await p.click('outer');
	await p.search('inner');
	match('link', await p.hash(), /^#z=.*&s=inner$|^#s=inner&z=/);
});

await test('two graphs in one page do not meet', async (p) => {
	draw('first.svg', 'main;alpha 10\nmain;beta 20\n');
	draw('second.svg', 'main;gamma 10\nmain;beta 20\n', '--icicle');
	await p.open(write('two.html', inline(svgText('first.svg'),
		svgText('second.svg'))));
	const ids = await p.page.evaluate(() => {
		const all = [...document.querySelectorAll('[id]')].map((e) => e.id);
		return [all.length, new Set(all).size];
	});
	equal('ids are unique', ids[0], ids[1]);
	const marks = () => p.page.evaluate(() => [...document.querySelectorAll(
		'body > svg')].map((s) => s.querySelectorAll('.m').length));
	await p.page.evaluate(() => document.querySelectorAll(
		'[role=searchbox]')[1].focus());
	await p.page.keyboard.type('beta');
	await p.settle();
	equal('marks', await marks(), [0, 1]);
	await p.page.evaluate(() => document.querySelectorAll(
		'[role=searchbox]')[0].focus());
	await p.page.keyboard.type('alpha');
	await p.settle();
	equal('marks', await marks(), [1, 1]);
	const url = p.page.url();
	await p.open('about:blank');
	await p.open(url);
	equal('from the link', await marks(), [1, 1]);
	// Keys outside of a graph are the page's.
	await p.page.evaluate(() => document.activeElement.blur());
	await p.press('i', 'u', '/');
	equal('layouts', await p.page.evaluate(() => [...document
		.querySelectorAll('.rows > g')].every((g) =>
		/^translate/.test(g.getAttribute('transform')))), true);
});

await test('a policy of hashes allows script and style', async (p) => {
	const policy = execFileSync('pprof-flame', ['--csp', join(folder,
		'first.svg.folded')], { encoding: 'utf8' }).trim()
		.replace(/^.*?: /, '');
	await p.open(write('policy.html', '<!DOCTYPE html><meta ' +
		'http-equiv="Content-Security-Policy" content="default-src ' +
		'\'none\'; ' + policy + '"><body>' + svgText('first.svg')
			.replace(/^<\?xml.*\?>/, '')));
	equal('tools', await p.page.evaluate(() =>
		document.querySelectorAll('.bt').length > 3), true);
	equal('style', await p.page.evaluate(() => getComputedStyle(
		document.querySelector('.bg')).fill), 'rgb(255, 255, 255)');
	await p.open(write('none.html', '<!DOCTYPE html><meta ' +
		'http-equiv="Content-Security-Policy" content="script-src ' +
		'\'none\'"><body>' + svgText('first.svg')
			.replace(/^<\?xml.*\?>/, '')));
	equal('a picture without', await p.page.evaluate(() => [
		document.querySelectorAll('.bt').length,
		document.querySelectorAll('.labels text').length]), [0, 4]);
});

await test('names are text, whatever is in them', async (p) => {
	await p.open(draw('evil.svg', 'main;x</title><script>alert(1)' +
		'</script>;]]>;&quot;;__proto__;constructor;a\x1bb 5\n'));
	await p.search('constructor|__proto__');
	equal('marked', (await p.marked()).length, 2);
	match('told', await p.details(), /^2 functions, 2 frames, 100%/);
	await p.press('Escape', 'ArrowUp', 'ArrowUp');
	await p.settle();
	match('name', await p.details(),
		/^x<\/title><script>alert\(1\)<\/script> — 5 samples/);
});

await test('a label after zoom is the label before', async (p) => {
	await p.open(draw('count.svg', 'main;parse;lex 40\n',
		'--countname=bytes (live)'));
	await p.click('parse');
	match('labels', (await p.labels()).join('\n'), / parse {2}100%$/m);
});

await test('differences: words, legend, what is gone', async (p) => {
	write('base.folded', 'm;gone 1000\nm;kept 1000\nm;less 3000\n');
	await p.open(draw('diff.svg', 'm;kept 1000\nm;new 500\nm;less 100\n',
		'--normalize=none', '--diff-base=' + join(folder, 'base.folded')));
	const before = (await p.labels()).join('\n');
	match('label', before, /kept$/m);
	match('new', before, /new {2}▲ new$/m);
	match('gone', before, /gone$/m);
	await p.press('i', 'i');
	await p.click('m');
	match('labels of the script', (await p.labels()).join('\n'),
		/new {2}▲ new$/m);
	await p.search('kept');
	match('of B', await p.details(), /^1 function, 1 frame, 62.5% of view/);
	await p.press('Escape');
	await p.settle();
	await p.page.click('.legend text >> text=shrank');
	equal('by colour', await p.marked(), ['m', 'less']);
});

await test('50,000 frames deep', async (p) => {
	await p.open(draw('deep.svg', Array.from({ length: 50000 },
		(_, i) => 'f' + i).join(';') + ' 1\n'));
	await p.search('f1234$');
	match('found', await p.details(), /^1 function, 1 frame, 100%/);
	await p.press('Enter', 'Escape', 'Enter', 'u');
	equal('rows', await p.page.evaluate(() =>
		document.querySelectorAll('.rows > g').length), 2002);
});

await test('30,000 frames', async (p) => {
	let text = '', seed = 1;
	for (let i = 0; i < 12000; i++) {
		let line = 'main';
		for (let j = 0; j < 6; j++) {
			seed = (seed * 1103515245 + 12345) % 2147483648;
			line += ';ns::function_' + (seed >> 8) % (3 + 2 * j);
		}
		text += line + ' ' + (1 + (seed >> 12) % 50) + '\n';
	}
	await p.open(draw('many.svg', text, '--min-width=0.01',
		'--max-frames=30000'));
	const took = await p.page.evaluate(async () => {
		const shown = () => new Promise((done) =>
			requestAnimationFrame(() => setTimeout(done)));
		const rects = document.querySelectorAll('.rows rect');
		const click = async (e) => {
			const start = performance.now();
			e.dispatchEvent(new MouseEvent('click', { bubbles: true }));
			const script = performance.now() - start;
			await shown();
			return [script, performance.now() - start];
		};
		await shown();
		return [rects.length, await click(rects[3]), await click(rects[0])];
	});
	console.log('# ' + took[0] + ' frames; zoom: script ' +
		took[1][0].toFixed() + ' ms, shown after ' + took[1][1].toFixed() +
		' ms; reset: ' + took[2][0].toFixed() + ', ' + took[2][1].toFixed());
	equal('many', took[0] > 10000, true);
	equal('fast', took[1][0] < 1000 && took[2][0] < 1000, true);
});

await finish();
