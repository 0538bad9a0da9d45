// uPlot without what the page never calls: bars, splines, gaps, bands, points (all series here are
// steps, chart.ts), its own axis of time, logarithms, its legend and its cursor (the page has one for
// all views). It is one large function, so nothing of it goes away by itself, and all of it would be
// two fifths of the page.
//
// Held to the version in package.json: a function that is not found ends the build.
import { readFile } from 'node:fs/promises';

/** Called, if at all, while uPlot begins; what they would give is not used after that. */
const UNUSED = [
    'addBand', 'addSeries', 'asinhAxisSplits', 'bandFillClipDirs', 'bars', 'cacheMouse',
    'clipBandLine', 'clipGaps', 'dblClick', 'delBand', 'delSeries', 'filtTarg', 'findGaps',
    'fmtDate', 'initCursorPt', 'initLegendRow', 'join', 'linear', 'log10AxisValsFilt',
    'log2AxisValsFilt', 'logAxisSplits', '_monotoneCubic', 'mouseDown', 'mouseLeave', 'mouseMove',
    'mouseUp', 'nullExpand', 'numSeriesVal', 'orient', 'points', 'rangeAsinh', 'rangeLog',
    '_rangeNum', 'rect', 'seriesPointsShow', 'setFocus', 'setLegend', 'setLegendValues',
    'setSelect', 'setSeries', 'sortCols', 'splineInterp', 'stepped', 'timeAxisSplits',
    'timeAxisStamps', 'timeAxisVals', 'toggleDOM', 'tzDate', 'updateCursor',
];

function without(source, name) {
    const found = source.match(new RegExp(`^(\\t?)function ${name}\\([^]*?^\\1}`, 'm'));
    if (!found)
        throw new Error(`web/lean.mjs: this version of uPlot has no function ${name}()`);
    return source.replace(found[0], () => `${found[1]}function ${name}() { return []; }`);
}

export const lean = {
    name: 'lean',
    setup({ onLoad }) {
        onLoad({ filter: /uPlot\.esm\.js$/ }, async ({ path }) => ({
            contents: UNUSED.reduce(without, await readFile(path, 'utf8')),
        }));
    },
};
