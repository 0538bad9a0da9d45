// The stacked chart: shares of the axes over time, or over the entities of one frame. It reaches
// 100 % where all time is accounted; missing time is hatched red, and time accounted twice is
// hatched above the line.
import type uPlot from 'uplot';
import { area, hatching, line, type ChartShape } from './chart';
import { setText } from './dom';
import { meanOf, type Mean } from './means';
import { History, selectionOf } from './history';
import { TimeView } from './time_view';
import { choice, toggledPins, used } from './parts';
import { inWords } from './readout';
import { currentTheme } from './theme';
import type { App, Axis, ViewFactory } from './types';

const COLUMNS = 2000; // at most; with more entities a column has several

/** A column for each entity of a frame, or for several. */
interface Columns {
  entities: Uint32Array;
  perColumn: number;
  means: (Mean | null)[];
}

class Stack extends TimeView {
  private across: 'time' | 'entities' = 'time';
  private entityOrder: 'share' | 'number' = 'share';
  private columns: Columns = { entities: new Uint32Array(0), perColumn: 1, means: [] };
  private column = -1; // the keyboard's, in entities
  private readonly orderChoice;

  constructor(app: App) {
    super(app, 'stack', 'Stacked chart', new History());
    this.orderChoice = choice('sorted by', [['share', 'first axis'], ['number', 'number']] as const, (value) => {
      this.entityOrder = value;
      this.series.again();
    });
    this.bar.append(choice('Across', [['time', 'time'], ['entities', 'entities now']] as const, (value) => {
      this.across = value;
      this.series.again();
    }), this.orderChoice);
  }

  protected override get isOfTime(): boolean {
    return this.across === 'time';
  }

  protected override drawChart(axes: Axis[], colours: string[]): void {
    this.orderChoice.hidden = this.isOfTime;
    this.chart.shape([this.across, axes.length, colours.join(), currentTheme().paper].join(' '),
      () => this.shapeOf(axes, colours));
    if (this.isOfTime) super.drawTime();
    else this.drawEntities(axes);
  }

  protected override dataOf(begins: number[], means: (Mean | null)[], axes: number): uPlot.AlignedData {
    return [begins, ...stacked(means, axes)] as uPlot.AlignedData;
  }

  protected override topOf(means: (Mean | null)[]): number {
    const most = means.reduce((top, mean) => Math.max(top, mean ? 1 + mean.over : 1), 1);
    return most > 1.0005 ? most * 1.03 : 1;
  }

  private shapeOf(axes: Axis[], colours: string[]): ChartShape {
    const theme = currentTheme();
    const shares = axes.map((_, i) => area(colours[i % colours.length])).reverse();
    return {
      series: [area(hatching(theme.missing)), area(hatching(theme.quiet)), ...shares,
        area(hatching(theme.over, -1), 1), line(theme.ink, 1)],
      ticks: this.isOfTime ? this.timeTicks() : {
        at: () => entityTicks(this.columns.entities.length, this.columns.perColumn),
        text: (x) => String(Math.round(x * this.columns.perColumn) + (x > 0 ? 0 : 1)),
      },
    };
  }

  private drawEntities(axes: Axis[]): void {
    const { ui } = this.app;
    this.columns = this.columnsOf(axes);
    const { means, perColumn, entities } = this.columns;
    const begins = means.map((_, i) => i);
    this.chart.setData(this.dataOf([...begins, means.length], [...means, means.at(-1) ?? null], axes.length),
      [0, Math.max(1, means.length)], this.topOf(means));
    const hovered = ui.state.hover === null ? -1 : Math.floor(entities.indexOf(ui.state.hover) / perColumn);
    const shown = hovered >= 0 ? hovered : this.column;
    this.chart.setMark(null);
    this.chart.setCursor(shown >= 0 && shown < means.length ? shown + 0.5 : null);
    this.showMean(axes, means[shown] ?? meanOf(this.app.shown(), axes, selectionOf(this.app)));
    const several = perColumn > 1 ? `, ${perColumn} a column: their mean` : '';
    setText(this.caption, shown >= 0 && shown < means.length ? this.nameOf(shown) :
      `${entities.length} entities of the current frame${several}`);
    this.chart.setValue(shown + 1, 1, means.length, shown >= 0 ? `${this.nameOf(shown)}: ${inWords(axes, means[shown] ?? null)}` : 'no entity');
  }

  private columnsOf(axes: Axis[]): Columns {
    const frame = this.app.shown();
    const selection = selectionOf(this.app);
    const entities = frame.entity.filter((n) => !selection || selection.has(n));
    const first = new Map<number, number>();
    if (this.entityOrder === 'share') {
      for (const n of entities)
        first.set(n, axes[0]!.states.reduce((sum, state) => sum + (frame.shares[state]?.[frame.rowOf[n]!] ?? 0), 0));
      entities.sort((a, b) => first.get(b)! - first.get(a)! || a - b);
    } else {
      entities.sort();
    }
    const perColumn = Math.max(1, Math.ceil(entities.length / COLUMNS));
    const means = Array.from({ length: Math.ceil(entities.length / perColumn) }, (_, i) =>
      meanOf(frame, axes, entities.subarray(i * perColumn, (i + 1) * perColumn)));
    return { entities, perColumn, means };
  }

  private entitiesOf(column: number): number[] {
    const { entities, perColumn } = this.columns;
    return [...entities.subarray(column * perColumn, (column + 1) * perColumn)];
  }

  private nameOf(column: number): string {
    const [first, ...others] = this.entitiesOf(column);
    if (first === undefined) return '';
    return others.length > 0 ? `${this.app.ui.label(first)} and ${others.length} more` : this.app.ui.label(first);
  }

  protected override moved(x: number | null): void {
    if (this.isOfTime) super.moved(x);
    else this.app.ui.set({ hover: x === null ? null : this.entitiesOf(Math.floor(x))[0] ?? null });
  }

  protected override pressed(x: number, isDrag: boolean): void {
    if (this.isOfTime) super.pressed(x, isDrag);
    else if (!isDrag) this.pin(Math.floor(x));
  }

  private pin(column: number): void {
    this.app.ui.set({ pinned: toggledPins(this.app, this.entitiesOf(column)) });
  }

  protected override key(event: KeyboardEvent): void {
    if (this.isOfTime) return super.key(event);
    const last = this.columns.means.length - 1;
    const steps: Record<string, number> = {
      ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -Infinity, End: Infinity,
    };
    const step = steps[event.key];
    if (event.key === 'Enter' && this.column >= 0) this.pin(this.column);
    else if (step === undefined) return;
    else this.column = Math.min(last, Math.max(0, this.column + step));
    this.app.ui.set({ hover: this.entitiesOf(this.column)[0] ?? null });
    used(event);
  }
}

function entityTicks(entities: number, perColumn: number): number[] {
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000].find((one) => entities / one <= 10) ?? 20000;
  return Array.from({ length: Math.floor(entities / step) + 1 }, (_, i) => (i * step) / perColumn);
}

/** Series in drawing order, the highest first: each is drawn over the one before. */
function stacked(means: (Mean | null)[], axes: number): (number | null)[][] {
  const column = (of: (mean: Mean) => number) => means.map((mean) => mean && of(mean));
  const upTo = (mean: Mean, i: number) => mean.shares.slice(0, i + 1).reduce((sum, share) => sum + share, 0);
  const booked = (mean: Mean) => 1 - mean.unaccounted + mean.over;
  const shares = Array.from({ length: axes }, (_, i) => column((mean) => upTo(mean, axes - 1 - i)));
  return [column((mean) => booked(mean) + mean.unaccounted), column(booked), ...shares,
    column((mean) => Math.max(1, booked(mean))), column(() => 1)];
}

export const createStack: ViewFactory = (app) => new Stack(app);
