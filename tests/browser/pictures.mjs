// Makes the pictures of the page in docs/images:
//
//   CAMP=build/release/src/camp node tests/browser/pictures.mjs
//
// view.png shows the sample data in light colours. page-dark.png shows synthetic threads in dark
// colours, with two pinned threads. page-phone.png shows the synthetic threads on a phone.
//
//   node tests/browser/pictures.mjs URL
//
// tests/servers/sessions_picture calls this script with the URL of a report. sessions.png then shows the sessions of
// a PostgreSQL server, coloured by application (docs/sessions.md).
//
// tests/servers/fleet_picture calls this script with a URL and "fleet". fleet.png then shows four hosts
// in network namespaces, each with its own load (docs/fleet.md).
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { Opener, point, press } from './harness.mjs';
import { made } from './made.mjs';
import { COLOURS } from './stream.mjs';
import { ribbonSpot } from './views.mjs';

const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'camp-pictures-'));
process.env.TZ = 'UTC';
const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
const opener = new Opener(browser, folder);

async function shot(page, name) {
    await page.waitForTimeout(1000); // until all views are drawn
    await page.screenshot({ path: at(`docs/images/${name}.png`) });
}

async function sessions() {
    const file = join(folder, 'sessions.html');
    execFileSync(process.env.CAMP ?? 'camp', ['report', '--from', 'demo', '--output', file]);
    const page = await opener.report(readFileSync(file, 'utf8'), { height: 1180 });
    await page.selectOption('#group-by', 'name');
    await press(page, 'End');
    await shot(page, 'view');
}

/** The colours of CPU, idle and waiting in src/views/pictures/palette.h; those of stream.mjs are for tests. */
const colours = { ...COLOURS, axes3: ['#2a71b1', '#d9dee5', '#c7590a'], axes3_dark: ['#159ee3', '#39414b', '#f78366'] };

async function threads() {
    const page = await opener.report(made({ colours }), { width: 1200, height: 760, dark: true });
    await page.selectOption('#group-by', 'name');
    await press(page, 'n', 'n', 'p', 'n', 'n', 'n', 'n', 'p', 'Escape');
    await page.mouse.click(...await ribbonSpot(page, 34.5));
    await point(page, '.barry3', { x: 275, y: 215 });
    await shot(page, 'page-dark');
    const phone = await opener.report(made({ colours }), { width: 360, height: 740, dark: true, touch: true });
    await phone.selectOption('#group-by', 'name');
    await shot(phone, 'page-phone');
}

async function live(url, name) {
    const page = await opener.page({ width: 1280, height: 1180 });
    await page.goto(url);
    await page.waitForTimeout(12000);
    await page.selectOption('#group-by', name === 'fleet' ? 'label:instance' : 'label:application');
    await page.keyboard.press('Space');
    await shot(page, name);
}

try {
    if (process.argv[2]) {
        await live(process.argv[2], process.argv[3] ?? 'sessions');
    } else {
        await sessions();
        await threads();
    }
} finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
}
