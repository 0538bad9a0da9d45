// What fuzz_page_stream.mjs tests: the page reads a stream, and shows each frame. esbuild bundles this file with the
// page's sources, so that it needs nothing else than JavaScript.
import { BlockReader, StreamError } from '../../web/src/stream';
import { CauseRange } from '../../web/src/cause_range';
import { whyOf } from '../../web/src/cause_tree';
import { FrameStore, OtherRun } from '../../web/src/store';

const LIMIT_BYTES = 2048; // of the frames that are kept, so that small streams have older ones dropped
const SHOWN_MOST = 16;

function fail(what) {
    throw new Error(`broken rule: ${what}`);
}

function checkFrame(frame, store) {
    const { count, entity, rowOf } = frame;
    for (const column of [entity, frame.elapsed, frame.unaccounted, frame.flags, ...frame.shares])
        if (column && column.length !== count) fail('a column has another length than the frame has rows');
    if (frame.shares.length !== (store.head?.states.length ?? 0)) fail('a frame has other states than the head');
    for (let row = 0; row < count; row++) {
        if (!store.entities[entity[row]]) fail('a row has an entity that is not known');
        if (rowOf[entity[row]] !== row) fail('an entity has another row than the one it is in');
    }
    if (rowOf.reduce((rows, row) => rows + (row >= 0 ? 1 : 0), 0) !== count) fail('an entity has a row that is not there');
}

/** The causes of the frames add up: those of each state are the state, and the states are the whole. */
function checkCauses(store, from) {
    const range = new CauseRange(store), { sum } = range;
    if (!store.head?.causes) return;
    for (const subject of ['', '3 a', '4 7']) {
        while (!range.read(from, store.endFrame, subject)) if (range.sum === sum) fail('nothing is added up');
        if (range.without > store.endFrame - from) fail('more frames than there are have no causes');
        for (const group of [null, ...range.sum.groups.slice(0, 3)]) checkTree(whyOf(range.sum, group, 0).tree);
    }
    if (range.sum.groups.length > 64) fail('there are more groups than numbers');
}

function checkTree(tree) {
    const states = tree.filter(({ level }) => level === 'state');
    for (const { percent, ms } of tree) if (!(percent >= 0 && percent <= 100) || !(ms >= 0)) fail('a row of causes has no time');
    const percent = states.reduce((all, row) => all + Math.round(100 * row.percent), 0);
    if (states.length > 0 && percent !== 10000) fail(`the states are ${percent} hundredths of a percent`);
}

/** The times of the trees of blockers add up, and each row is below another one. */
function checkBlockers(store, from) {
    const range = new CauseRange(store), { head } = store;
    if (!head?.blockers || head.causes) return;
    while (!range.read(from, store.endFrame, '')) if (range.without > store.endFrame - from) fail('more frames than there are have no blockers');
    if (!range.sum) return;
    let depth = -1, waited = 0, blocking = 0;
    for (const row of range.sum.why(0).blockers) {
        if (row.depth > depth + 1) fail('a row is below no other');
        if (typeof row.name !== 'string' || typeof row.statement !== 'string' || typeof row.server !== 'string' || !(row.ms >= 0) || !(row.blockingMs >= 0)) fail('a row of blockers is not whole');
        depth = row.depth;
        waited += row.ms;
        blocking += depth === 0 ? row.blockingMs : 0;
    }
    if (Math.abs(waited - blocking) > 1e-6 * waited) fail('the times of the trees do not add up');
}

function checkStore(store) {
    if (store.firstFrame > store.endFrame) fail('the first frame comes after the last one');
    for (const { n, name, id } of store.entities)
        if (store.entities[n]?.n !== n || typeof name !== 'string' || typeof id !== 'number') fail('an entity is not what docs/stream.md says');
    const from = Math.max(store.firstFrame, store.endFrame - SHOWN_MOST);
    for (let index = store.endFrame - 1; index >= from; index--) checkFrame(store.frame(index), store);
    if (store.head) store.mean(from, store.endFrame);
    checkCauses(store, from);
    checkBlockers(store, from);
    store.frame(-1);
    store.frame(Infinity);
}

/** Reads chunks until an error that the page reports. Returns its message. */
function read(store, bytes, chunk) {
    const reader = new BlockReader();
    try {
        for (let at = 0; at < bytes.length; at += chunk) {
            reader.push(bytes.subarray(at, at + chunk));
            for (let block = reader.next(); block; block = reader.next()) store.add(block);
        }
        return reader.isInBlock ? 'in a block' : '';
    } catch (error) {
        if (!(error instanceof StreamError || error instanceof OtherRun)) throw error;
        return error.message;
    } finally {
        checkStore(store);
    }
}

/** Throws an error if a rule is broken. The lengths of the bytes choose the length of a chunk. */
export function run(bytes) {
    const store = new FrameStore(LIMIT_BYTES);
    const message = read(store, bytes, 1 + (bytes.length % 97) * 7);
    // A live page connects again after the end of the stream.
    if (message === '' || message === 'in a block') {
        store.connectedAgain();
        read(store, bytes, 65536);
    }
    return message;
}
