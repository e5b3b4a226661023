// SPDX-License-Identifier: Apache-2.0
//
// What the browser tests share: one browser, TAP, pictures drawn for them.
import { chromium } from 'playwright-core';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const folder = mkdtempSync(join(tmpdir(), 'pprof-browser-'));
let browser, nr = 0, failed = 0;

// draw(NAME, FOLDED, OPTIONS...): the picture's URL.
export const draw = (name, folded, ...options) => {
	writeFileSync(join(folder, name + '.folded'), folded);
	execFileSync('pprof-flame', ['-q', '--format=folded', ...options,
		'-o', join(folder, name), join(folder, name + '.folded')]);
	return pathToFileURL(join(folder, name)).href;
};

export const write = (name, text) => {
	writeFileSync(join(folder, name), text);
	return pathToFileURL(join(folder, name)).href;
};

export const equal = (what, got, expected) => {
	if (JSON.stringify(got) !== JSON.stringify(expected))
		throw Error(what + ': got ' + JSON.stringify(got) +
			', expected ' + JSON.stringify(expected));
};

export const match = (what, got, expression) => {
	if (!expression.test(got))
		throw Error(what + ': ' + JSON.stringify(got) +
			' does not match ' + expression);
};

// Keys, clicks and what can be seen, of one page.
export class Page {
	constructor(page) {
		this.page = page;
		this.errors = [];
		page.on('pageerror', (e) => this.errors.push(e.message));
	}
	async open(url) {
		await this.page.goto('about:blank');
		await this.page.goto(url);
	}
	async press(...keys) {
		for (const key of keys) await this.page.keyboard.press(key);
	}
	async search(text) {
		await this.press('/');
		await this.page.keyboard.type(text);
		await this.settle();
	}
	// The search waits for the typing to pause.
	settle() {
		return this.page.waitForTimeout(300);
	}
	// Boxes that are in view: name, left edge and width in px.
	boxes() {
		return this.page.evaluate(() => {
			// The rectangle of an inner svg is that of what it clips.
			const vp = document.querySelector('.vp');
			const view = { width: +vp.getAttribute('width'),
				x: vp.ownerSVGElement.getBoundingClientRect().x +
					+vp.getAttribute('x') };
			return [...document.querySelectorAll('.rows rect')]
				.map((e) => {
					const r = e.getBoundingClientRect();
					return { name: e.textContent.split('\n')[0],
						x: r.x - view.x, y: r.y, w: r.width,
						h: r.height };
				}).filter((b) => b.x < view.width - .5 &&
					b.x + b.w > .5);
		});
	}
	labels() {
		return this.page.evaluate(() =>
			[...document.querySelectorAll('.labels text')].map((e) =>
				[e.getAttribute('x'), e.getAttribute('y'),
					e.textContent].join(' ')));
	}
	details() {
		return this.page.evaluate(() =>
			document.querySelector('.det').textContent);
	}
	marked() {
		return this.page.evaluate(() =>
			[...document.querySelectorAll('.rows .m')].map((e) =>
				e.textContent.split('\n')[0]));
	}
	async box(name) {
		const box = (await this.boxes()).find((b) => b.name == name);
		if (!box) throw Error('no box ' + name);
		return box;
	}
	async click(name, options) {
		const b = await this.box(name);
		const left = await this.page.evaluate(() =>
			document.querySelector('.vp').ownerSVGElement
				.getBoundingClientRect().x + 10);
		await this.page.mouse.click(left + Math.max(0, b.x) +
			Math.min(b.w, 20) / 2, b.y + b.h / 2, options);
	}
	hash() {
		return this.page.evaluate(() => decodeURIComponent(location.hash));
	}
}

// test(NAME, ASYNC FUNCTION OF A PAGE, CONTEXT OPTIONS)
export const test = async (name, body, options) => {
	let context;
	nr++;
	try {
		browser ||= await chromium.launch({
			executablePath: process.env.CHROMIUM,
			args: ['--no-sandbox', '--disable-gpu',
				'--disable-dev-shm-usage']
		});
		context = await browser.newContext({ reducedMotion: 'reduce',
			viewport: { width: 1200, height: 600 }, ...options });
		const page = new Page(await context.newPage());
		await body(page, context);
		equal('errors of the script', page.errors, []);
		console.log('ok ' + nr + ' - ' + name);
	} catch (e) {
		failed++;
		console.log('not ok ' + nr + ' - ' + name);
		console.log(String(e.stack || e).replace(/^/gm, '# '));
	}
	if (context) await context.close();
};

export const finish = async () => {
	if (browser) await browser.close();
	rmSync(folder, { recursive: true });
	console.log('1..' + nr);
	process.exitCode = failed ? 1 : 0;
};
