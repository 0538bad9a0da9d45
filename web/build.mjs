// Builds the page: one HTML file with its style and script in it, and a policy (CSP) that allows
// only this style and script, by their hashes. The same input gives the same bytes.
//
//   node build.mjs            writes dist/page.html
//   node build.mjs --check    only checks whether the committed page equals the built one
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync, mkdirSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { minify } from 'terser';

const PAGE = new URL('dist/page.html', import.meta.url);
const LIMIT = 120 * 1024; // bytes, gzipped
const DATA = '<!--camp-data-->'; // camp report puts its data here

const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

async function bundle() {
    const { outputFiles } = await build({
        absWorkingDir: new URL('.', import.meta.url).pathname,
        entryPoints: ['src/main.ts'],
        outdir: 'dist',
        bundle: true,
        minify: true,
        write: false,
        charset: 'utf8',
        format: 'iife',
        target: ['es2022', 'chrome110', 'firefox115', 'safari16.4'],
        legalComments: 'none',
        logLevel: 'warning',
    });
    const text = (end) => outputFiles.find((file) => file.path.endsWith(end)).text.trim();
    return { script: await shortened(text('.js')), style: text('.css') };
}

/** Minifies the output of esbuild further, by 3 of 57 KB gzipped. */
async function shortened(script) {
    const { code } = await minify(script, { ecma: 2020, compress: { passes: 3 }, format: { comments: false } });
    return code;
}

function policy({ script, style }) {
    return ["default-src 'none'", `script-src ${hash(script)}`, `style-src ${hash(style)}`,
        'img-src data: blob:', "connect-src 'self'", "base-uri 'none'", "form-action 'none'"]
        .join('; ');
}

function page(parts) {
    const values = { POLICY: policy(parts), STYLE: parts.style, SCRIPT: parts.script };
    const text = readFileSync(new URL('page.html', import.meta.url), 'utf8')
        .replace(/\{\{(POLICY|STYLE|SCRIPT)\}\}/g, (_, name) => values[name]);
    if (text.split(DATA).length !== 2)
        throw new Error(`${DATA} must stand in the page once`);
    return text;
}

function compare(text) {
    let committed = '';
    try {
        committed = readFileSync(PAGE, 'utf8');
    } catch { /* without the file, the page differs */ }
    if (committed === text)
        return;
    console.error('web/dist/page.html is not what its sources make: npm run build, and commit it');
    process.exitCode = 1;
}

const text = page(await bundle());
const zipped = gzipSync(text, { level: 9 }).length;
console.log(`page.html: ${Buffer.byteLength(text)} bytes, ${zipped} gzipped (limit ${LIMIT})`);
if (zipped > LIMIT) {
    console.error('the page is too large');
    process.exitCode = 1;
}
if (process.argv.includes('--check')) {
    compare(text);
} else {
    mkdirSync(new URL('.', PAGE), { recursive: true });
    writeFileSync(PAGE, text);
}
