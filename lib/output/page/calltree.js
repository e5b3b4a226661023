// SPDX-License-Identifier: Apache-2.0
//
// The call tree as lists that open: the same boxes as in the graph.
const LIST_STEP = 50;

const itemOf = (box) => {
	const item = make('li'), kids = box.kids || kidsOf(box);
	const label = make('span', { class: 'node' });
	const value = isDiff() ? brief(box.t, typeNow()) + ' against ' +
		brief(box.a, typeNow()) + ', ' + relative(box.t, box.a) :
		share(box.t, sums.allB) + ', ' + brief(box.t, typeNow());
	label.append(make('span', { class: 'value' }, value),
		make('span', { class: 'what' }, nameOf(box)));
	if (!kids.length) {
		item.append(label);
		return item;
	}
	const button = make('button', { type: 'button', 'aria-expanded': 'false' });
	button.append(label);
	on(button, 'click', () => toggleItem(item, button, box));
	item.append(button);
	return item;
};

const fillList = (list, kids, from) => {
	for (const kid of kids.slice(from, from + LIST_STEP)) list.append(itemOf(kid));
	const left = kids.length - from - LIST_STEP;
	if (left <= 0) return;
	const item = make('li'), more = make('button', { type: 'button' },
		group(String(left)) + ' more');
	on(more, 'click', () => {
		item.remove();
		fillList(list, kids, from + LIST_STEP);
	});
	item.append(more);
	list.append(item);
};

const toggleItem = (item, button, box) => {
	const open = button.getAttribute('aria-expanded') == 'true';
	button.setAttribute('aria-expanded', !open);
	if (open) {
		item.lastChild.remove();
		return;
	}
	const list = make('ul');
	fillList(list, kidsOf(box).slice().sort(byWidth), 0);
	item.append(list);
};

const drawCallTree = () => {
	const list = byId('calls');
	list.replaceChildren();
	if (!byId('calltree').open) return;
	for (const panel of panels) {
		if (!panel.zoom.w) continue;
		const item = itemOf(panel.zoom);
		if (panels.length > 1) item.prepend(make('span', { class: 'note' },
			panel.up ? 'Callers' : 'Callees'));
		list.append(item);
		const button = item.querySelector('button');
		if (button) button.click();
	}
};
