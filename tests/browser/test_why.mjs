// The view "Why" of a file: bars add up, names are texts, the chain is whole, and what is absent is said.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { barsOf, cause, CHAIN, openCauses, state, TREE, who, why } from './causes.mjs';
import { assertNear, press, rgb, still, test, text } from './harness.mjs';
import { random } from './made.mjs';
import { CLASSES, stream } from './stream.mjs';
import { show } from './views.mjs';

/** An interval of a process that waits for another one, and for a CPU behind a third one. */
const RECORDED = readFileSync(new URL('causes_recorded.json', import.meta.url), 'utf8');
const STATES = ['user', 'run_queue', 'disk', 'lock', 'sleep'];
const data = () => stream({ states: STATES, axes4: null, names: ['order', 'journal'], frames: [0, 1].map(() => [{ n: 0, shares: [0.2, 0.3, 0, 0.5, 0] }, { n: 1, shares: [0, 0, 0, 0, 1] }]) });

/** Opens a page whose view shows these objects. */
async function opened(opener, objects, options) {
    const page = await opener.report(data(), options);
    await show(page, 'why');
    await openCauses(page, objects);
    await page.waitForFunction(() => document.querySelector('#why .caption').textContent !== '' || document.querySelector('#why .why-note').textContent !== '');
    await still(page);
    return page;
}

/** Fails unless the parts of each row have its bar, side by side. */
function assertAddsUp(bars) {
    for (const [level, part] of [['', 'state'], ['state', 'cause'], ['cause', 'who']]) {
        const wholes = level === '' ? [{ from: 0, width: 100, at: -1 }] : bars.flatMap((bar, at) => (bar.level === level ? [{ ...bar, at }] : []));
        for (const { from, width, at } of wholes) {
            let end = from, count = 0;
            for (const bar of bars.slice(at + 1)) {
                if (level !== '' && (bar.level === level || bar.level === 'state')) break;
                if (bar.level !== part) continue;
                assertNear(bar.from, end, 0.001, `${bar.title} starts`);
                end = bar.from + bar.width;
                count++;
            }
            if (count > 0) assertNear(end, from + width, 0.001, `the parts of ${level || 'all'} end`);
        }
    }
}

test('why: data without causes says how they are obtained', async (opener) => {
    const page = await opener.report(data());
    await show(page, 'why');
    assert.match(await text(page, '#why .why-help'), /^This data has no causes of waits\. .* camp record --why/);
    assert.equal(await page.locator('#why-group').isVisible(), false);
    assert.equal(await page.locator('#why .why-content > *').count(), 0);
});

test('why: the bars of states, causes and groups add up to their wholes', async (opener) => {
    const page = await opened(opener, [why()]);
    const bars = await barsOf(page);
    assertAddsUp(bars);
    assert.deepEqual(bars.map(({ title }) => title), ['lock', 'woken by', 'journal', 'order', 'nothing has woken it yet', 'run queue', 'another had the CPU', 'batch', '5 others',
        'cannot be attributed', 'on a CPU', 'throttled', 'its own quota']);
    assert.deepEqual(await page.locator('#why tr.why-state td:nth-child(3)').allInnerTexts(), ['45.50 %', '24.50 %', '20.00 %', '10.00 %']);
    assert.match(await text(page, '#why .why-sentence'), /^order was on a CPU 20\.0 % of 1\.00 s/);
    assert.deepEqual(await page.locator('#why tr.why-state').first().locator('td').allInnerTexts(), ['', '45.50 %', '455 ms', '1,234', '23.0 µs', '114 ms', '2.00 s']);
    assert.match(await text(page, '#why .why-losses'), /4\.50 % of the time cannot be attributed\. 2 switches went unseen/);
});

test('why: what camp why --json wrote is shown whole', async (opener) => {
    const written = JSON.parse(RECORDED), page = await opened(opener, RECORDED);
    assert.equal(await text(page, '#why .why-sentence'), written.sentence);
    assertAddsUp(await barsOf(page));
    const states = await page.locator('#why tr.why-state[data-row] td:nth-child(3)').allInnerTexts();
    assert.equal(states.reduce((sum, percent) => sum + Math.round(100 * parseFloat(percent)), 0), 10000);
    assert.equal((await barsOf(page)).length, written.tree.length);
    assert.deepEqual(await page.locator('#why .why-chain b').allInnerTexts(), ['why-victim', 'why-waker', 'a timer']);
});

test('why: percentages that were shared out at random still have bars that add up', async (opener) => {
    const next = random(3);
    const shares = (whole, count) => {
        const cuts = Array.from({ length: count - 1 }, () => Math.floor(next() * (whole + 1))).sort((a, b) => a - b);
        return [...cuts, whole].map((cut, i) => cut - (i > 0 ? cuts[i - 1] : 0)); // in hundredths, some of them 0
    };
    const tree = shares(10000, 12).flatMap((of, s) => [state(`s${s}`, of / 100), ...shares(of, 4).flatMap((part, c) =>
        [cause(`s${s}`, `c${c}`, part / 100), ...shares(part, 5).map((one, w) => who(`s${s}`, `c${c}`, `w${w}`, one / 100))])]);
    const bars = await barsOf(await opened(opener, [why({ tree })]));
    assert.equal(bars.length, 12 * (1 + 4 * (1 + 5)));
    assertAddsUp(bars);
});

test('why: of several intervals, a sleep lasted beyond one if others in its state have ended', async (opener) => {
    const tree = [state('lock', 60), cause('lock', 'group', 20), who('lock', 'group', 'a', 20), cause('lock', 'not_ended', 40), state('poll', 40), cause('poll', 'not_ended', 40)];
    const titles = async (more) => (await barsOf(await opened(opener, [why({ tree, ...more })]))).map(({ title }) => title);
    assert.deepEqual((await titles({ intervals: 2 })).filter((title) => /interval|nothing/.test(title)), ['lasted beyond an interval', 'nothing has woken it yet']);
    assert.deepEqual((await titles({})).filter((title) => /interval|nothing/.test(title)), ['nothing has woken it yet', 'nothing has woken it yet']);
});

test('why: percentages that are too large are cut off at the end of their whole', async (opener) => {
    const tree = [state('lock', 80), cause('lock', 'group', 1e9), who('lock', 'group', 'a', 50), who('lock', 'group', 'b', 50), state('disk', 70), cause('disk', 'timer', -5), state('poll', NaN)];
    const bars = await barsOf(await opened(opener, [why({ tree })]));
    assert.deepEqual(bars.map(({ from, width }) => [from, width]), [[0, 80], [0, 80], [0, 50], [50, 30], [80, 20], [80, 0], [100, 0]]);
});

test('why: one state with all of the time, and one with none', async (opener) => {
    const page = await opened(opener, [why({ tree: [state('poll', 100), cause('poll', 'not_ended', 100), state('on_cpu', 0)], chain: [], inflicted: [] })]);
    assert.deepEqual(await page.locator('#why tr[data-row] td:nth-child(3)').allInnerTexts(), ['100.00 %', '100.00 %', '0.00 %']);
    assertAddsUp(await barsOf(page));
    assert.equal(await page.locator('#why .why-content > .bar-parts > i').count(), 1);
    assert.equal(await page.locator('#why .why-part:visible').count(), 0);
});

test('why: small states share a line until it is pressed', async (opener) => {
    const small = ['disk', 'pipe', 'child', 'socket'].map((name, i) => state(name, 0.09 - 0.01 * i));
    const page = await opened(opener, [why({ tree: [state('poll', 99.7), cause('poll', 'timer', 99.7), ...small] })]);
    const rows = () => page.locator('#why .why-content > .why-scroll tbody tr').evaluateAll((all) => all.map((row) => [row.cells[0].textContent, row.cells[2].textContent]));
    assert.deepEqual(await rows(), [['poll', '99.70 %'], ['woken by a timer', '99.70 %'], ['4 more states', '0.30 %']]);
    await page.locator('#why button', { hasText: '4 more states' }).click();
    await still(page);
    assert.deepEqual((await rows()).slice(2), [['disk', '0.09 %'], ['pipe', '0.08 %'], ['child', '0.07 %'], ['socket', '0.06 %']]);
});

test('why: a group without time says so', async (opener) => {
    const page = await opened(opener, [why({ subject: 'cron', tree: [], chain: [], inflicted: [], time_ns: 0, threads: 0 })]);
    assert.equal(await text(page, '#why .why-sentence'), 'cron had no time in this interval.');
    assert.equal(await page.locator('#why .why-content > *').count(), 0);
});

test('why: a state has its colour, and what cannot be attributed is hatched', async (opener) => {
    for (const dark of [false, true]) {
        const page = await opened(opener, [why()], { dark });
        const colours = await page.locator('#why tr[data-row]').evaluateAll((rows) => Object.fromEntries(rows.map((row) => {
            const style = getComputedStyle(row.querySelector('.why-bar i'));
            return [row.dataset.row, [style.color, style.backgroundColor, style.backgroundImage]];
        })));
        for (const [name, of] of [['lock', 'lock'], ['run_queue', 'run_queue'], ['on_cpu', 'cpu'], ['throttled', 'throttled']]) {
            const one = CLASSES.find((kind) => kind.name === of), wanted = `rgb(${rgb(dark ? one.dark : one.light).join(', ')})`;
            const [key] = Object.keys(colours).filter((words) => words.startsWith(`${name}  `));
            assert.deepEqual(colours[key], [wanted, wanted, 'none'], name);
        }
        assert.match(colours['run_queue unknown cannot be attributed'][2], /repeating-linear-gradient/);
        assert.match(colours['lock not_ended nothing has woken it yet'][2], /repeating-linear-gradient/);
    }
});

test('why: the chain has an arrow for each wait, and what a group inflicted is listed', async (opener) => {
    const page = await opened(opener, [why()]);
    assert.deepEqual(await page.locator('#why .why-chain b').allInnerTexts(), ['order', 'journal', 'virtio1-req.0 (irq 36)']);
    assert.deepEqual(await page.locator('#why .why-arrow').allInnerTexts(), ['waited 30.0 % in lock for', 'waited 80.1 % in disk for']);
    const inflicted = page.locator('#why .why-part', { hasText: 'Who waited for a CPU behind it' });
    assert.deepEqual(await inflicted.locator('tbody tr').evaluateAll((rows) => rows.map((row) => [row.cells[0].textContent, row.cells[2].textContent])), [['batch', '400 ms'], ['journal', '100 ms']]);
    const ran = await opened(opener, [why({ chain: [CHAIN[0], { step: 2, who: 'journal', state: null, percent: null, cause: null, by: null, on_cpu_percent: 90 }] })]);
    assert.deepEqual(await ran.locator('#why .why-chain li').allInnerTexts().then((all) => all.map((one) => one.replace(/\s+/g, ' '))),
        ['order waited 30.0 % in lock for', 'journal was on a CPU 90.0 % of its time']);
});

test('why: sleeps by system call are listed, if the data has some', async (opener) => {
    const page = await opened(opener, [why({ calls: [{ state: 'lock', call: 'futex', object: 'futex 0x7f00', percent: 12.5, sleep_ns: 5e8, count: 1000 }] })]);
    const calls = page.locator('#why .why-part', { hasText: 'Sleeps by system call' });
    assert.deepEqual(await calls.locator('tbody tr').first().locator('th, td').allInnerTexts(), ['futex', 'futex 0x7f00', 'lock', '12.50 %', '500 ms', '1,000']);
});

test('why: names are texts, and cannot change the direction of other texts', async (opener) => {
    const name = '<img src=x onerror=alert(1)>\u202egpj.\u0007';
    const page = await opened(opener, [why({
        subject: name, sentence: `${name} slept.`, tree: [state('lock', 100), cause('lock', 'group', 100), who('lock', 'group', name, 100)],
        chain: [{ ...CHAIN[0], who: name, by: name }], inflicted: [{ who: name, wait_ns: 1 }], stacks: [{ state: 'lock', frames: [name, '', 7], ms: 1, sleeps: 1 }],
        calls: [{ state: name, call: name, object: name, percent: 1, sleep_ns: 1, count: 1 }],
    })]);
    assert.equal(await page.locator('#why img').count(), 0);
    const shown = await page.locator('#why').evaluate((view) => view.textContent);
    assert.ok(shown.includes('<img src=x onerror=alert(1)>\ufffdgpj.\ufffd slept.'));
    assert.ok(!/[\u202e\u0007]/.test(shown));
});

test('why: an interval of a file can be chosen, and the file be closed', async (opener) => {
    const page = await opened(opener, [0, 1, 2].map((seconds) => why({ sentence: `interval ${seconds}` }, seconds)));
    assert.equal(await text(page, '#why .why-sentence'), 'interval 2');
    assert.match(await text(page, '#why .caption'), /^why\.json · order · 1\.00 s until \d\d:\d\d:\d\d · 4 threads$/);
    await page.selectOption('#why-time', '0');
    await still(page);
    assert.equal(await text(page, '#why .why-sentence'), 'interval 0');
    await page.locator('#why button', { hasText: 'Close the file' }).click();
    await still(page);
    assert.equal(await page.locator('#why .why-content > *').count(), 0);
    assert.match(await text(page, '#why .why-help'), /no causes of waits/);
    assert.equal(await page.locator('#why-time').isVisible(), false);
});

test('why: a file that is dropped is opened, also if it was formatted over many lines', async (opener) => {
    const page = await opener.report(data());
    await show(page, 'why');
    await page.evaluate((content) => {
        const files = new DataTransfer();
        files.items.add(new File([content], 'dropped.json'));
        document.querySelector('#why').dispatchEvent(new DragEvent('drop', { dataTransfer: files, bubbles: true, cancelable: true }));
    }, JSON.stringify(why(), null, 2));
    await page.waitForFunction(() => /^dropped\.json/.test(document.querySelector('#why .caption').textContent));
    await still(page);
    assert.equal((await barsOf(page)).length, TREE.length);
});

test('why: a broken file is refused with what is wrong, and what was shown stays', async (opener) => {
    const page = await opened(opener, [why()]);
    for (const [content, said] of [['', 'it is empty'], ['{"schema":"camp.why/1"', 'line 1 is not JSON'], ['[]', 'line 1 is not of the schema camp.why/1'],
        ['{"schema":"camp.frame/1","tree":[]}', 'line 1 is not of the schema camp.why/1'], [`${JSON.stringify(why())}\nx`, 'line 2 is not JSON'],
        ['{"schema":"camp.why/1","tree":7}', 'line 1 is not of the schema camp.why/1'], ['null', 'line 1 is not of the schema camp.why/1']]) {
        await openCauses(page, content, 'bad.json');
        await page.waitForFunction((wanted) => document.querySelector('#why .why-note').textContent.includes(wanted), said);
        assert.equal(await text(page, '#why .why-note'), `bad.json is not the output of camp why --json: ${said}.`);
        assert.equal((await barsOf(page)).length, TREE.length);
    }
    await openCauses(page, [{ schema: 'camp.why/1', tree: [7, null, { level: 'x' }, { level: 'state' }], chain: 'x', losses: 3, stacks: [{}], calls: [[]] }]);
    await page.waitForFunction(() => document.querySelectorAll('#why tr[data-row]').length === 1);
});

test('why: the view is reached by its key, and prints', async (opener) => {
    const page = await opened(opener, [why()]);
    await page.locator('#tab-table').click();
    await press(page, '9');
    assert.equal(await page.locator('#why').isVisible(), true);
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.locator('#why-group').isVisible(), false);
});
