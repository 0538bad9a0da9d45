// Shared by the stacked and the line chart: the mean composition of the selected entities over
// time, a legend with the values at the cursor, 3 or 4 axes, scrubbing by pointer and keys.
import type uPlot from 'uplot';
import { Chart, type ChartShape } from './chart';
import { vertexColours } from './classes';
import { element, setText } from './dom';
import { clock } from './format';
import { selectionOf, selectionText, type History } from './history';
import type { Mean } from './means';
import { choice, used, whileSeen } from './parts';
import { inWords, Readout } from './readout';
import { seriesOf } from './series';
import { onThemeChange } from './theme';
import type { App, Axis, View } from './types';

export abstract class TimeView implements View {
  readonly element: HTMLElement;
  protected readonly series;
  protected readonly bar = element('div', { class: 'choices' });
  protected readonly caption = element('p', { class: 'caption' });
  protected readonly chart: Chart;
  private readonly readout = new Readout();
  private readonly isSeen;
  private count: '3' | '4' = '3';

  constructor(protected readonly app: App, kind: string, label: string, protected readonly history: History) {
    this.series = seriesOf(app);
    let wasAt = NaN;
    this.chart = new Chart(label, {
      moved: (x) => this.moved(x),
      pressed: (x, isDrag) => {
        if (!isDrag || Math.floor(x) !== wasAt) this.pressed(x, isDrag);
        wasAt = Math.floor(x);
      },
      key: (event) => this.key(event),
      resized: () => this.series.again(),
    });
    this.bar.append(choice('Axes', [['3', 'of the triangle'], ['4', 'of the tetrahedron']] as const, (value) => {
      this.count = value;
      this.series.again();
    }));
    this.element = element('section', { class: `panel ${kind}`, id: kind, 'aria-label': label },
      element('header', {}, element('h2', {}, label), this.caption, this.bar), this.readout.element, this.chart.element);
    this.isSeen = whileSeen(this.element, () => this.series.again());
    this.series.watch(this, history);
    onThemeChange(() => this.series.again());
  }

  draw(): void {
    const { head } = this.app.store, { axes3, axes4 } = this.app.ui.state;
    const axes = this.count === '4' && axes4.length > 0 ? axes4 : axes3;
    if (!head || axes.length === 0 || !this.isSeen()) return;
    this.history.about(this.app, axes, selectionOf(this.app));
    this.series.run();
    this.drawChart(axes, vertexColours(head, axes.length));
  }

  protected get isOfTime(): boolean {
    return true;
  }

  /** Shapes the chart and draws it. */
  protected abstract drawChart(axes: Axis[], colours: string[]): void;
  protected abstract dataOf(begins: number[], means: (Mean | null)[], axes: number): uPlot.AlignedData;
  protected abstract topOf(means: (Mean | null)[]): number;

  protected timeTicks(): ChartShape['ticks'] {
    const ticks = () => this.series.ticks(Math.max(2, Math.floor(this.chart.element.clientWidth / 100)));
    return { at: () => ticks().map(({ at }) => at), text: (x) => ticks().find(({ at }) => at === x)?.text ?? '' };
  }

  protected drawTime(): void {
    const { from, to } = this.series.span, { current } = this.app.ui.state;
    const { begins, means, end } = this.history.values;
    const { axes } = this.history;
    const last = means.at(-1) ?? null; // holds until its end
    this.chart.setData(this.dataOf([...begins, end], [...means, last], axes.length), [from, to], this.topOf(means));
    this.chart.setMark([current, current + 1]);
    this.chart.setCursor(this.series.cursor === null ? null : this.series.cursor + 0.5);
    const shown = this.series.cursor ?? current, mean = this.history.at(shown);
    this.showMean(axes, mean);
    const bins = this.history.size > 1 ? ` · mean of ${this.history.size} frames` : '';
    setText(this.caption, `${clock(this.series.endMs(shown))} · ${selectionText(this.app, selectionOf(this.app))}${bins}`);
    this.chart.setValue(current, from, to - 1, `${clock(this.series.endMs(current))}: ${inWords(axes, this.history.at(current))}`);
  }

  protected showMean(axes: Axis[], mean: Mean | null): void {
    this.readout.show(axes, vertexColours(this.app.store.head!, axes.length), mean);
  }

  protected moved(x: number | null): void {
    this.series.setCursor(x === null ? null : Math.floor(x));
  }

  protected pressed(x: number, _isDrag: boolean): void {
    this.series.scrub(Math.floor(x));
  }

  protected key(event: KeyboardEvent): void {
    const { firstFrame, endFrame } = this.app.store, { current } = this.app.ui.state;
    const page = Math.max(10, Math.round((endFrame - firstFrame) / 20));
    const steps: Record<string, number> = {
      ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -page, PageUp: page, Home: -Infinity, End: Infinity,
    };
    const step = steps[event.key];
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    this.series.scrub(current + step);
    used(event);
  }
}
