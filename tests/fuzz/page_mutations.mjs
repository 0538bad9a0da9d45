// Changes of a stream of the page (docs/stream.md). Random bytes seldom are blocks with the right length and a
// text that is JSON, so most changes keep the framing: they change blocks, values in a text, or numbers of a frame.
const HEADER = 8, FRAME = 3;
const VALUES = [null, true, '', 'x', '\u0000', '__proto__', -1, 0, 1, 0.5, 1e308, 2 ** 31, 2 ** 32, 128, 129, [], {}, [null], [[]]];
const NUMBERS = [0, 1, 2, 0x7f, 0xff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff];

/** A generator of random numbers (xorshift): the same seed gives the same numbers. */
export function randomOf(seed) {
    let state = (seed >>> 0) || 1;
    const next = () => {
        state ^= state << 13;
        state ^= state >>> 17;
        state ^= state << 5;
        return state >>> 0;
    };
    const below = (limit) => (limit > 0 ? next() % limit : 0);
    return { below, of: (list) => list[below(list.length)] };
}

/** Divides bytes into blocks; bytes that are no whole block are the last element, without a type. */
function blocksOf(bytes) {
    const blocks = [];
    let at = 0;
    while (bytes.length - at >= HEADER) {
        const length = bytes.readUInt32LE(at), whole = HEADER + Math.ceil(length / 8) * 8;
        if (whole > bytes.length - at) break;
        blocks.push({ type: bytes.readUInt32LE(at + 4), payload: Buffer.from(bytes.subarray(at + HEADER, at + HEADER + length)) });
        at += whole;
    }
    if (at < bytes.length) blocks.push({ rest: bytes.subarray(at) });
    return blocks;
}

function joined(blocks) {
    return Buffer.concat(blocks.flatMap(({ rest, type, payload }) => {
        if (rest) return [rest];
        const header = Buffer.alloc(HEADER);
        header.writeUInt32LE(payload.length, 0);
        header.writeUInt32LE(type, 4);
        return [header, payload, Buffer.alloc((8 - (payload.length % 8)) % 8)];
    }));
}

/** The places of a value of JSON: [object or array, key]. */
function placesOf(value, places = []) {
    if (value !== null && typeof value === 'object')
        for (const key of Object.keys(value)) {
            places.push([value, key]);
            placesOf(value[key], places);
        }
    return places;
}

function changeText(payload, random) {
    let value;
    try {
        value = JSON.parse(payload.toString());
    } catch {
        return changeBytes(payload, random);
    }
    const places = placesOf(value);
    if (places.length === 0 || random.below(20) === 0) return Buffer.from(JSON.stringify(random.of(VALUES)));
    const [holder, key] = random.of(places);
    switch (random.below(4)) {
        case 0: Array.isArray(holder) ? holder.splice(Number(key), 1) : delete holder[key]; break;
        case 1: Array.isArray(holder) ? holder.push(holder[key]) : (holder[key] = [holder[key]]); break;
        case 2: holder[key] = random.below(16); break;
        default: holder[key] = random.of(VALUES);
    }
    return Buffer.from(JSON.stringify(value));
}

/** Changes a number of a frame: its header, or a row. The length stays the same. */
function changeFrame(payload, random) {
    const changed = Buffer.from(payload), words = changed.length >> 2;
    if (words === 0) return changeBytes(payload, random);
    const at = 4 * (random.below(3) === 0 ? 6 + random.below(10) : random.below(words));
    if (at + 4 <= changed.length) changed.writeUInt32LE(random.below(2) === 0 ? random.below(12) : random.of(NUMBERS), at);
    return changed;
}

function changeBytes(bytes, random) {
    const at = random.below(bytes.length + 1), length = random.below(9);
    switch (random.below(4)) {
        case 0: return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
        case 1: return Buffer.concat([bytes.subarray(0, at), Buffer.from(Array.from({ length }, () => random.below(256))), bytes.subarray(at)]);
        case 2: return Buffer.from(bytes.subarray(0, at));
        default: {
            const changed = Buffer.from(bytes);
            if (at < changed.length) changed[at] = random.below(2) === 0 ? random.below(256) : changed[at] ^ (1 << random.below(8));
            return changed;
        }
    }
}

function changeBlocks(bytes, other, random) {
    const blocks = blocksOf(bytes), at = random.below(blocks.length);
    switch (random.below(7)) {
        case 0: blocks.splice(at, 1); break;
        case 1: blocks.splice(random.below(blocks.length + 1), 0, ...blocks.slice(at, at + 1)); break;
        case 2: blocks.splice(at, 0, ...blocksOf(other).slice(random.below(4))); break;
        case 3: if (blocks[at]?.payload) blocks[at].type = random.below(9); break;
        default:
            if (blocks[at]?.payload)
                blocks[at].payload = (blocks[at].type === FRAME ? changeFrame : changeText)(blocks[at].payload, random);
    }
    return joined(blocks);
}

/** Returns the bytes after one to four changes; `other` is an input whose blocks may be inserted. */
export function mutated(bytes, other, random) {
    let changed = bytes;
    for (let changes = 1 + random.below(4); changes > 0; changes--)
        changed = random.below(6) === 0 ? changeBytes(changed, random) : changeBlocks(changed, other, random);
    return changed;
}
