// The line chart: each axis separately over time.
import type uPlot from 'uplot';
import { MISSING } from './axes';
import { line } from './chart';
import { readable, VISIBLE } from './colour';
import { History } from './history';
import type { Mean } from './means';
import { TimeView } from './time_view';
import { currentTheme } from './theme';
import type { App, Axis, ViewFactory } from './types';

class Lines extends TimeView {
  constructor(app: App) {
    super(app, 'lines', 'Line chart', new History());
  }

  protected override drawChart(axes: Axis[], colours: string[]): void {
    const theme = currentTheme();
    this.chart.shape([axes.length, colours.join(), theme.paper].join(' '), () => ({
      series: [...axes.map((_, i) => line(readable(colours[i % colours.length]!, VISIBLE), 2)),
        line(theme.missing, 1.5, [4, 3]), line(theme.over, 1.5, [2, 3])],
      ticks: this.timeTicks(),
    }));
    this.drawTime();
  }

  protected override dataOf(begins: number[], means: (Mean | null)[], axes: number): uPlot.AlignedData {
    const column = (of: (mean: Mean) => number | null) => means.map((mean) => mean && of(mean));
    return [begins, ...Array.from({ length: axes }, (_, i) => column((mean) => mean.shares[i]!)),
      column((mean) => marked(mean.unaccounted)), column((mean) => marked(mean.over))] as uPlot.AlignedData;
  }

  protected override topOf(means: (Mean | null)[]): number {
    const most = means.reduce((top, mean) => Math.max(top, ...(mean?.shares ?? [])), 0);
    return [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1].find((top) => most <= top * 1.0001) ?? most * 1.03;
  }
}

/** Returns null for a share that is too small to draw. */
const marked = (share: number) => (share > MISSING / 5 ? share : null);

export const createLines: ViewFactory = (app) => new Lines(app);
