// The ranking equals sums of the frames, keeps its order under the pointer, and leads to the details
// of a group and to its members.
import { strict as assert } from 'node:assert';
import { assertNear, press, said, still, test, text } from './harness.mjs';
import { dragRibbon, show } from './views.mjs';
import { frame, entities, head, json, stream, CPUS, END, ENDED, NEW } from './stream.mjs';

const STATES = ['user', 'run_queue', 'disk', 'sleep'];
const AXES3 = [{ name: 'CPU', states: [0] }, { name: 'wait', states: [1, 2] }, { name: 'idle', states: [3] }];
const NAMES = [
    { name: 'postgres', id: 10, pid: 10, uid: 7 }, { name: 'writer', id: 11, pid: 10, uid: 7 }, { name: 'writer', id: 12, pid: 10, uid: 7 },
    { name: 'cc1', id: 20, pid: 20 }, { name: 'cron', id: 30, pid: 30 }, { name: 'bash', id: 40, pid: 40 },
];
const rowsAt = (t) => [
    { n: 0, shares: [0.2, 0.1, 0.3, 0.4] }, { n: 1, shares: [0.5, 0, 0.25, 0.25], elapsed: 0.5 }, { n: 2, shares: [0, 0, 0, 1] },
    { n: 3, shares: [0.25 + 0.05 * t, 0.6 - 0.05 * t, 0, 0.15] }, { n: 4, shares: [0, 0, 0, 1] }, { n: 5, shares: [0, 0, 0, 1] },
];
const data = (frames = 4) => stream({ states: STATES, axes3: AXES3, axes4: null, names: NAMES, frames: Array.from({ length: frames }, (_, t) => rowsAt(t)) });

const lines = (page) => page.locator('#ranking tbody tr[data-key]').evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent.trim().replace(/\s+/g, ' '))));
const names = async (page) => (await lines(page)).map(([name]) => name);

test('ranking: processes of one name have their pids', async (opener) => {
    const twice = NAMES.map((one) => (one.name === 'cc1' ? { ...one, name: 'postgres' } : one));
    const page = await opener.report(stream({ states: STATES, axes3: AXES3, axes4: null, names: twice, frames: [rowsAt(0), rowsAt(1)] }));
    assert.deepEqual(await names(page), ['postgres 10 ×3', 'postgres 20']);
});

test('ranking: processes are listed by their active time, which is the sum of their threads', async (opener) => {
    const page = await opener.report(data());
    // postgres: 0.6 of one thread, and 0.75 of half an interval of another.
    assert.deepEqual((await lines(page)).map(([name, active]) => [name, active]), [['postgres ×3', '0.98'], ['cc1', '0.85']]);
    assert.equal(await text(page, '#ranking .idle'), '2 idle');
    const bars = await page.locator('#ranking tbody tr[data-key]').evaluateAll((rows) => rows.map((row) =>
        Object.fromEntries([...row.querySelectorAll('.bar-parts i')].map((part) => [part.dataset.class, parseFloat(part.style.width)]))));
    const wanted = [{ cpu: 0.45, run_queue: 0.1, disk: 0.425 }, { cpu: 0.25, run_queue: 0.6 }];
    bars.forEach((bar, i) => {
        assert.deepEqual(Object.keys(bar), Object.keys(wanted[i]));
        for (const [name, time] of Object.entries(wanted[i])) assertNear(bar[name], (100 * time) / 0.975, 0.02, name);
    });
});

test('ranking: a range shows the mean of its frames', async (opener) => {
    const page = await opener.report(stream({ states: STATES, axes3: AXES3, axes4: null, names: ['a', 'b'],
        frames: [0, 1, 2].map((t) => [{ n: 0, shares: [t === 1 ? 1 : 0.1, 0, 0, t === 1 ? 0 : 0.9] }, { n: 1, shares: [0.3, 0, 0, 0.7] }]) }));
    assert.deepEqual(await names(page), ['b', 'a']);
    await press(page, 'ArrowRight');
    assert.deepEqual((await lines(page)).map((line) => line.slice(0, 2)), [['a', '1.00'], ['b', '0.30']]);
});

test('ranking: it can be by another attribute, or list single entities', async (opener) => {
    const page = await opener.report(data());
    await page.selectOption('#ranking-by', 'name');
    await still(page);
    assert.deepEqual((await lines(page)).map(([name, active]) => [name, active]), [['cc', '0.85'], ['postgres', '0.60'], ['writer ×2', '0.38']]);
    await page.selectOption('#ranking-by', 'none');
    await still(page);
    assert.deepEqual(await names(page), ['cc1', 'postgres', 'writer']);
    assert.equal(await text(page, '#ranking .idle'), '3 idle');
});

test('ranking: sessions are grouped by their application', async (opener) => {
    const names_ = ['web', 'web', 'job'].map((application, n) => ({ name: `s${n}`, labels: { application } }));
    const page = await opener.report(stream({ kind: 'sessions', labels: ['user', 'application'], states: STATES, names: names_, axes4: null,
        frames: [names_.map((_, n) => ({ n, shares: [0.5, 0, 0, 0.5] }))] }));
    assert.deepEqual(await names(page), ['web ×2', 'job']);
    await page.selectOption('#ranking select', 'none');
    await still(page);
    assert.deepEqual(await names(page), ['web 1000', 'web 1001', 'job']);
});

test('ranking: the change is against the compared range, or against all earlier frames', async (opener) => {
    const page = await opener.report(stream({ states: STATES, axes3: AXES3, axes4: null, names: ['more', 'less', 'same', 'new'],
        frames: [[0.1, 0.8, 0.5], [0.1, 0.8, 0.5], [0.4, 0.4, 0.5, 0.2]].map((some) => some.map((share, n) => ({ n, shares: [share, 0, 0, 1 - share] }))) }));
    const changes = async () => Object.fromEntries((await lines(page)).map((line) => [line[0], line[4]]));
    assert.deepEqual(await changes(), { more: '', less: '', same: '' });
    await press(page, 'End');
    await page.waitForFunction(() => /new/.test(document.querySelector('#ranking tbody').textContent));
    assert.deepEqual(await changes(), { more: '▲ ×4.0', less: '▼ ×0.5', same: '= 1.00', new: '▲ new' });
});

test('ranking: what was usual before is the median, and changes of small times are not told', async (opener) => {
    // The trouble began at the fourth of seven frames.
    const page = await opener.report(stream({ states: STATES, axes3: AXES3, axes4: null, names: ['trouble', 'small', 'ended', 'often'],
        frames: [0.2, 0.2, 0.2, 0.9, 0.9, 0.2, 0.8].map((share, t) => [
            { n: 0, shares: [share, 0, 0, 1 - share] }, { n: 1, shares: [t < 6 ? 0.001 : 0.03, 0, 0, 0.97] }, { n: 2, shares: [t < 6 ? 0.8 : 0.01, 0, 0, 0.2] },
            { n: 3, shares: [t % 3 === 0 ? 0.7 : 0, 0, 0, 0.3] }, // as before, but seldom
        ]) }));
    await press(page, 'End');
    await page.waitForFunction(() => /▲/.test(document.querySelector('#ranking tbody').textContent));
    assert.deepEqual(Object.fromEntries((await lines(page)).map((line) => [line[0], line[4]])), { trouble: '▲ ×4.0', small: '', ended: '▼ < ×0.1', often: '▲ ×3.0' });
    // It began at the fifth of sixteen frames.
    const long = await opener.report(stream({ states: STATES, axes3: AXES3, axes4: null, names: ['trouble'],
        frames: Array.from({ length: 16 }, (_, t) => [{ n: 0, shares: [t < 4 ? 0.1 : 0.9, 0, 0, t < 4 ? 0.9 : 0.1] }]) }));
    await press(long, 'End');
    await long.waitForFunction(() => /▲/.test(document.querySelector('#ranking tbody').textContent));
    assert.equal((await lines(long))[0][4], '▲ ×9.0');
});

test('ranking: no factor is told of nearly nothing, and a change of the kind of time is', async (opener) => {
    const states = ['user', 'lock', 'sleep'], of = (cpu, lock) => [cpu, lock, 1 - cpu - lock];
    const page = await opener.report(stream({ states, axes3: [{ name: 'CPU', states: [0] }, { name: 'lock', states: [1] }, { name: 'idle', states: [2] }],
        axes4: null, names: ['shouts', 'kind', 'same'], frames: [0, 1, 2, 3].map((t) =>
            [of(t < 3 ? 0.03 : 0.9, 0), t < 3 ? of(0.5, 0.1) : of(0.1, 0.5), of(0.2, 0.3)].map((shares, n) => ({ n, shares }))) }));
    await press(page, 'End');
    await page.waitForFunction(() => /▲/.test(document.querySelector('#ranking tbody').textContent));
    const cells = () => page.locator('#ranking tbody tr[data-key] td:last-child').evaluateAll((all) => all.map((cell) => [cell.textContent, cell.title]));
    const wanted = [['▲ new', '0.03 before'], ['= 1.00', '0.60 before; mostly CPU before, mostly lock now'], ['= 1.00', '0.50 before']];
    assert.deepEqual(await cells(), wanted);
    await page.locator('#ranking .name', { hasText: 'kind' }).click();
    await still(page);
    assert.match(await text(page, '#details > small'), /as before \(0\.60\) · mostly CPU before, mostly lock now$/);
    await show(page, 'compare');
    await page.selectOption('#compare .choices select', 'halves');
    await show(page, 'ranking');
    assert.deepEqual(await cells(), wanted);
});

test('ranking: single entities of one name have their ids, which long names do not cut off', async (opener) => {
    const name = 'camp_super@postgres_with_a_long_name_of_its_own';
    const page = await opener.report(stream({ kind: 'sessions', labels: ['user'], states: STATES, axes3: AXES3, axes4: null,
        names: [10, 11, 12].map((id) => ({ name, id, pid: 0, labels: { user: 'u' } })), frames: [[0.9, 0.8, 0.7].map((share, n) => ({ n, shares: [share, 0, 0, 1 - share] }))] }));
    assert.deepEqual(await names(page), ['u ×3']);
    await page.click('#ranking .name');
    await page.click('#details .open');
    await still(page);
    assert.deepEqual(await names(page), [`${name} 10`, `${name} 11`, `${name} 12`]);
    const cell = await page.locator('#ranking tbody tr[data-key] td').first().boundingBox(), id = await page.locator('#ranking .who small').first().boundingBox();
    assert.ok(id.width > 10 && id.x + id.width <= cell.x + cell.width);
});

test('ranking: the parked ones of a list are counted, and a press dims all others', async (opener) => {
    const states = ['user', 'lock', 'sleep'], parked = { shares: [0, 1, 0] };
    const page = await opener.report(stream({ states, axes3: [{ name: 'CPU', states: [0] }, { name: 'lock', states: [1] }, { name: 'idle', states: [2] }], axes4: null,
        names: [['a', 1], ['a', 1], ['b', 2], ['b', 2], ['b', 2]].map(([name, pid], n) => ({ name, pid, id: n === 0 || n === 2 ? pid : 10 + n })),
        frames: [[{ n: 0, shares: [0.5, 0, 0.5] }, { n: 1, ...parked }, { n: 2, shares: [0.4, 0, 0.6] }, { n: 3, ...parked }, { n: 4, ...parked }]] }));
    const button = page.locator('#ranking .idle button');
    assert.equal(await button.innerText(), '3 parked in a lock (b)');
    await button.click();
    await still(page);
    assert.match(await page.locator('.legend').innerText(), /3 of 5/);
    await page.click('#ranking tr[data-key="1"] .name');
    await page.click('#details .open');
    await still(page);
    assert.equal(await text(page, '#ranking .idle'), '1 parked in a lock (a)');
    await button.click();
    await still(page);
    assert.match(await page.locator('.legend').innerText(), /1 of 5/);
});

/** Frames of groups that differ: in each frame one entity that exists in this frame only. */
const churning = () => {
    const shorts = Array.from({ length: 6 }, (_, t) => ({ name: `sh${t}x`, id: 500 + t, pid: 500 + t }));
    return stream({ states: STATES, axes3: AXES3, axes4: null, names: [{ name: 'server', id: 1, pid: 1 }, ...shorts, ...shorts.map(({ name, id }) => ({ name, id: id + 100, pid: id + 100 }))],
        frames: Array.from({ length: 6 }, (_, t) => [{ n: 0, shares: [0.5, 0, 0, 0.5] },
            { n: 1 + t, shares: [0.4, 0, 0, 0], unaccounted: 0, elapsed: 0.4, flags: NEW | ENDED }, { n: 7 + t, shares: [1, 0, 0, 0], elapsed: 0.1 }]) });
};

test('ranking: groups that exist in one frame only share a row', async (opener) => {
    const page = await opener.report(churning());
    await press(page, 'ArrowRight', 'ArrowRight');
    await page.waitForFunction(() => /short-lived/.test(document.querySelector('#ranking tbody').textContent));
    assert.deepEqual((await lines(page)).map((line) => line.slice(0, 2)), [['server', '0.50'], ['short-lived ×2', '0.26']]);
});

test('ranking: rows do not move while the pointer or the keyboard is in the list', async (opener) => {
    const page = await opener.report(stream({ states: STATES, axes3: AXES3, axes4: null, names: ['a', 'b', 'c'],
        frames: [[0.9, 0.5, 0.1], [0.1, 0.5, 0.9]].map((some) => some.map((share, n) => ({ n, shares: [share, 0, 0, 1 - share] }))) }));
    assert.deepEqual(await names(page), ['a', 'b', 'c']);
    await page.locator('#ranking tbody tr[data-key]').nth(1).hover();
    await press(page, 'ArrowRight');
    assert.deepEqual((await lines(page)).map((line) => line.slice(0, 2)), [['a', '0.10'], ['b', '0.50'], ['c', '0.90']]);
    await page.mouse.move(1, 1);
    await still(page);
    assert.deepEqual(await names(page), ['c', 'b', 'a']);
    await page.locator('#ranking-by').focus();
    await press(page, 'Tab');
    assert.equal(await page.evaluate(() => document.activeElement.className), 'name');
    await press(page, ',');
    assert.deepEqual(await names(page), ['c', 'b', 'a']);
    await page.evaluate(() => document.activeElement.blur());
    await still(page);
    assert.deepEqual(await names(page), ['a', 'b', 'c']);
});

test('ranking: only what fits is listed, and all others on request', async (opener) => {
    const many = Array.from({ length: 300 }, (_, n) => ({ name: `p${String.fromCharCode(97 + (n % 26))}`, id: n + 1, pid: n + 1 }));
    const page = await opener.report(stream({ states: STATES, axes3: AXES3, axes4: null, names: many,
        frames: [many.map((_, n) => ({ n, shares: [(n + 1) / 301, 0, 0, 0], unaccounted: 0 }))] }));
    assert.equal((await lines(page)).length, 15);
    assert.equal(await text(page, '#ranking .more'), '… 285 more');
    await page.locator('#ranking .more').click();
    await still(page);
    assert.ok((await lines(page)).length < 60);
    await page.locator('.ranking-scroll').evaluate((scroll) => (scroll.scrollTop = 1e6));
    await page.waitForFunction(() => [...document.querySelectorAll('#ranking tbody tr[data-key]')].at(-1).cells[1].textContent === '< 0.01');
});

test('ranking: a search lists only what it finds', async (opener) => {
    const page = await opener.report(data());
    await page.fill('#search', 'writer|cc');
    await still(page);
    assert.deepEqual((await lines(page)).map(([name, active]) => [name, active]), [['cc1', '0.85'], ['postgres ×2', '0.38']]);
    await page.locator('#search').blur();
    await press(page, 'End');
    await page.waitForFunction(() => /×|=/.test(document.querySelector('#ranking tbody').textContent));
    assert.deepEqual((await lines(page)).map((line) => line[4]), ['= 1.00', '']); // the history has all threads of postgres
});

test('ranking: the change follows a comparison and the search', async (opener) => {
    const page = await opener.report(stream({ states: STATES, axes3: AXES3, axes4: null,
        names: [{ name: 'a', id: 1, pid: 1 }, { name: 'b', id: 2, pid: 1 }],
        frames: [[0.1, 0.1], [0.1, 0.5], [0.2, 0.5], [0.2, 0.5]].map((some) => some.map((share, n) => ({ n, shares: [share, 0, 0, 1 - share] }))) }));
    await press(page, 'End');
    await show(page, 'compare');
    await page.selectOption('#compare .choices select', 'halves');
    await show(page, 'ranking');
    const before = async () => (await lines(page))[0][4];
    assert.match(await before(), /^▲ ×1\.[78]$/); // 0.7 of the mean of 0.2 and 0.6
    await page.fill('#search', 'a');
    await still(page);
    assert.equal(await before(), '▲ ×2.0');
});

test('details: a press on a row chooses its members, and a second one lists them', async (opener) => {
    const page = await opener.report(data());
    await page.locator('#ranking .name', { hasText: 'postgres' }).focus();
    await press(page, 'Enter');
    assert.match(await text(page, '.legend'), /3 of 6 chosen/);
    assert.match(await said(page), /^postgres: 3 chosen/);
    assert.match(await text(page, '#details h3 + small'), /^pid 10 · uid 7 · 3 of 3 threads present$/);
    // Of 2.5 intervals: disk 0.425, CPU 0.45, run queue 0.1.
    assert.match(await text(page, '#details p'), /^Runs on a CPU 18 % of its time\. Asleep for disks 17 %\. Waits for a CPU 4 %\. Idle 61 %\.$/);
    assert.equal(await text(page, '#details .command:not([hidden]) code'), 'camp top --pid 10');
    const states = await page.locator('#details .states tr').evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
    assert.deepEqual(states[0], ['sleep', '61 %', '1.52 s', 'measured']);
    await press(page, 'Enter');
    assert.deepEqual((await lines(page)).map((line) => line.slice(0, 2)), [['postgres', '0.60'], ['writer', '0.38']]);
    assert.equal(await text(page, '#ranking .up'), '◂ all processes');
    assert.equal(await page.evaluate(() => document.activeElement.textContent), '◂ all processes');
    await press(page, 'Escape');
    assert.deepEqual(await names(page), ['postgres ×3', 'cc1']);
    assert.equal(await page.locator('#details').isVisible(), false);
}, { headed: true });

test('details: the next command comes into view, and a double press opens the row under the pointer', async (opener) => {
    const many = Array.from({ length: 60 }, (_, n) => ({ name: `p${String.fromCharCode(97 + (n % 26))}${n}x`, id: 10 + n, pid: 10 + Math.min(n, 40) }));
    const all = stream({ states: STATES, axes3: AXES3, axes4: null, names: many, frames: [many.map((_, n) => ({ n, shares: [(n + 1) / 61, 0, 0, 1 - (n + 1) / 61] }))] });
    for (const size of [{ width: 1440, height: 900 }, { width: 390, height: 844, touch: true }]) {
        const page = await opener.report(all, { ...size, stillness: true });
        await page.locator('#ranking .name').nth(1).click();
        await page.waitForTimeout(500);
        const command = await page.locator('#details .command:not([hidden])').last().boundingBox(), player = await page.locator('.player').boundingBox();
        assert.ok(command.y > 0 && command.y + command.height <= player.y, `${size.width}: the command ends at ${command.y + command.height}, the player begins at ${player.y}`);
        assert.ok((await page.locator('#details h3').boundingBox()).y > 0);
    }
    const page = await opener.report(all, { width: 1440, height: 900 });
    await page.locator('#ranking .name', { hasText: 'po40x' }).dblclick({ delay: 50 });
    await still(page);
    assert.equal((await lines(page)).length, 15);
    assert.equal(await text(page, '#ranking .up'), '◂ all processes');
});

test('details: a selection in another view closes them', async (opener) => {
    const page = await opener.report(data());
    await page.locator('#ranking tbody tr[data-key]').first().click();
    await still(page);
    assert.equal(await page.locator('#details').isVisible(), true);
    await press(page, 'Escape');
    assert.equal(await page.locator('#details').isVisible(), false);
    assert.equal(await text(page, '.legend'), '');
});

test('details: the button opens the members by touch', async (opener) => {
    const page = await opener.report(data(), { width: 360, height: 760, touch: true });
    await page.locator('#ranking tbody tr[data-key]').first().tap();
    await still(page);
    await page.locator('#details .open').tap();
    await still(page);
    assert.deepEqual(await names(page), ['postgres', 'writer']);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 360);
});

test('details: a host has the command that shows its groups', async (opener) => {
    const page = await opener.report(stream({ kind: 'hosts', below: 'camp view --from prometheus:x --host', states: STATES, axes4: null,
        names: [{ name: 'db 1', pid: 0 }], frames: [[{ n: 0, shares: [0.5, 0, 0, 0.5] }]] }));
    await page.locator('#ranking tbody tr[data-key]').first().click();
    await still(page);
    assert.equal(await text(page, '#details .command:not([hidden]) code'), "camp view --from prometheus:x --host 'db 1'");
});

test('ranking: the next command for a recording has its file, and the time that is shown', async (opener) => {
    for (const [kind, wanted, query] of [['threads', ' --pid 7'], ['sessions', ' --group query', '4711'], ['sessions', '']]) {
        const page = await opener.report(stream({ kind, source: `a b.camp (${kind})`, labels: ['application', 'query'], states: STATES,
            names: [{ name: 'root@db', id: 7, pid: 7, labels: { application: 'orders', query } }],
            frames: [0, 1].map(() => [{ n: 0, shares: [0.5, 0, 0, 0.5] }]) }));
        await press(page, 'End');
        await page.locator('#ranking tbody tr[data-key]').first().click();
        await still(page);
        const shown = await text(page, '#details .command:not([hidden]) code');
        assert.match(shown, new RegExp(`^camp top --from 'a b[.]camp' --begin 20\\d\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d[.]\\d{3}Z --end 20\\S+Z${wanted}$`));
    }
});

test('details: sessions that wait have the command for their events, and for a lock the one for who blocks them', async (opener) => {
    for (const [from, query, next, blockers] of [
        ['postgres:dbname=shop', '4711', 'camp top --from postgres:dbname=shop --group query', 'camp why --from postgres:dbname=shop'],
        ["postgres:host='a b'", '', "camp top --from 'postgres:host='\\''a b'\\'''", "camp why --from 'postgres:host='\\''a b'\\'''"],
        ['mariadb:', '', 'camp top --from mariadb:', 'camp why --from mariadb:'],
        ['mariadb:host=db1 user=$(id)', '', "camp top --from 'mariadb:host=db1 user=$(id)'", "camp why --from 'mariadb:host=db1 user=$(id)'"],
        ['odbc:x', '', 'camp top --from odbc:x', null],
    ]) {
        const page = await opener.report(stream({ kind: 'sessions', from, labels: ['application', 'query'], live: true, states: ['user', 'lock', 'idle'], axes4: null,
            axes3: [{ name: 'CPU', states: [0] }, { name: 'lock', states: [1] }, { name: 'idle', states: [2] }],
            names: ['web', 'job'].map((application, n) => ({ name: `s${n}`, labels: { application, query } })),
            frames: [[{ n: 0, shares: [0.1, 0.6, 0.3] }, { n: 1, shares: [0.6, 0.1, 0.3] }]] }));
        const commands = async (name) => {
            await page.locator('#ranking .name', { hasText: name }).click();
            await still(page);
            return await page.locator('#details .command:not([hidden]) code').allInnerTexts();
        };
        const of_web = await commands('web'), of_job = await commands('job');
        assert.deepEqual(of_job, [next]);
        assert.equal(of_web.at(-1), query ? next.replace(' --group', ' --detail --group') : `${next} --detail`);
        if (blockers) assert.equal(of_web[0], blockers);
        assert.equal(of_web.length, blockers ? 2 : 1);
    }
});

test('ranking: a waiter that is in a lock all the time is counted as parked, and not as idle', async (opener) => {
    const page = await opener.report(Buffer.concat([head({ states: ['user', 'lock', 'sleep'], frames: 1 }), entities(['pool', 'busy']), json(CPUS, { cpus: 2 }),
        frame(3, [{ n: 0, shares: [0, 1, 0] }, { n: 1, shares: [0.5, 0.5, 0] }]), json(END, { reason: 'over' })]));
    assert.deepEqual((await lines(page)).map((line) => line.slice(0, 2)), [['busy', '1.00']]);
    assert.equal(await text(page, '#ranking .idle'), '1 parked in a lock (pool)');
});

test('ranking: the mean of a range leaves out the time of frames in which a thread was parked', async (opener) => {
    const frames = [0, 1, 2].map((index) => frame(3, [{ n: 0, shares: index < 2 ? [0, 1, 0] : [0, 0, 1] }, { n: 1, shares: [0.5, 0, 0.5] }], { index }));
    const page = await opener.report(Buffer.concat([head({ states: ['user', 'lock', 'sleep'], frames: 3 }), entities(['pool', 'busy']), ...frames,
        json(END, { reason: 'over' })]));
    await dragRibbon(page, 0.5, 2.5);
    assert.deepEqual((await lines(page)).map((line) => line.slice(0, 2)), [['busy', '0.50']]);
});

test('details: a click in a live source is drawn at once, although drawing takes long', async (opener) => {
    const page = await opener.report(stream({ live: true, states: ['user', 'idle'], names: ['web', 'job'],
        frames: [[{ n: 0, shares: [0.9, 0.1] }, { n: 1, shares: [0.4, 0.6] }]] }));
    await page.evaluate(() => {  // each look at the clock is 20 ms later than the one before
        const now = performance.now.bind(performance);
        let late = 0;
        performance.now = () => now() + (late += 20);
    });
    for (const name of ['web', 'job', 'web']) {
        await page.locator('#ranking .name', { hasText: name }).click();
        await still(page);
        assert.equal(await page.locator('#details h3').innerText(), name);
    }
});
