// The ranking lists groups of entities, such as processes; the group with most active time is first. A
// press on a row chooses its members in all views and shows its details; a second press lists the
// members themselves. Only visible rows are elements.
import './ranking.css';
import { brush } from './actions';
import { activeClasses, colourOf } from './classes';
import { addressOf } from './address';
import { Details } from './details';
import { button, element, setAttribute, setText } from './dom';
import { count } from './format';
import { offerGroupings, Pace, whileSeen } from './parts';
import { defaultGrouping, mostOf, RankedGroups, type Before, type Group, type Sum } from './ranked_groups';
import { LineNames, SHORT, type Line } from './ranking_names';
import { bar, change, setBar, setSpark, SMALL, spark } from './ranking_parts';
import { seriesOf } from './series';
import { entitiesIn, PARKED } from './summary';
import { isDark, onThemeChange } from './theme';
import type { App, Frame, GroupBy, View, ViewFactory } from './types';

const LINES = 15, LINES_MINIMUM = 8, LINE_HEIGHT = 28;
const AROUND = 138; // pixels: the heading of the table, the row of the idle ones, the button below it, the player

/** The number of lines that fit into the first screen beside the stage; the others are shown on request. */
function linesThatFit(list: HTMLElement): number {
  if (innerWidth < 1100) return LINES;
  const room = innerHeight - (list.getBoundingClientRect().top + scrollY) - AROUND;
  return Math.max(LINES_MINIMUM, Math.floor(room / LINE_HEIGHT));
}
const SECOND_PRESS_MS = 400; // until then the rows stay under the pointer
const HELD_MAXIMUM = 1000; // lines of ended groups that keep their places

interface Row {
  element: HTMLTableRowElement;
  name: HTMLButtonElement;
  id: HTMLElement; // where several lines have one name
  size: HTMLElement;
  cells: HTMLTableCellElement[];
  bar: HTMLElement;
  spark: SVGSVGElement;
}

class Ranking implements View {
  readonly element: HTMLElement;
  private readonly series;
  private readonly isSeen;
  private readonly grouping = element('select', { 'aria-label': 'Ranking by', id: 'ranking-by' });
  private readonly up = button('', { class: 'small up', hidden: '' }, () => this.back());
  private readonly lastHead = element('th', { scope: 'col' });
  private readonly above = element('tr', { class: 'space', hidden: '', 'aria-hidden': 'true' }, element('td'));
  private readonly below = element('tr', { class: 'space', hidden: '', 'aria-hidden': 'true' }, element('td'));
  private readonly idleText = document.createTextNode('');
  private readonly parkedButton = button('', { class: 'plain', title: 'Dim all others', hidden: '' }, () => this.chooseParked());
  private readonly idle = element('tr', { class: 'rest idle', hidden: '' },
    element('td', { colspan: '5' }, this.idleText, this.parkedButton));
  private readonly body = element('tbody', {}, this.above, this.below, this.idle);
  private readonly scroll = element('div', { class: 'ranking-scroll' }, element('table', { 'aria-label': 'Active time, most first' },
    element('thead', {}, element('tr', {}, element('th', { scope: 'col' }, 'name'),
      element('th', { scope: 'col', title: 'active time: thread-seconds a second, without idle' }, 'active'),
      element('th', { scope: 'col' }, 'of what'), this.lastHead,
      element('th', { scope: 'col', title: 'compared with the chosen range, or with what was usual before: the median of earlier frames (of seldom active groups the mean), without the time since the present level began. No factor for times below 0.05' }, 'before'))), this.body));
  private readonly more = button('', { class: 'small more', hidden: '' }, () => this.showAll());
  private readonly details;
  private readonly pace: Pace;
  private readonly content;
  private ranked: RankedGroups | null = null;
  private by: GroupBy | null = null; // the user's choice
  private inside: { by: GroupBy; key: string } | null = null; // the group whose members are listed
  private lines: Line[] = [];
  private rows: Row[] = [];
  private scale = 0; // of bars: the most active time
  private isWhole = false; // all lines are listed
  private chosen: { key: string; brush: ReadonlySet<number> } | null = null;
  private isPointed = false; // the pointer is over the list
  private beforeOf: { key: string; search: RegExp | null; sums: Map<Group, Sum> } | null = null;
  private lastGroupBy: GroupBy = 'none';

  constructor(private readonly app: App) {
    this.series = seriesOf(app);
    this.pace = new Pace(app, () => app.redraw(this));
    this.details = new Details(app, { open: () => this.open(), close: () => this.choose(null) });
    this.content = element('div', { class: 'ranking-body' }, element('div', {}, this.scroll, this.more), this.details.element);
    this.element = element('section', { class: 'panel ranking', id: 'ranking', 'aria-label': 'Ranking' },
      element('header', {}, element('h2', {}, 'Who is most active?'), this.up,
        element('div', { class: 'choices' }, element('label', { class: 'choice' }, element('span', {}, 'by'), this.grouping))), this.content);
    this.isSeen = whileSeen(this.element, () => this.series.again());
    this.series.watch(this); // its reader differs with the grouping
    onThemeChange(() => this.series.again());
    const measure = () => {
      this.fitting = linesThatFit(this.scroll);
      app.redraw(this); // does nothing if as many lines fit as before
    };
    addEventListener('resize', measure);
    new ResizeObserver(measure).observe(document.body); // its height changes with what is above the list
    addressOf(app).keep('by', { get: () => this.by ?? '', set: (text) => this.restore(text as GroupBy) });
    this.listen();
  }

  private listen(): void {
    this.grouping.addEventListener('change', () => this.groupBy(this.grouping.value as GroupBy));
    this.scroll.addEventListener('scroll', () => this.showRows());
    this.scroll.addEventListener('pointerenter', (event) => (this.isPointed = event.pointerType !== 'touch'));
    this.scroll.addEventListener('pointerleave', () => {
      this.isPointed = false;
      this.app.redraw(this);
    });
    this.scroll.addEventListener('focusout', () => this.app.redraw(this));
    this.body.addEventListener('click', (event) => this.pressed(event));
    for (const input of ['click', 'keydown', 'change']) this.element.addEventListener(input, () => this.pace.skip(), { capture: true });
    this.body.addEventListener('dblclick', () => this.open());
  }

  /** The rows of the ranking: a grouping of Ui.groupings(). */
  private groupBy(by: GroupBy): void {
    this.by = by;
    addressOf(this.app).changed();
    this.inside = null;
    this.isWhole = false;
    this.app.redraw(this);
  }

  draw(): void {
    const { head } = this.app.store;
    if (!head || !this.isSeen()) return;
    this.follow();
    this.update();
    this.series.run();
    if (!this.pace.isDue()) return;
    const frame = this.app.shown();
    if (this.isDrawn(frame)) return;
    const sums = this.ranked!.sums(frame, head, this.filter());
    this.sort(sums);
    this.keepChosen();
    this.showRows();
    this.showRest(sums);
    this.showDetails(frame);
    setText(this.lastHead, `last ${spanOf(this.ranked!.lengthMs)}`);
    this.content.classList.toggle('open', this.chosen !== null);
    this.up.hidden = this.inside === null;
    const titles: Record<string, string> = { pid: 'processes', uid: 'users', name: 'names', none: head.kind };
    const by = this.inside?.by;
    if (by) setText(this.up, `◂ all ${titles[by] ?? by.replace('label:', '')}`);
    offerGroupings(this.grouping, this.app, `single ${head.kind || 'rows'}`);
    this.grouping.value = this.inside?.by ?? this.ranked!.by;
  }

  /** Most changes, such as another entity under the pointer, change nothing here. */
  private isDrawn(frame: Frame): boolean {
    const { store, ui: { state } } = this.app;
    const now = [frame, store.entitiesVersion, store.endFrame, this.ranked, this.ranked!.next, this.inside, this.isWhole, this.isHeld, this.fitting,
      this.chosen, state.brush, state.search, state.compare, state.range, isDark()];
    const isSame = now.every((value, i) => value === this.drawn[i]);
    this.drawn = now;
    return isSame;
  }
  private drawn: unknown[] = [];
  private names!: LineNames; // of `lines`
  private fitting = LINES; // lines in the first screen

  /** The groups chosen for the colours of all views are those of the ranking, too. */
  private follow(): void {
    const { groupBy } = this.app.ui.state;
    if (groupBy !== this.lastGroupBy && groupBy !== 'none' && !this.isRestored) this.groupBy(groupBy);
    this.lastGroupBy = groupBy;
    this.isRestored = false;
  }

  private isRestored = false; // from the address, which has both groupings

  private restore(by: GroupBy): void {
    this.groupBy(by);
    this.isRestored = true;
  }

  private update(): void {
    const { store, ui } = this.app;
    const offered = ui.groupings();
    const by = this.by && offered.includes(this.by) ? this.by : defaultGrouping(store.head!, offered);
    const wanted = this.inside ? 'none' : by;
    if (this.ranked?.by === wanted) return;
    if (this.ranked) this.series.unwatch(this.ranked);
    this.ranked = new RankedGroups(store, wanted);
    this.series.watch(this, this.ranked);
    this.lines = [];
    this.beforeOf = null;
    this.scroll.scrollTop = 0;
  }

  /** The entities that may be in the list; null: all. */
  private filter(): ReadonlySet<number> | null {
    const found = this.app.ui.matching();
    if (!this.inside) return found;
    const { by, key } = this.inside, members = this.membersIn(by, key);
    return found ? new Set([...members].filter((n) => found.has(n))) : members;
  }

  private insideOf: RankedGroups | null = null;

  private membersIn(by: GroupBy, key: string): ReadonlySet<number> {
    if (this.insideOf?.by !== by) this.insideOf = new RankedGroups(this.app.store, by);
    return this.insideOf.find(key)?.members ?? new Set();
  }

  /** Sorts by active time. While the pointer or the keyboard is in the list, rows stay where they are. */
  private sort(sums: Map<Group, Sum>): void {
    const ranked = this.ranked!, active = [...sums.values()].filter((sum) => sum.active > 0);
    const short = active.filter(({ group }) => ranked.isShortLived(group));
    const own = short.length > 1 ? active.filter(({ group }) => !ranked.isShortLived(group)) : active;
    const lines: Line[] = own.map((sum) => ({ key: sum.group.key, groups: [sum.group], sum }));
    if (short.length > 1) lines.push({ key: SHORT, groups: short.map(({ group }) => group), sum: added(short) });
    lines.sort((a, b) => b.sum.active - a.sum.active || (a.key < b.key ? -1 : 1));
    this.scale = lines[0]?.sum.active ?? 0;
    this.lines = this.isHeld && this.lines.length < lines.length + HELD_MAXIMUM ? inOrderOf(this.lines, lines) : lines;
    this.names = new LineNames(this.app.store, ranked, this.lines);
  }

  private get isHeld(): boolean {
    return this.isPointed || this.scroll.querySelector(':focus-visible') !== null;
  }

  private get limit(): number {
    return this.isWhole ? this.lines.length : Math.min(this.lines.length, this.fitting);
  }

  private showRows(): void {
    const height = (this.isWhole && this.rows[0]?.element.offsetHeight) || LINE_HEIGHT, { limit } = this;
    const first = this.isWhole ? Math.max(0, Math.floor(this.scroll.scrollTop / height) - 2) : 0;
    const wanted = Math.max(0, this.isWhole ? Math.min(limit - first, Math.ceil(this.scroll.clientHeight / height) + 4) : limit);
    while (this.rows.length < wanted) this.addRow();
    while (this.rows.length > wanted) this.rows.pop()!.element.remove();
    setHeight(this.above, first * height);
    setHeight(this.below, Math.max(0, limit - first - wanted) * height);
    this.rows.forEach((row, i) => this.showRow(row, this.lines[first + i]!));
    const left = this.lines.length - limit;
    this.more.hidden = left === 0 && !this.isWhole;
    setText(this.more, this.isWhole ? `only the first ${this.fitting}` : `… ${count(left)} more`);
  }

  private addRow(): void {
    const name = element('button', { type: 'button', class: 'name' }), id = element('small'), size = element('small'), path = spark(), own = bar([], 1, '');
    const cells = [element('td', {}, element('div', { class: 'who' }, name, ' ', id, ' ', size)), element('td'), element('td', {}, own), element('td', {}, path), element('td')];
    const row = { element: element('tr', {}, ...cells), name, id, size, cells, bar: own, spark: path };
    this.rows.push(row);
    this.below.before(row.element);
  }

  private showRow(row: Row, line: Line): void {
    const { head } = this.app.store, { sum, groups, key } = line, name = this.names.of(line);
    const isChosen = this.chosen?.key === key;
    setAttribute(row.element, 'data-key', key);
    row.element.classList.toggle('chosen', isChosen);
    setText(row.name, this.names.title(line));
    setText(row.id, this.names.id(line));
    setAttribute(row.name, 'title', name);
    setAttribute(row.name, 'aria-pressed', String(isChosen));
    const size = key === SHORT ? groups.length : sum.present;
    setText(row.size, size > 1 ? `×${count(size)}` : '');
    setText(row.cells[1]!, amount(sum.active));
    const classes = activeClasses(head!), words = classes.flatMap(({ title }, i) => (sum.times[i]! > 0 ? `${title} ${amount(sum.times[i]!)}` : []));
    setBar(row.bar, classes.map((one, i) => [one.name, colourOf(one), sum.times[i]!]), this.scale, words.join(', '));
    setSpark(row.spark, this.historyOf(line));
    const before = this.before(line), [text, direction] = change(sum.active, before?.active ?? null), cell = row.cells[4]!;
    setText(cell, text);
    setAttribute(cell, 'class', direction);
    setAttribute(cell, 'title', text && before ? [`${before.active.toFixed(2)} before`, this.kindChange(line, before)].filter(Boolean).join('; ') : '');
  }

  /** What a line did before: in the range compared with, or what was usual before the shown frames;
   * null: unknown. */
  private before(line: Line): Before | null {
    const { store, ui: { state: { compare, range, current, search } } } = this.app, [group] = line.groups;
    if (line.key === SHORT) return null; // other groups were short-lived then
    if (!compare) return this.isPart(line) ? null : this.ranked!.before(group!, range?.[0] ?? current);
    const key = [...compare.before, store.firstFrame].join(' ');
    if (this.beforeOf?.key !== key || this.beforeOf.search !== search)
      this.beforeOf = { key, search, sums: this.ranked!.sums(store.mean(...compare.before), store.head!, this.app.ui.matching()) };
    const sum = this.beforeOf.sums.get(group!);
    return { active: sum?.active ?? 0, kind: mostOf(sum?.times ?? []) };
  }

  /** "mostly CPU before, mostly lock now"; '' if that is the same, or small. */
  private kindChange({ sum }: Line, before: Before): string {
    const now = mostOf(sum.times), titles = activeClasses(this.app.store.head!).map(({ title }) => title);
    if (Math.min(sum.active, before.active) < SMALL || now < 0 || before.kind < 0 || now === before.kind) return '';
    return `mostly ${titles[before.kind]} before, mostly ${titles[now]} now`;
  }

  /** Does the search find only some members? The history is that of all. */
  private isPart({ groups }: Line): boolean {
    const found = this.app.ui.matching();
    return found !== null && groups.some(({ members }) => [...members].some((n) => !found.has(n)));
  }

  private historyOf(line: Line): number[] {
    return this.isPart(line) ? [] : this.ranked!.history(line.groups);
  }

  private showRest(sums: Map<Group, Sum>): void {
    let idle = 0, parked = 0, most: Sum | null = null;
    for (const sum of sums.values()) {
      if (sum.active === 0 && sum.parked < sum.present) idle++;
      parked += sum.parked;
      if (sum.parked > (most?.parked ?? 0)) most = sum;
    }
    const owner = most && 2 * most.parked > parked ? ` (${this.ranked!.title(most.group)})` : '';
    this.idle.hidden = idle === 0 && parked === 0;
    setText(this.idleText, idle > 0 ? `${count(idle)} idle${parked > 0 ? ' · ' : ''}` : '');
    this.parkedButton.hidden = parked === 0;
    setText(this.parkedButton, `${count(parked)} parked in a lock${owner}`);
  }

  /** Dims all but the parked ones of the list. */
  private chooseParked(): void {
    const { app } = this, found = entitiesIn(app.shown(), app.store.head!, PARKED), listed = this.filter();
    brush(app, listed ? new Set([...found].filter((n) => listed.has(n))) : found);
  }

  private showAll(): void {
    this.isWhole = !this.isWhole;
    this.scroll.classList.toggle('whole', this.isWhole);
    if (this.isWhole) this.scroll.setAttribute('tabindex', '0');
    else this.scroll.removeAttribute('tabindex');
    this.app.redraw(this);
  }

  private pressed(event: Event): void {
    const key = (event.target as HTMLElement).closest('tr')?.dataset.key;
    const line = this.lines.find((one) => one.key === key);
    if (!line) return;
    if (this.chosen?.key !== key) this.choose(line);
    else if ((event as MouseEvent).detail < 2) this.open();
  }

  /** Chooses the members of a line in all views, or ends that. */
  private choose(line: Line | null): void {
    const { ui, say } = this.app;
    if (!line) {
      if (this.chosen) ui.set({ brush: null });
      return;
    }
    const brush = membersOf(line);
    this.chosen = { key: line.key, brush };
    ui.set({ brush });
    say(`${this.names.of(line)}: ${count(brush.size)} chosen. ${amount(line.sum.active)} active. Press again to list its members.`);
    setTimeout(() => this.chosen?.key === line.key && this.details.reveal(), SECOND_PRESS_MS);
  }

  /** Ends the choice when another view has chosen; adds members that have started meanwhile. */
  private keepChosen(): void {
    if (!this.chosen) return;
    const { ui } = this.app;
    if (ui.state.brush !== this.chosen.brush) {
      this.chosen = null;
      return;
    }
    const line = this.chosenLine();
    if (!line) return;
    const brush = membersOf(line);
    if (brush.size === this.chosen.brush.size && [...brush].every((n) => this.chosen!.brush.has(n))) return;
    this.chosen = { ...this.chosen, brush };
    ui.set({ brush });
  }

  private chosenLine(): Line | undefined {
    return this.lines.find(({ key }) => key === this.chosen?.key);
  }

  private showDetails(frame: Frame): void {
    const line = this.chosenLine(), ranked = this.ranked!, before = line ? this.before(line) : null;
    if (!this.chosen) return this.details.hide();
    this.details.show({
      frame, members: this.chosen.brush, by: this.inside || this.chosen.key === SHORT ? 'none' : ranked.by, key: this.chosen.key,
      name: line ? this.names.of(line) : this.app.ui.label([...this.chosen.brush][0] ?? -1),
      active: line?.sum.active ?? 0, before: before?.active ?? null, kindChange: line && before ? this.kindChange(line, before) : '', parked: line?.sum.parked ?? 0,
      history: line ? this.historyOf(line) : [], span: ranked.span, canOpen: this.canOpen(line),
    });
  }

  private canOpen(line: Line | undefined): boolean {
    return line !== undefined && !this.inside && this.ranked!.by !== 'none' && line.key !== SHORT;
  }

  /** Lists the members of the chosen group. */
  private open(): void {
    const line = this.chosenLine();
    if (!line || !this.canOpen(line)) return;
    this.inside = { by: this.ranked!.by, key: line.key };
    this.app.say(`The members of ${this.names.of(line)}.`);
    this.leaveList();
  }

  back(): boolean {
    if (!this.inside) return false;
    this.inside = null;
    this.choose(null);
    this.app.say(this.up.textContent);
    this.leaveList();
    return true;
  }

  private leaveList(): void {
    const hadFocus = this.element.contains(document.activeElement);
    this.isPointed = this.isWhole = false;
    this.scroll.classList.remove('whole');
    this.chosen = null;
    this.draw();
    if (hadFocus) (this.inside ? this.up : this.rows[0]?.name ?? this.grouping).focus();
    this.app.redraw(this);
  }
}

const amount = (value: number): string => (value > 0 && value < 0.005 ? '< 0.01' : value.toFixed(2));

const membersOf = ({ groups }: Line): Set<number> => new Set(groups.flatMap(({ members }) => [...members]));

/** "8 min": of a column's head. */
function spanOf(ms: number): string {
  const units: [number, string][] = [[86_400_000, 'd'], [3_600_000, 'h'], [60_000, 'min'], [1000, 's']];
  const [unit, name] = units.find(([least]) => ms >= 2 * least) ?? [1, 'ms'];
  return `${Math.round(ms / unit)} ${name}`;
}

/** Lines in an earlier order; new ones follow. */
function inOrderOf(before: Line[], now: Line[]): Line[] {
  const left = new Map(now.map((line) => [line.key, line]));
  const kept = before.map((line) => {
    const found = left.get(line.key);
    left.delete(line.key);
    return found ?? { ...line, sum: { ...line.sum, present: 0, active: 0, parked: 0, times: line.sum.times.map(() => 0) } };
  });
  return [...kept, ...left.values()];
}

function added(sums: Sum[]): Sum {
  const all: Sum = { ...sums[0]!, times: sums[0]!.times.slice() };
  for (const sum of sums.slice(1)) {
    all.present += sum.present;
    all.parked += sum.parked;
    all.active += sum.active;
    all.elapsed += sum.elapsed;
    sum.times.forEach((time, i) => (all.times[i]! += time));
  }
  return all;
}

function setHeight(row: HTMLTableRowElement, height: number): void {
  row.hidden = height === 0;
  row.cells[0]!.style.height = `${height}px`;
}

export const createRanking: ViewFactory = (app) => new Ranking(app);
