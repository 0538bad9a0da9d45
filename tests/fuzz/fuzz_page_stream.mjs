// Parser: web/src/stream.ts
// Parser: web/src/store.ts
// Parser: web/src/cause_block.ts
// Parser: web/src/blocker_sum.ts
// Reads changed streams (docs/stream.md) as the page does, by its own sources web/src/stream.ts and store.ts. The only
// errors may be those that the page reports; frames must be consistent; no input may take 30 s or 512 MB.
//
// The options are those of libFuzzer that tools/fuzz uses: -max_total_time, -runs=0, -set_cover_merge=1, -max_len,
// -seed, -artifact_prefix; then folders or files with inputs, of which the first folder gets the new ones. An input
// is kept if it reaches a part of the program that no earlier input reached, as V8 counts it. `cov` is in lines.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import vm from 'node:vm';
import { mutated, randomOf } from './page_mutations.mjs';

const LIMIT_MS = 30000;
const MEMORY_BYTES = 512 << 20;
const BATCH = 64; // inputs between two readings of V8's counts, each of which takes a millisecond
const NAME = 'page_subject.js';
const WEB = new URL('../../web/', import.meta.url);

const words = process.argv.slice(2);
const option = (name, otherwise) => words.find((word) => word.startsWith(`-${name}=`))?.split('=')[1] ?? otherwise;
const folders = words.filter((word) => !word.startsWith('-'));
const seed = Number(option('seed', Date.now() % 2 ** 32));
const lengthMaximum = Number(option('max_len', 65536));

/** The store includes the classes of states, and these the theme, which asks the browser for colours. */
const withoutColours = {
    name: 'without colours',
    setup: ({ onLoad }) => onLoad({ filter: /\/theme\.ts$/ }, () => ({ contents: 'export const currentTheme = null, isDark = null;' })),
};

/** Bundles the page's reader. The function run() of the bundle is then global. */
async function load() {
    const { build } = createRequire(new URL('package.json', WEB))('esbuild');
    const { outputFiles } = await build({
        entryPoints: [new URL('page_subject.mjs', import.meta.url).pathname], bundle: true, write: false,
        plugins: [withoutColours],
        format: 'iife', globalName: 'subject', target: 'node18', logLevel: 'warning',
    });
    const [{ text }] = outputFiles;
    const places = new Places(text); // V8 counts only what is compiled from now on
    vm.runInThisContext(text, { filename: NAME });
    places.loaded = places.painted();
    return places;
}

/** The characters of the bundle that were reached, by the counts of V8. */
class Places {
    session = new Session();

    constructor(text) {
        this.text = text;
        this.reached = new Uint8Array(text.length);
        this.session.connect();
        this.session.post('Profiler.enable');
        this.session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    }

    /** Paints what was reached since the last call: an inner range after the one that it is in. */
    painted() {
        const painted = new Uint8Array(this.text.length);
        this.session.post('Profiler.takePreciseCoverage', (error, { result }) => {
            const functions = result.filter(({ url }) => url === NAME).flatMap((script) => script.functions);
            for (const { startOffset, endOffset, count } of functions.flatMap(({ ranges }) => ranges))
                painted.fill(count > 0 ? 1 : 0, startOffset, endOffset);
        });
        return painted;
    }

    isNew(painted) {
        return painted.some((is, at) => is && !this.reached[at]);
    }

    add(painted) {
        painted.forEach((is, at) => (this.reached[at] |= is));
    }

    /** Whether something was reached for the first time, which is then no longer new. */
    note() {
        const painted = this.painted(), isNew = this.isNew(painted);
        if (isNew) this.add(painted);
        return isNew;
    }

    /** The lines of the bundle: the file of each, whether something of it was reached, and whether it has code that
     *  does not run while the bundle is loaded. */
    get lines() {
        let at = 0, file = '';
        return this.text.split('\n').map((line) => {
            const from = at + line.search(/\S|$/);
            at += line.length + 1;
            file = /^ *\/\/ (?:\.\.\/)*(\S+\.m?[jt]s)$/.exec(line)?.[1] ?? file;
            const isReached = this.reached.subarray(from, at - 1).includes(1);
            return { file, isReached, isCode: isReached || this.loaded.subarray(from, at - 1).includes(0) };
        });
    }

    /** The number of lines of which something was reached. */
    get count() {
        return this.lines.filter(({ isReached }) => isReached).length;
    }
}

let current = null;

function report(error) {
    const kind = error?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT' ? 'timeout' : 'crash';
    const file = `${option('artifact_prefix', './')}${kind}-${createHash('sha1').update(current).digest('hex')}`;
    writeFileSync(file, current);
    console.log(`${error?.stack ?? error}\nTest unit written to ${file}`);
    process.exit(1);
}

setFlagsFromString('--expose-gc');
const collectGarbage = vm.runInNewContext('gc');

function usedBytes() {
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
}

/** Runs inputs. An endless loop is interrupted. */
const runner = new vm.Script('fuzzed.forEach(fuzzOne)');
globalThis.fuzzOne = (bytes) => {
    current = bytes;
    subject.run(bytes);
};

function run(inputs) {
    globalThis.fuzzed = inputs;
    try {
        runner.runInThisContext({ timeout: LIMIT_MS });
        if (usedBytes() > MEMORY_BYTES) collectGarbage();
        if (usedBytes() > MEMORY_BYTES) throw new Error(`${usedBytes()} bytes of memory are used`);
    } catch (error) {
        report(error);
    }
}

function inputsOf(paths) {
    const files = paths.flatMap((path) => statSync(path).isDirectory() ? readdirSync(path).map((name) => join(path, name)) : [path]);
    return files.map((file) => readFileSync(file)).filter(({ length }) => length > 0 && length <= lengthMaximum)
        .sort((a, b) => a.length - b.length);
}

/** The inputs that reach new places, in their order. */
function choose(inputs, places) {
    return inputs.filter((input) => {
        run([input]);
        return places.note();
    });
}

function keep(input) {
    writeFileSync(join(folders[0], createHash('sha1').update(input).digest('hex')), input);
}

/** Changes inputs for some time. Returns the number of runs. */
function fuzz(corpus, places, seconds) {
    const random = randomOf(seed), end = Date.now() + 1000 * seconds;
    let runs = 0;
    for (; Date.now() < end; runs += BATCH) {
        const batch = Array.from({ length: BATCH }, () => mutated(random.of(corpus), random.of(corpus), random))
            .filter(({ length }) => length <= lengthMaximum);
        run(batch);
        // Some of them reached something new. They are run again, one at a time.
        if (!places.isNew(places.painted())) continue;
        for (const input of choose(batch, places)) {
            corpus.push(input);
            keep(input);
        }
    }
    return runs;
}

console.log(`INFO: Seed: ${seed}`);
const places = await load();
const inputs = inputsOf(folders);
const corpus = choose(inputs, places);
let runs = inputs.length;
if (option('set_cover_merge')) {
    corpus.forEach(keep);
} else if (option('runs') !== '0') {
    if (corpus.length === 0) corpus.push(Buffer.alloc(8));
    runs += fuzz(corpus, places, Number(option('max_total_time', 60)));
}
const parsers = places.lines.filter(({ file, isCode }) => isCode && /^web\/src\/(stream|store|cause_block|cause_range|cause_sum|cause_tree)\.ts$/.test(file));
console.log(`parsers: ${parsers.filter(({ isReached }) => isReached).length} of ${parsers.length} lines`);
console.log(`DONE cov: ${places.count} \nstat::number_of_executed_units: ${runs}`);
