// SPDX-License-Identifier: Apache-2.0
//
// How long a report takes in a browser, medians in ms: until its script is
// done after the load; then, until the next picture stands, a zoom, a
// search, and the tree read from the leaf. usage: report.mjs FILE
import { chromium } from 'playwright-core';
import { pathToFileURL } from 'node:url';

const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
const browser = await chromium.launch({
	executablePath: process.env.CHROMIUM, args: ['--no-sandbox',
		'--disable-gpu', '--disable-dev-shm-usage',
		'--enable-precise-memory-info']
});

// In the page: run and time until the frame after it was drawn.
const measure = () => {
	const canvas = document.getElementById('canvas');
	const frame = () => new Promise((done) => requestAnimationFrame(() =>
		setTimeout(done)));
	const timed = async (act) => {
		await new Promise((done) => setTimeout(done, 300));
		const start = performance.now();
		act();
		const script = performance.now() - start;
		await frame();
		return [script, performance.now() - start];
	};
	const click = (x, row) => ['pointerdown', 'pointerup'].forEach((type) => {
		const at = canvas.getBoundingClientRect();
		canvas.dispatchEvent(new PointerEvent(type, { bubbles: true,
			clientX: at.left + x, clientY: at.top + row * 18 + 8 }));
	});
	const search = (text) => {
		const field = document.getElementById('search');
		field.value = text;
		field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter',
			bubbles: true }));
	};
	const view = (value) => {
		const select = document.getElementById('view');
		select.value = value;
		select.dispatchEvent(new Event('change'));
	};
	return (async () => ({
		zoom: await timed(() => click(200, 4)),
		reset: await timed(() => document.getElementById('reset').click()),
		search: await timed(() => search('merge_')),
		found: document.getElementById('status').textContent,
		clear: await timed(() => search('')),
		callers: await timed(() => view('callers')),
		heap: performance.memory.usedJSHeapSize / 1e6
	}))();
};

const runs = [];
for (let i = 0; i < (+process.env.REPS || 5); i++) {
	const page = await browser.newPage({ viewport: { width: 1200,
		height: 800 } });
	const start = Date.now();
	await page.goto(pathToFileURL(process.argv[2]).href);
	while (!await page.evaluate(() =>
		document.documentElement.dataset.ready));
	const load = Date.now() - start;
	const script = await page.evaluate(() =>
		+document.documentElement.dataset.ready);
	runs.push({ load, script, ...await page.evaluate(measure) });
	await page.close();
}
await browser.close();
const of = (get) => Math.round(median(runs.map(get)));
console.log('  load: ' + of((r) => r.load) + ' ms, of it the script ' +
	of((r) => r.script) + ' ms');
for (const what of ['zoom', 'reset', 'search', 'clear', 'callers'])
	console.log('  ' + what + ': script ' + of((r) => r[what][0]) +
		' ms, with the drawing ' + of((r) => r[what][1]) + ' ms');
console.log('  heap of the script: ' + of((r) => r.heap) + ' MB');
console.log('  search: ' + runs[0].found);
