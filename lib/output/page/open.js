// SPDX-License-Identifier: Apache-2.0
//
// The script of the HTML report. Its files are put one after the other, in
// the order of lib/Makefile.inc, into one function that start.js calls: what
// is declared in one file can be used in all. It is the same text in every
// report; data stands beside it in elements that are not run. Names come
// from the data and reach the page as text only, never as markup.
(() => {
'use strict';
const byId = (id) => document.getElementById(id);
const on = (element, types, act, options) => types.split(' ').forEach((t) =>
	element.addEventListener(t, act, options));

// An element with attributes and text; `text` undefined: no text.
const make = (tag, attributes, text) => {
	const element = document.createElement(tag);
	for (const key in attributes) element.setAttribute(key, attributes[key]);
	if (text !== undefined) element.textContent = text;
	return element;
};
