/* SPDX-License-Identifier: MIT */
/* Loads the page again when the server says that it is out of date, and changes what differs. What
 * is being written stays, and so do the focus and what was opened. */
'use strict';

const PAUSE_MS = 1000, AGES_MS = 60000;
const live = document.getElementById('live');
let source = null, loading = false, again = false;

function tell(text, tone) {
	if (live.textContent !== text)
		live.textContent = text;
	live.className = tone;
}

/* What a human has begun to fill in. */
function isBusy(part) {
	return [...part.querySelectorAll('textarea, input[type=search]')].some(field =>
		field === document.activeElement || field.value !== field.defaultValue);
}

function keyOf(element) {
	return element.tagName + ' ' + (element.id || element.getAttribute('href') || element.name ||
		element.getAttribute('aria-label') || element.textContent.slice(0, 80));
}

/* The same element in another copy of a part: the nth with this key. */
function counterparts(part, selector) {
	const found = new Map();
	for (const element of part.querySelectorAll(selector)) {
		const key = keyOf(element);
		found.set(key, [...(found.get(key) || []), element]);
	}
	return found;
}

function keep(old, fresh) {
	const summaries = counterparts(fresh, 'summary');
	for (const [key, list] of counterparts(old, 'summary'))
		list.forEach((summary, i) => {
			const other = (summaries.get(key) || [])[i];
			if (other)
				other.parentElement.open = summary.parentElement.open;
		});
}

function focusAgain(old, fresh) {
	const focused = document.activeElement, all = 'a, summary, button, textarea, input, [tabindex]';
	if (!old.contains(focused))
		return () => {};
	for (const [key, list] of counterparts(old, all)) {
		const other = (counterparts(fresh, all).get(key) || [])[list.indexOf(focused)];
		if (list.includes(focused) && other)
			return () => other.focus({preventScroll: true});
	}
	return () => {};
}

function replace(old, fresh) {
	if (old.outerHTML === fresh.outerHTML)
		return true;
	if (isBusy(old))
		return false;
	keep(old, fresh);
	const focus = focusAgain(old, fresh);
	old.replaceWith(fresh);
	focus();
	return true;
}

/* Returns whether all of the page is as new as page. */
function update(page) {
	const olds = [...document.querySelector('main').children], news = [...page.querySelector('main').children];
	const alike = olds.length === news.length && olds.every((old, i) =>
		old.tagName === news[i].tagName && old.id === news[i].id);
	document.title = page.title;
	replace(document.querySelector('footer'), document.adoptNode(page.querySelector('footer')));
	if (!alike)
		return replace(document.querySelector('main'), document.adoptNode(page.querySelector('main')));
	return olds.map((old, i) => replace(old, document.adoptNode(news[i]))).every(done => done);
}

async function load() {
	if (loading) {
		again = true;
		return;
	}
	loading = true;
	again = false;
	try {
		const answer = await fetch(location.href, {cache: 'no-store'});
		if (answer.status === 403)
			return end('This session has ended; reload the page');
		const whole = update(new DOMParser().parseFromString(await answer.text(), 'text/html'));
		tell(whole ? 'Live' : 'Changed; your text is kept', whole ? '' : 'warn');
		document.body.dataset.loads = Number(document.body.dataset.loads || 0) + 1;
	} catch (error) {
		/* the stream says what has become of the server */
	} finally {
		setTimeout(() => {
			loading = false;
			if (again)
				load();
		}, PAUSE_MS);
	}
}

function end(text) {
	tell(text, 'warn');
	if (source)
		source.close();
	source = null;
}

/* Only pages that are seen: a browser has few connections for a server. */
function follow() {
	if (document.hidden || source) {
		if (document.hidden)
			end('Paused');
		return;
	}
	source = new EventSource(document.body.dataset.stream);
	source.addEventListener('there', () => tell('Live', ''));
	source.addEventListener('gone', () => tell('The daemon is gone; waiting for it', 'warn'));
	source.addEventListener('change', () => load());
	source.addEventListener('full', () => end('Not live: too many pages are open'));
	source.addEventListener('error', () => {
		if (source && source.readyState === EventSource.CLOSED)
			end('Not live: reload to see what is new');
		else
			tell('"rlctl web" does not answer', 'warn');
	});
}

if (document.body.dataset.stream) {
	document.addEventListener('visibilitychange', follow);
	addEventListener('pagehide', () => source && source.close());
	addEventListener('pageshow', event => event.persisted && (source = null, follow(), load()));
	follow();
	/* ages grow without an event */
	setInterval(() => source && load(), AGES_MS);
}
