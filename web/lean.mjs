// Removes from uPlot what the page never calls: bars, splines, gaps, bands, points (all series here are
// steps, chart.ts), its own axis of time, logarithms, its legend and its cursor (the page has one for
// all views). uPlot is one large function, so the minifier removes no part of it; the whole of uPlot
// would be two fifths of the page.
//
// The list fits the version in package.json: the build fails if a function in it is not found.
import { readFile } from 'node:fs/promises';

/** Functions that uPlot calls, if at all, only at its start; their results are not used later. */
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
