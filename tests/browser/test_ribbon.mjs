// The ribbon of active time, its ranges, and the sentence above it.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { assertNear, press, rgb, said, still, test, text } from './harness.mjs';
import { CLASSES, CPUS, entities, frame, head, json, stream } from './stream.mjs';
import { dragRibbon, pixels, ribbonSpot, show } from './views.mjs';

const STATES = ['user', 'run_queue', 'io', 'idle'];
const light = (name) => rgb(CLASSES.find((one) => one.name === name).light);

/** Two threads: in the first half one is on a CPU and one idle; in the second, both wait. */
function halves(frames = 20, others = {}) {
    return Buffer.concat([
        head({ states: STATES, frames, ...others }), json(CPUS, { cpus: 2 }), entities(['web1', 'db']),
        ...Array.from({ length: frames }, (_, index) => frame(4, index < frames / 2
            ? [{ n: 0, shares: [1, 0, 0, 0] }, { n: 1, shares: [0, 0, 0, 1] }]
            : [{ n: 0, shares: [0, 1, 0, 0] }, { n: 1, shares: [0, 0.5, 0.5, 0] }], { index })),
    ]);
}

/** Returns the colours of the ribbon at a time, from below, at some heights of 0 (bottom) to 1 (top). */
async function column(page, time, heights) {
    const { x, y } = await page.locator('.track').boundingBox();
    const [at] = await ribbonSpot(page, time);
    return (await pixels(page, '.track', heights.map((height) => [at - x, 120 - height * 114]))).map((pixel) => pixel.slice(0, 3));
}

const range = (page) => page.locator('.pane.range').isVisible();
const label = (page, which) => text(page, `.pane.${which} .label`);
const headline = async (page) => (await text(page, '.summary .headline')).replaceAll('\u2060', '');
const odometer = (page) => text(page, '.odometer');

test('ribbon: active time is stacked by class, and idle time is left out', async (opener) => {
    const page = await opener.report(halves());
    await still(page);
    // The axis reaches above the line of 2 CPUs: to 3.
    assert.deepEqual(await column(page, 5.5, [0.1, 0.3]), [light('cpu'), light('cpu')]);
    assert.notDeepEqual((await column(page, 5.5, [0.45]))[0], light('idle'), 'the idle thread is not on it');
    assert.deepEqual(await column(page, 15.5, [0.1, 0.45, 0.55]), [light('run_queue'), light('run_queue'), light('disk')]);
    assert.equal(await text(page, '.ribbon h2'), 'Active threads');
    assert.deepEqual(await page.locator('.classes .key').allInnerTexts(), ['CPU', 'run queue', 'disk']);
    assert.match(await text(page, '.about'), /^idle is left out · \d+ [A-Z][a-z]{2}, UTC/);
});

test('ribbon: shares are stacked to 100 % of the active time', async (opener) => {
    const page = await opener.report(halves());
    await page.click('.pair button:text-is("share")');
    await still(page);
    assert.deepEqual(await column(page, 5.5, [0.1, 0.95]), [light('cpu'), light('cpu')]);
    assert.deepEqual(await column(page, 15.5, [0.1, 0.7, 0.8, 0.95]), [light('run_queue'), light('run_queue'), light('disk'), light('disk')]);
});

test('ribbon: unaccounted time of more than 0.5 % is hatched above the active time', async (opener) => {
    const some = (missing) => stream({ states: STATES, names: ['a', 'b'], frames: Array.from({ length: 4 }, () =>
        [{ n: 0, shares: [0.5, 0, 0, 0.5 - missing] }, { n: 1, shares: [0, 0, 0, 1] }]) });
    assert.deepEqual(await (await opener.report(some(0.004))).locator('.classes .key').allInnerTexts(), ['CPU']);
    const page = await opener.report(some(0.4));
    assert.deepEqual(await page.locator('.classes .key').allInnerTexts(), ['CPU', 'unaccounted']);
});

test('ribbon: a click shows that frame', async (opener) => {
    const page = await opener.report(halves());
    await page.mouse.click(...await ribbonSpot(page, 12.5));
    await still(page);
    assert.match(await odometer(page), /^13 \/ 20 /);
    assert.equal(await range(page), false);
    assert.equal(await page.getAttribute('.track', 'aria-valuenow'), '12');
}, { headed: true });

test('ribbon: all views show the mean of a dragged range', async (opener) => {
    const page = await opener.report(halves());
    await dragRibbon(page, 5.5, 14.5);
    assert.match(await odometer(page), /^6–15 \/ 20 /);
    assert.match(await label(page, 'range'), /^\d\d:\d\d:\d\d – \d\d:\d\d:\d\d · mean$/);
    await press(page, 'n');
    assert.match(await said(page), /^web1 1000: user 50 %, run_queue 50 %/);
    assert.match(await headline(page), /Both CPUs are 25 % busy/);
    await press(page, 'Escape');
    assert.equal(await range(page), false);
    assert.match(await odometer(page), /^15 \/ 20 /);
}, { headed: true });

test('ribbon: a range is dragged by its ends, moved, and ended by its button', async (opener) => {
    const page = await opener.report(halves());
    await dragRibbon(page, 4.5, 8.5);
    assert.match(await odometer(page), /^5–9 /);
    await dragRibbon(page, 9, 12);
    assert.match(await odometer(page), /^5–12 /);
    await dragRibbon(page, 4, 6);
    assert.match(await odometer(page), /^7–12 /);
    await dragRibbon(page, 9, 12);
    assert.match(await odometer(page), /^10–15 /);
    await dragRibbon(page, 12, 30);
    assert.match(await odometer(page), /^15–20 /, 'not beyond the last frame');
    await page.click('.pane.range .remove');
    await still(page);
    assert.equal(await range(page), false);
});

test('ribbon: stepping, playing and a click on a chart end the range', async (opener) => {
    const page = await opener.report(halves());
    for (const end of [() => page.click('.step.back'), () => page.click('.play')]) {
        await dragRibbon(page, 4.5, 8.5);
        assert.equal(await range(page), true);
        await end();
        await still(page);
        assert.equal(await range(page), false);
        await press(page, 'Home');
    }
    await dragRibbon(page, 4.5, 8.5);
    await show(page, 'stack');
    await page.focus('#stack .chart');
    await press(page, 'ArrowLeft');
    assert.equal(await range(page), false);
});

test('ribbon: a drag with Shift compares the range with another', async (opener) => {
    const page = await opener.report(halves());
    await dragRibbon(page, 12.5, 16.5);
    await dragRibbon(page, 2.5, 6.5, { shift: true });
    assert.match(await label(page, 'before'), /^compared with \d\d:/);
    assert.match(await odometer(page), /^13–17 /, 'the range stays');
    assert.match(await said(page), /^Compared with .*, 5 frames\.$/);
    await show(page, 'compare');
    await page.waitForFunction(() => document.querySelectorAll('#compare tbody tr').length === 1); // the other one was idle
    assert.match(await text(page, '#compare'), /Before · .*5 frames[^]*After · .*5 frames/);
    await press(page, 'Escape');
    assert.equal(await page.locator('.pane.before').isVisible(), false);
    assert.equal(await range(page), false);
});

test('ribbon: by keys, Shift with arrows selects a range, arrows move it, Escape ends it', async (opener) => {
    const page = await opener.report(halves());
    await page.focus('.track');
    await press(page, 'ArrowRight', 'ArrowRight', 'ArrowRight');
    assert.match(await odometer(page), /^4 \/ 20 /);
    await press(page, 'Shift+ArrowRight', 'Shift+ArrowRight');
    assert.match(await odometer(page), /^4–6 /);
    assert.match(await said(page), /^Mean of .*, 3 frames\.$/);
    assert.match(await page.getAttribute('.track', 'aria-valuetext'), /^range .*, mean$/);
    await press(page, 'ArrowRight');
    assert.match(await odometer(page), /^5–7 /);
    await press(page, 'Shift+ArrowLeft', 'Shift+ArrowLeft', 'Shift+ArrowLeft');
    assert.match(await odometer(page), /^4–5 /);
    await press(page, 'Escape');
    assert.equal(await range(page), false);
    await page.click('.pair button:text-is("Compare")');
    await page.focus('.track');
    await press(page, 'Shift+ArrowLeft');
    assert.match(await label(page, 'before'), /^compared with/);
});

test('ribbon: a finger selects a range, and a second one to compare with', async (opener) => {
    const page = await opener.report(halves(), { touch: true, width: 420 });
    const session = await page.context().newCDPSession(page);
    const swipe = async (from, to) => {
        const [x, y] = await ribbonSpot(page, from), [end] = await ribbonSpot(page, to);
        const touch = (type, ...points) => session.send('Input.dispatchTouchEvent', { type, touchPoints: points.map((at) => ({ x: at, y })) });
        await touch('touchStart', x);
        for (const part of [0.3, 0.6, 1]) {
            await page.waitForTimeout(30); // as slow as a hand: after a flick, the browser takes the next tap for the end of a scroll
            await touch('touchMove', x + (end - x) * part);
        }
        await touch('touchEnd');
        await still(page);
    };
    await swipe(12.5, 16.5);
    assert.match(await odometer(page), /^13–17 /);
    await page.waitForTimeout(500); // the browser takes a touch soon after another for a part of a double tap
    await page.tap('.pair button:text-is("Compare")');
    await page.waitForSelector('.pair button[aria-pressed=true]:text-is("Compare")');
    await swipe(2.5, 6.5);
    assert.match(await label(page, 'before'), /^compared with/);
    assert.match(await odometer(page), /^13–17 /);
});

test('ribbon: thousands of frames are merged into bins, and each can be selected', async (opener) => {
    const frames = 5000;
    const page = await opener.report(halves(frames));
    await page.waitForFunction(() => document.querySelectorAll('.classes .key').length === 3);
    await page.waitForTimeout(300);
    assert.deepEqual(await column(page, 1000, [0.1]), [light('cpu')]);
    await page.focus('.track');
    await press(page, 'End', 'ArrowLeft');
    assert.match(await odometer(page), /^4,999 \/ 5,000 /);
});

test('ribbon: the date is that of the shown time', async (opener) => {
    const rows = [{ n: 0, shares: [1, 0, 0, 0] }];
    const page = await opener.report(stream({
        states: STATES, names: ['a'], frames: Array.from({ length: 40 }, () => ({ rows, lengthMs: 3600000 })),
    }));
    const first = await text(page, '.about');
    await press(page, 'End');
    assert.notEqual(await text(page, '.about'), first);
});

// The sentence.

const VECTORS = JSON.parse(readFileSync(new URL('summary_vectors.json', import.meta.url), 'utf8'));
/** States whose class is the key. A thread that only waits in "lock" is parked, so locks have another state. */
const STATE_OF = { cpu: 'user', disk: 'io', lock: 'contention', wait: 'waiting' };

/** Makes a frame with the sums of a vector. */
function made({ kind, cpus, classes, missing, over, unseen, lost, partial, elapsed, groups, parked, tier = '', full }) {
    const states = [...Object.keys(classes).map((name) => STATE_OF[name] ?? name), 'idle', 'lock']
        .filter((name) => name !== 'lock' || parked > 0);
    const rows = [], names = [];
    const add = (name, state, time, share = 1, others = {}) => {
        names.push(name);
        rows.push({ n: rows.length, shares: states.map((one) => (one === state ? share : 0)), elapsed: time, ...others });
    };
    const all = Object.values(classes).reduce((sum, time) => sum + time, 0), left = { ...classes };
    for (const [name, times] of groups)
        for (const [of, time] of Object.entries(classes)) {
            const own = typeof times === 'number' ? (times * time) / all : times[of] ?? 0; // a number is divided as all is
            if (own > 0) add(name, STATE_OF[of] ?? of, own);
            left[of] -= own;
        }
    // The rest has names of less than a tenth each.
    for (const [of, time] of Object.entries(left))
        for (let i = 0; i < 20 && time > 1e-9; i++) add(`rest${'abcdefghijklmnopqrst'[i]}`, STATE_OF[of] ?? of, time / 20);
    for (let i = 0; i < parked; i++) add(`pool${i}`, 'lock', 1);
    if (missing > 0) add('missing', '', missing, 0, { unaccounted: 1 });
    if (over > 0) add('over', 'idle', over, 2, { unaccounted: -1 });
    add('sleeper', 'idle', elapsed - all - missing - over - parked);
    return Buffer.concat([
        head({ states, kind, tier }), json(CPUS, full ? { cpus, full: full[0], first_full: full[1] } : { cpus }), entities(names), frame(states.length, rows, { losses: [unseen, lost, partial] }),
    ]);
}

for (const vector of VECTORS)
    test(`summary: "${vector.text}"`, async (opener) => {
        const page = await opener.report(made(vector));
        await press(page, 's');
        // The page has thousands separators, camp top has not.
        assert.equal(await said(page), vector.text.replace(/\d{4,}/g, (digits) => Number(digits).toLocaleString('en-US')));
        assert.equal(await page.locator('.promise.amber').count(), /Nothing unaccounted|are seen\.$/.test(vector.text) ? 0 : 1);
    });

test('summary: a class and a name dim all other entities, and undim them', async (opener) => {
    const page = await opener.report(halves());
    await press(page, 'End');
    assert.match(await headline(page), /^Both CPUs are 0 % busy, and 1\.5 threads wait for one since \d\d:\d\d:\d\d$/);
    assert.match(await text(page, '.summary .more'), /^Disk 0\.5\. Mostly web1 and db\./);
    const chosen = async () => (await page.locator('.legend').innerText()).match(/\d of \d/)?.[0] ?? 'all';
    for (const [part, wanted] of [['1.5 threads wait for one', '2 of 2'], ['Disk 0.5', '1 of 2'], ['web', '1 of 2']]) {
        const button = page.locator('.summary button', { hasText: part });
        await button.click();
        await still(page);
        assert.equal(await chosen(), wanted);
        assert.equal(await button.getAttribute('aria-pressed'), 'true');
        await button.click();
        await still(page);
        assert.equal(await chosen(), 'all');
        assert.equal(await button.getAttribute('aria-pressed'), 'false');
    }
});

test('summary: what is unaccounted, accounted twice or parked dims all others', async (opener) => {
    const rows = [
        { shares: [0.5, 0, 0.5] }, { shares: [0.5, 0, 0.2], unaccounted: 0.3 }, { shares: [0.5, 0, 0.4], unaccounted: 0.1 },
        { shares: [0.5, 0, 0.7], unaccounted: -0.2 }, ...Array(3).fill({ shares: [0, 1, 0] }),
    ];
    const page = await opener.report(stream({ states: ['user', 'lock', 'idle'], names: rows.map((_, n) => `task${n}`), frames: [rows.map((row, n) => ({ n, ...row }))] }));
    for (const [part, wanted] of [['0.40 unaccounted (6 %)', 2], ['0.20 accounted twice', 1], ['3 parked', 3]]) {
        const button = page.locator(`.summary button:text-is("${part}")`);
        await button.click();
        await still(page);
        assert.match(await page.locator('.legend').innerText(), new RegExp(`${wanted} of 7`));
        await button.click();
    }
});

test('summary: since when something lasts, in spite of a gap, and a press shows its beginning', async (opener) => {
    const waiting = [0, 0, 0, 0.9, 0, 0, 0, 0, 1, 1, 0.9, 0, 1, 1, 0.8, 1]; // from the ninth frame on
    const page = await opener.report(stream({ states: ['user', 'disk', 'idle'], names: ['scan', 'rest'],
        frames: waiting.map((share) => [{ n: 0, shares: [0, share, 1 - share] }, { n: 1, shares: [0, 0, 1] }]) }));
    const since = page.locator('.summary .since');
    await press(page, 'End');
    assert.match(await headline(page), /^1\.0 threads wait for a disk since \d\d:\d\d:\d\d, 0\.0 on a CPU$/);
    const told = (await since.innerText()).match(/\S+$/)[0];
    await press(page, 's');
    assert.match(await said(page), new RegExp(` since ${told}, `));
    await since.click();
    await still(page);
    assert.match(await odometer(page), /^9 \/ 16 /);
    assert.equal((await since.innerText()).match(/\S+$/)[0], told);
    await page.focus('.track');
    await press(page, 'ArrowLeft', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft');
    assert.match(await odometer(page), /^4 \/ 16 /);
    assert.equal(await since.count(), 0); // one frame only
    // The gap behind the first frame is no beginning.
    const gap = await opener.report(stream({ states: ['user', 'disk', 'idle'], names: ['scan'],
        frames: [0, 0, 0, 0, 1, 0, 1, 1, 1, 1].map((share) => [{ n: 0, shares: [0, share, 1 - share] }]) }));
    await press(gap, 'End');
    await gap.locator('.summary .since').click();
    await still(gap);
    assert.match(await odometer(gap), /^7 \/ 10 /);
});

test('summary: a comparison is told, and leads to its tab', async (opener) => {
    const page = await opener.report(halves());
    await press(page, 'End');
    await dragRibbon(page, 2.5, 6.5, { shift: true });
    const told = page.locator('.summary .compared');
    assert.match(await told.innerText(), /^Before, \d\d:\S+ – \S+: CPU 1\.0$/);
    await told.click();
    await page.waitForSelector('#compare tbody tr');
    await press(page, 'Escape');
    assert.equal(await told.count(), 0);
});

test('summary: a CPU that is full is told of the shown frame, and of a range in which it is always', async (opener) => {
    const row = [{ n: 0, shares: [1, 0, 0, 0] }], full = (first) => json(CPUS, { cpus: 2, full: 1, first_full: first });
    const page = await opener.report(Buffer.concat([head({ states: STATES, frames: 6 }), json(CPUS, { cpus: 2 }), entities(['hog']),
        ...[null, full(1), null, full(0), null, json(CPUS, { cpus: 2 })].flatMap((cpus, index) => [...(cpus ? [cpus] : []), frame(4, row, { index })])]));
    await press(page, 'Home');
    for (const wanted of ['', ' (CPU 1 is full)', ' (CPU 1 is full)', ' (CPU 0 is full)', ' (CPU 0 is full)', '']) {
        assert.ok((await headline(page)).includes(`50 % busy${wanted}`) && (wanted !== '' || !(await headline(page)).includes('full')), await headline(page));
        await page.focus('.track');
        await press(page, 'ArrowRight');
    }
    for (const [from, to, wanted] of [[1.5, 2.5, /CPU 1 is full/], [2.5, 4.5, /busy(?! \()/], [0.5, 2.5, /busy(?! \()/]]) {
        await dragRibbon(page, from, to);
        assert.match(await headline(page), wanted);
        await press(page, 'Escape');
    }
});

test('summary: sessions are named by their application', async (opener) => {
    const page = await opener.report(stream({ states: ['cpu', 'lock', 'idle'], kind: 'sessions', labels: ['user', 'application'],
        names: ['orders', ''].map((application) => ({ name: 'root@db', pid: 1, labels: { user: 'root', application } })),
        frames: [[{ n: 0, shares: [0.2, 0.8, 0] }, { n: 1, shares: [0.5, 0, 0.5] }]] }));
    assert.match(await text(page, '.summary .more'), /Mostly orders; most CPU time: root@db/);
    await page.locator('.summary button', { hasText: 'orders' }).click();
    await still(page);
    assert.match(await page.locator('.legend').innerText(), /1 of 2/);
});

test('summary: a screen reader reads the sentence each time that s is pressed', async (opener) => {
    const page = await opener.report(halves());
    await press(page, 's');
    const first = await page.locator('#live').textContent();
    await press(page, 's');
    const second = await page.locator('#live').textContent();
    assert.notEqual(second, first); // an unchanged text would not be read
    assert.equal(second.trim(), first.trim());
});

test('summary: what is below does not move when the sentence changes', async (opener) => {
    const page = await opener.report(halves());
    const top = async () => (await page.locator('.track').boundingBox()).y;
    const before = await top();
    await press(page, 'End');
    assertNear(await top(), before, 0);
});

test('sums: what was unseen, lost and not whole is listed', async (opener) => {
    const rows = [{ n: 0, shares: [1, 0, 0, 0] }];
    const page = await opener.report(stream({ states: STATES, names: ['a'], frames: [rows, { rows, losses: [3, 1, 2] }] }));
    assert.doesNotMatch(await text(page, '#sums'), /unseen|lost|whole/);
    await press(page, 'End');
    assert.match(await text(page, '#sums'), / · 3 events unseen, 1 event lost, 2 not whole$/);
});
