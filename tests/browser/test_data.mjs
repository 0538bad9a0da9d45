// Data that is broken or unusual. Problems are reported, and the intact part is shown.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import { STATES, NAMES, ROWS, begin, one, status, dotCount } from './data.mjs';
import { press, said, test, text } from './harness.mjs';
import { block, END, ENTITIES, entities, frame, FRAME, head, HEAD, json, NOTE, report, stream } from './stream.mjs';

const BROKEN = [
    ['ends inside a frame', Buffer.concat([begin(), one(), one(1).subarray(0, 90)]), /ends inside a block\. The 1 frames before it/, 3],
    ['has a frame of another length', Buffer.concat([begin(), one(), block(FRAME, one(1).subarray(8, 150))]), /another length/, 3],
    ['has a frame that is too short', Buffer.concat([begin(), one(), block(FRAME, 'short')]), /too short/, 3],
    ['has an unknown entity', Buffer.concat([begin(), one(), frame(3, [{ n: 77, shares: [1, 0, 0] }])]), /entity 77/, 3],
    ['does not start with a key frame', Buffer.concat([begin(), frame(3, ROWS, { key: false })]), /no key frame/, 0],
    ['has a block of 4 GB', Buffer.concat([begin(), one(), Buffer.from([255, 255, 255, 255, 3, 0, 0, 0])]), /a block of 4294967295 bytes/, 3],
    ['has another format', head({ states: STATES, schema: 'camp.stream/9' }), /"camp\.stream\/9"; this page reads camp\.stream\/1/, 0],
    ['has no head', one(), /before the head/, 0],
    ['has text that is not JSON', block(1, '{"schema'), /not JSON/, 0],
    ['has a unit of 0', Buffer.concat([begin(), one(), frame(3, [], { unit: 0 })]), /unit 0/, 3],
    ['has a head that is null', json(HEAD, null), /not an object or an array/, 0],
    ['has a head whose states are null', json(HEAD, { schema: 'camp.stream/1', states: [null] }), /head lacks/, 0],
    ['has a head without colours', head({ states: STATES, colours: null }), /head lacks/, 0],
    ['has an axis of numbers', head({ states: STATES, axes3: [1, 2, 3] }), /head lacks/, 0],
    ['has a format that is no text', head({ states: STATES, schema: { toString: 1 } }), /format is/, 0],
    ['has an entity that is null', Buffer.concat([begin(), json(ENTITIES, [null]), one()]), /entity is not/, 0],
    ['has an entity without a name', Buffer.concat([begin(), one(), json(ENTITIES, [{ n: 3, id: 1 }]), one(1)]), /entity is not/, 3],
    ['has an entity whose number is no number', Buffer.concat([begin(), one(), entities([{ name: 'x', n: { toString: 1 } }])]), /entity is not/, 3],
    ['leaves out a number', Buffer.concat([begin(), one(), entities(['x', { name: 'y', n: 4 }], 4)]), /an entity is missing/, 3],
    ['has a number that is too high', Buffer.concat([begin(), one(), entities(['x'], 4)]), /an entity has the number 4/, 3],
    ['has a note that is null', Buffer.concat([begin(), one(), json(NOTE, null)]), /not an object or an array/, 3],
    ['has a note that is no text', Buffer.concat([begin(), one(), json(NOTE, { text: { toString: 1 } })]), /note is no text/, 3],
    ['has a frame without an end', Buffer.concat([begin(), one(), frame(3, ROWS, { lengthMs: NaN })]), /ends at NaN/, 3],
    ['has a frame with an endless unit', Buffer.concat([begin(), one(), frame(3, [], { unit: Infinity })]), /unit Infinity/, 3],
    ['is empty', Buffer.alloc(0), /nothing in it/, 0],
];

for (const [what, bytes, message, dots] of BROKEN)
    test(`broken data: the page reports data that ${what}`, async (opener) => {
        const page = await opener.report(bytes);
        assert.match(await status(page), message);
        if (dots > 0) assert.equal(await dotCount(page), dots);
    });

test('broken data: the page reports invalid base64 and invalid compression', async (opener) => {
    const script = (data) => report(Buffer.alloc(0)).replace(/(octet-stream">)[^<]*/, (_, begin) => begin + data);
    for (const data of ['%%%%', Buffer.from('not deflated').toString('base64')]) {
        const page = await opener.report(script(data));
        assert.match(await status(page), /^The data is broken: /);
    }
    const whole = deflateSync(stream({ states: STATES, names: NAMES, frames: [ROWS] })).toString('base64');
    const cut = await opener.report(script(whole.slice(0, whole.length - 40)));
    assert.match(await status(cut), /^The data is broken: /);
});

test('data: the page shows notes and ignores unknown blocks of the stream', async (opener) => {
    const page = await opener.report(Buffer.concat([begin({ note: 'Of two hosts.' }), block(99, 'from later'), json(NOTE, { text: 'A gap of 3 s.' }), one(), json(END, { reason: 'over' })]));
    assert.equal(await dotCount(page), 3);
    assert.match(await text(page, '.notes'), /Of two hosts\.\nA gap of 3 s\./);
});

test('data: a report opens at the frame that its end names', async (opener) => {
    const frames = [0, 1, 2, 3].map((index) => one(index));
    for (const [open, expected] of [[2, /^3 \/ 4 /], [99, /^4 \/ 4 /], [undefined, /^1 \/ 4 /]]) {
        const page = await opener.report(Buffer.concat([begin(), ...frames, json(END, { reason: 'over', open })]));
        assert.equal(await dotCount(page), 3);
        assert.match(await text(page, '.odometer'), expected);
    }
});

test('data: the page reports that it has no data', async (opener) => {
    const page = await opener.report(readFileSync(new URL('../../web/dist/page.html', import.meta.url), 'utf8'));
    assert.match(await text(page, '.status'), /no data in this file/);
});

test('data: a frame may have its own unit of shares, no rows, or names with markup', async (opener) => {
    const page = await opener.report(Buffer.concat([
        head({ states: STATES }), entities([...NAMES, '<img src=x onerror=alert(1)>']),
        frame(3, [...ROWS, { n: 3, shares: [1.5, 0.5, 0], elapsed: 4 }], { unit: 1 / 20000 }), frame(3, [], { index: 1 }),
    ]));
    assert.equal(await dotCount(page), 3);
    assert.match(await text(page, '#sums'), /over 100 % in 1: 4\.00 s accounted twice/);
    await press(page, 'N', 'p');
    assert.match(await text(page, '.legend'), /<img src=x onerror=alert\(1\)> 1003/);
    await press(page, 'End');
    assert.equal(await dotCount(page), 0);
});

test('data: the page has the title of the stream', async (opener) => {
    const called = await opener.report(stream({ states: STATES, names: NAMES, frames: [ROWS], title: 'Friday, <b>slow</b>' }));
    assert.equal(await called.title(), 'Friday, <b>slow</b>');
    assert.match(await text(called, '.subject'), /^Friday, <b>slow<\/b> · test · made-up/);
    const none = await opener.report(stream({ states: STATES, names: NAMES, frames: [ROWS], title: '' }));
    assert.equal(await none.title(), 'camp · test');
});

test('data: a tiny share is not shown as 0 %, nor an almost whole share as 100 %', async (opener) => {
    const page = await opener.report(stream({ states: STATES, names: NAMES, frames: [[{ n: 0, shares: [0.99996, 0, 0.00004], unaccounted: 0.00001 }, ...ROWS.slice(1)]] }));
    assert.match(await text(page, '#sums'), /\(< 0\.01 %\)/);
    await press(page, 'n');
    assert.match(await said(page), /user > 99\.99 %, sleep 0 %, disk < 0\.01 %/);
});

test('data: a reused entity number does not change earlier frames', async (opener) => {
    const other = json(ENTITIES, [{ n: 0, id: 4711, pid: 4711, parent: 1, uid: 0, name: 'other', kernel: false }]);
    const page = await opener.report(Buffer.concat([
        begin({ frames: 5 }), one(0), frame(3, [], { index: 1, key: false, gone: [0] }),
        frame(3, ROWS.slice(1), { index: 2 }), frame(3, ROWS.slice(1), { index: 3 }), other, one(4),
    ]));
    await press(page, 'Home');
    assert.match(await text(page, '.odometer'), /^3 \/ 5 /);
    await press(page, 'End', 'n');
    assert.match(await said(page), /^other 4711: /);
});

test('data: the page reads 300 frames of 500 entities to the end', async (opener) => {
    const rows = Array.from({ length: 500 }, (_, n) => ({ n, shares: [n / 500, 1 - n / 500, 0] }));
    const page = await opener.report(stream({
        states: STATES, names: rows.map(({ n }) => `t${n}`), frames: Array.from({ length: 300 }, () => rows),
    }));
    assert.match(await text(page, '.odometer'), /^1 \/ 300 /);
});
