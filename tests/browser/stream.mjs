// Makes camp.stream/1 data (docs/stream.md) from plain arrays, and report pages with such data.
import { readFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';

export const HEAD = 1, ENTITIES = 2, FRAME = 3, BEAT = 4, END = 5, NOTE = 6, CPUS = 7, CAUSES = 8;
export const KEY = 1, NEW = 1, ENDED = 2;
const UNIT = 1 / 50000;

/** Those of the triangle are unlike all others, so that no test takes a name for a dot. Their contrast is high enough for
 * texts, so that the page does not change them. */
export const COLOURS = {
    axes3: ['#c000c0', '#484800', '#a8007a'],
    axes4: ['#2861be', '#cc8204', '#766151', '#91919a'],
    groups: ['#bb301e', '#9e8b6f', '#586c69', '#9442ff', '#d67e11', '#5f969e'],
    groups_dark: ['#0089b8', '#f4a300', '#b1c8b3', '#9c8100', '#e9eff5', '#00b9ff'],
    others: ['#c3c9d0', '#59616b'],
    axes3_dark: ['#ff60ff', '#00ffff', '#ff80d0'],
    axes4_dark: ['#3d9be0', '#39414b', '#37c69e', '#f78366'],
};

/** As in src/views/pictures/palette.h. */
export const CLASSES = [
    ['cpu', 'CPU', '#2a71b1', '#159ee3'], ['run_queue', 'run queue', '#c7590a', '#f78366'], ['throttled', 'throttled', '#e85f89', '#c7a7d9'],
    ['disk', 'disk', '#229569', '#37c69e'], ['lock', 'lock', '#c2881d', '#f4b52f'], ['network', 'network', '#1398f2', '#8cd6ff'],
    ['wait', 'other waits', '#848cac', '#81949a'], ['idle', 'idle', '#d9dee5', '#39414b'], ['', 'unknown', '#845220', '#bf9211'],
].map(([name, title, light, dark]) => ({ name, title, light, dark }));

/** Classes of states by name. A state that is a class has its own name. */
const CLASS_OF = {
    user: 'cpu', system: 'cpu', irq: 'cpu', CPU: 'cpu', socket: 'idle', timer: 'idle', poll: 'idle', sleep: 'idle', IDLE: 'idle',
    text_fault: 'disk', data_fault: 'disk', io: 'disk', IO: 'disk', contention: 'lock', LOCK: 'lock', waiting: 'wait',
};
const classOf = (name) => CLASS_OF[name] ?? (CLASSES.some((one) => one.name === name) ? name : '');

export function block(type, payload) {
    const bytes = Buffer.from(payload);
    const header = Buffer.alloc(8);
    header.writeUInt32LE(bytes.length, 0);
    header.writeUInt32LE(type, 4);
    return Buffer.concat([header, bytes, Buffer.alloc((8 - (bytes.length % 8)) % 8)]);
}

export const json = (type, value) => block(type, JSON.stringify(value));

/** `states` is an array such as ['user', 'run_queue']. Without `idle`, no state is idle, so that all
 *  entities are in the picture and none is on the shelf. Unless axes are given, the first 3 states are the
 *  vertices of Barry3, and the first 4 states are the vertices of Barry4. */
export function head({ states, idle = true, ...others }) {
    const own = (name) => (idle || classOf(name) !== 'idle' ? classOf(name) : '');
    const axes = (count) => states.length < count ? null
        : states.slice(0, count).map((name, i) => ({ name, states: [i] }));
    return json(HEAD, {
        schema: 'camp.stream/1', version: '0.1.0', source: 'made-up', kind: 'threads', tier: '', note: '', host: 'test',
        live: false, interval_ms: 1000, frames: 0,
        states: states.map((name) => ({ name: `${name}_ns`, title: name.replace('_', ' '), help: '', provenance: 'measured', class: own(name) })),
        classes: CLASSES,
        axes3: axes(3), axes4: axes(4), colours: COLOURS, ...others,
    });
}

/** `names` is an array of names such as 'postgres', or of objects with further members. */
export function entities(names, first = 0) {
    return json(ENTITIES, names.map((name, i) => ({
        n: first + i, id: 1000 + first + i, pid: 1000 + first + i, parent: 1, uid: 0, kernel: false,
        ...(typeof name === 'string' ? { name } : name),
    })));
}

/** `rows` is an array of { n, shares: [one per state], elapsed, unaccounted, flags }. The default of
 *  `unaccounted` is 1 minus the sum of the shares. */
export function frame(stateCount, rows, { index = 0, key = true, gone = [], lengthMs = 1000, unit = UNIT, losses = [0, 0, 0] } = {}) {
    const fixed = Buffer.alloc(64);
    fixed.writeDoubleLE(1.79e12 + index * lengthMs, 0);
    fixed.writeDoubleLE(lengthMs, 8);
    fixed.writeDoubleLE(unit, 16);
    [key ? KEY : 0, rows.length, gone.length, ...losses].forEach((value, i) => fixed.writeUInt32LE(value, 24 + 4 * i));
    const has = Array.from({ length: stateCount }, (_, state) => rows.some(({ shares }) => shares[state] > 0));
    has.forEach((there, state) => {
        if (there)
            fixed.writeUInt32LE((fixed.readUInt32LE(48 + 4 * (state >> 5)) | 1 << (state & 31)) >>> 0, 48 + 4 * (state >> 5));
    });
    const bytes = (array) => Buffer.from(array.buffer);
    const missing = ({ shares, unaccounted }) => unaccounted ?? 1 - shares.reduce((a, b) => a + b, 0);
    return block(FRAME, Buffer.concat([
        fixed, bytes(Uint32Array.from(gone)), bytes(Uint32Array.from(rows, ({ n }) => n)),
        bytes(Float32Array.from(rows, ({ elapsed }) => elapsed ?? 1)), bytes(Float32Array.from(rows, missing)),
        bytes(Uint16Array.from(rows, ({ flags }) => flags ?? 0)),
        ...has.flatMap((there, state) => there ? [bytes(Uint16Array.from(rows, ({ shares }) => Math.round((shares[state] ?? 0) / unit)))] : []),
    ]));
}

/** Makes a stream of frames. frames[i] is an array of rows, or { rows, ...arguments of frame() }. */
export function stream({ states, names, frames, ...others }) {
    return Buffer.concat([
        head({ states, frames: frames.length, ...others }), entities(names),
        ...frames.map((rows, index) => Array.isArray(rows)
            ? frame(states.length, rows, { index })
            : frame(states.length, rows.rows, { index, ...rows })),
        json(END, { reason: 'the recording has no more' }),
    ]);
}

/** Returns the built page with this data, as camp report makes it. */
export function report(data, page = new URL('../../web/dist/page.html', import.meta.url)) {
    const script = `<script id="camp-data" type="application/octet-stream">${deflateSync(data).toString('base64')}</script>`;
    return readFileSync(page, 'utf8').replace('<!--camp-data-->', () => script);
}
