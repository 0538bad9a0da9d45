// The flame graph of sleeps: widths are times, a click zooms, and there is a way back, a table, and keys.
import { strict as assert } from 'node:assert';
import { openCauses, STACKS, why } from './causes.mjs';
import { assertNear, press, said, still, test, text } from './harness.mjs';
import { random } from './made.mjs';
import { stream } from './stream.mjs';
import { show } from './views.mjs';

const data = () => stream({ states: ['user', 'disk', 'lock'], axes4: null, names: ['order'], frames: [[{ n: 0, shares: [0.2, 0.3, 0.5] }]] });

async function opened(opener, stacks) {
    const page = await opener.report(data());
    await show(page, 'why');
    await openCauses(page, [why({ stacks })]);
    await page.waitForFunction(() => document.querySelector('#why .caption').textContent !== '');
    await still(page);
    return page;
}

/** Returns the frames: [{ name, from, width, depth }], from the outermost to the innermost, from left to right. */
const frames = (page) => page.locator('.flame button').evaluateAll((all) => all.map((one) => ({
    name: one.getAttribute('aria-label').replace(/: [^:]*$/, ''), words: one.getAttribute('aria-label'),
    from: parseFloat(one.style.left), width: parseFloat(one.style.width), depth: parseFloat(one.style.top) / 20,
})));
const widthsAt = async (page, depth) => Object.fromEntries((await frames(page)).filter((one) => one.depth === depth).map(({ name, width }) => [name, Math.round(width * 100) / 100]));
const frame = (page, name) => page.locator('.flame button', { hasText: name });
const focused = (page) => page.evaluate(() => document.activeElement.getAttribute('aria-label')?.replace(/: [^:]*$/, ''));

test('why: data without stacks has no flame graph', async (opener) => {
    for (const stacks of [undefined, null, [], 'x']) {
        const page = await opened(opener, stacks);
        assert.equal(await page.locator('.flame').isVisible(), false);
    }
});

test('why: a frame is as wide as the time asleep below it, the state first, and no stack is one frame', async (opener) => {
    const page = await opened(opener, STACKS);
    assert.deepEqual(await widthsAt(page, 0), { 'all sleeps': 100 });
    assert.deepEqual(await widthsAt(page, 1), { lock: 90, disk: 10 });
    assert.deepEqual(await widthsAt(page, 2), { main: 10, 'no stack': 10 }); // of two states with the same frame, the last
    assert.deepEqual((await frames(page)).filter(({ depth }) => depth === 2).map(({ name, width }) => [name, width]), [['main', 80], ['no stack', 10], ['main', 10]]);
    assert.deepEqual(await widthsAt(page, 3), { order_all: 60, log: 20, fsync: 10 });
    assert.equal(await text(page, '#why [aria-label="Where it slept"] header small'), '1.00 s in 50 sleeps · 90 % with a stack');
    assert.match((await frames(page))[0].words, /^all sleeps: 1\.00 s, 100 % of all sleeps, 50 sleeps$/);
});

test('why: frames of random stacks have widths that add up, within their callers', async (opener) => {
    const next = random(11), pick = (count) => Math.floor(next() * count);
    const stacks = Array.from({ length: 300 }, () => ({ state: ['lock', 'disk', 'poll'][pick(3)], frames: Array.from({ length: pick(7) }, () => `f${pick(3)}`), ms: next() * 100, sleeps: 1 + pick(9) }));
    const all = await frames(await opened(opener, stacks));
    assert.ok(all.length > 100);
    const total = stacks.reduce((sum, { ms }) => sum + ms, 0);
    for (const name of ['lock', 'disk', 'poll'])
        assertNear(all.find((one) => one.depth === 1 && one.name === name).width, (100 * stacks.reduce((sum, { state, ms }) => sum + (state === name ? ms : 0), 0)) / total, 1e-3, name);
    all.forEach((one, i) => {
        if (one.depth === 0) return;
        const caller = all.slice(0, i).findLast(({ depth }) => depth === one.depth - 1);
        assert.ok(one.from >= caller.from - 1e-3 && one.from + one.width <= caller.from + caller.width + 1e-3, `${one.name} is within ${caller.name}`);
        const before = all.slice(0, i).findLast(({ depth }) => depth === one.depth);
        assert.ok(!before || before.from + before.width <= one.from + 1e-3, `${one.name} is beside ${before?.name}`);
    });
});

test('why: a click zooms into a frame, and Escape and Backspace go back', async (opener) => {
    const page = await opened(opener, STACKS);
    await frame(page, 'order_all').click();
    await still(page);
    assert.match(await said(page), /^order_all: 600 ms, 60 % of all sleeps, 30 sleeps/);
    assert.deepEqual((await frames(page)).map(({ name, width }) => [name, width]), [['all sleeps', 100], ['lock', 100], ['main', 100], ['order_all', 100],
        ['pthread_mutex_lock', 100], ['do_syscall_64_[k]', 100], ['futex_wait_[k]', 100]]);
    assert.equal(await focused(page), 'order_all');
    await frame(page, 'do_syscall').click();
    await press(page, 'Escape');
    assert.equal(await focused(page), 'do_syscall_64_[k]');
    assert.equal((await frames(page)).length, 7);
    await press(page, 'Backspace');
    assert.match(await said(page), /^Zoomed out to all sleeps/);
    assert.deepEqual(await widthsAt(page, 1), { lock: 90, disk: 10 });
    await frame(page, 'fsync').click();
    await still(page);
    await frame(page, 'all sleeps').click(); // a caller leads out, too
    await still(page);
    assert.deepEqual(await widthsAt(page, 1), { lock: 90, disk: 10 });
    assert.equal(await page.locator('#why button', { hasText: 'zoom out' }).isVisible(), false);
});

test('why: frames are reached by arrows, and only one of them by Tab', async (opener) => {
    const page = await opened(opener, STACKS);
    assert.equal(await page.locator('.flame button[tabindex="0"]').count(), 1);
    await page.locator('.flame button').first().focus();
    await press(page, 'ArrowDown', 'ArrowRight');
    assert.equal(await focused(page), 'disk');
    await press(page, 'ArrowLeft', 'ArrowDown', 'ArrowDown', 'ArrowRight');
    assert.equal(await focused(page), 'log');
    await press(page, 'Enter');
    assert.deepEqual(await widthsAt(page, 3), { log: 100 });
    await press(page, 'ArrowUp');
    assert.equal(await focused(page), 'main');
    await press(page, 'Home');
    assert.equal(await focused(page), 'all sleeps');
    assert.equal(await page.locator('.flame button[tabindex="0"]').count(), 1);
});

test('why: the table has all stacks as text', async (opener) => {
    const page = await opened(opener, STACKS);
    await page.locator('.flame-table summary').click();
    await still(page);
    const rows = await page.locator('.flame-table tbody tr').evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
    assert.equal(rows.length, STACKS.length);
    assert.deepEqual(rows[0], ['lock', 'main; order_all; pthread_mutex_lock; do_syscall_64_[k]; futex_wait_[k]', '60 %', '600 ms', '30']);
    assert.deepEqual(rows.slice(-2).map((row) => row[1]), ['no stack', 'no stack']);
});

test('why: narrow frames are left out and counted', async (opener) => {
    const stacks = [{ state: 'lock', frames: ['wide'], ms: 1000, sleeps: 1 }, ...Array.from({ length: 5 }, (_, i) => ({ state: 'lock', frames: ['narrow', `n${i}`], ms: 0.3, sleeps: 1 }))];
    const page = await opened(opener, stacks);
    assert.match(await text(page, '#why [aria-label="Where it slept"] header small'), /5 narrow frames are left out; zoom in to see them$|1 narrow frames/);
});
