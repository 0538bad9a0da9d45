// Reads the data from the page itself (a report), or from the server that served it.
import { isState } from './address';
import { count } from './format';
import { BlockReader, StreamError } from './stream';
import { OtherRun, type FrameStore } from './store';

export type Status = { kind: 'ok' | 'wait' | 'error'; text: string };
type Tell = (status: Status) => void;

const TOKEN = 'camp-token';
const RETRY_MS = [500, 1000, 2000, 4000, 8000];
const TURN_MS = 30; // time for reading blocks before the page may draw
const QUIET_MS = 20; // without data: the past has been read, or the network is slower than the page
const SPACING_MS = 500; // between two pictures while frames of the past arrive
const PROGRESS_MS = 200;

/** Fills the store, and reports progress. Ends when no more data will come. */
export async function load(store: FrameStore, tell: Tell): Promise<void> {
  const data = document.getElementById('camp-data');
  if (data) await readReport(store, data, tell);
  else await readLive(store, tell);
}

/** Adds blocks to the store as soon as they are complete, and has the page drawn. While frames of
 * the past arrive, much faster than they were measured, the page is drawn rarely: drawing each would
 * take longer than reading all. */
class Feed {
  private reader = new BlockReader();
  private since = performance.now(); // this turn
  private toldMs = -Infinity;
  private toldEnd; // the frames that the page knows of
  private progressMs = performance.now();
  private timer = 0;
  private isCounting = false; // progress is shown

  constructor(private readonly store: FrameStore, private readonly tell: Tell) {
    this.toldEnd = store.endFrame;
  }

  async take(chunk: Uint8Array): Promise<void> {
    window.clearTimeout(this.timer);
    this.reader.push(chunk);
    for (let block = this.reader.next(); block; block = this.reader.next()) {
      this.store.add(block);
      // Timers of a hidden page are late by up to a minute, and it draws nothing.
      if (document.hidden || performance.now() - this.since < TURN_MS) continue;
      this.progress();
      if (performance.now() - this.toldMs > SPACING_MS) this.show();
      await new Promise((resolve) => setTimeout(resolve));
      this.since = performance.now();
    }
    if (document.hidden || !this.isPast()) this.finish();
    else this.timer = window.setTimeout(() => this.pause(), Math.max(QUIET_MS, this.toldMs + SPACING_MS - performance.now()));
  }

  /** Has the page drawn. */
  private show(): void {
    this.store.tell();
    this.toldMs = performance.now();
    this.toldEnd = this.store.endFrame;
  }

  /** Shows what was read, while more may come soon. */
  private pause(): void {
    this.show();
    this.timer = window.setTimeout(() => this.finish(), SPACING_MS);
  }

  /** Shows what was read. No more is coming soon. */
  finish(): void {
    window.clearTimeout(this.timer);
    if (this.isCounting) this.tell({ kind: 'ok', text: '' });
    this.isCounting = false;
    this.show();
  }

  /** Do frames arrive much faster than they were measured? */
  private isPast(): boolean {
    const { head, endFrame } = this.store;
    const arrivedMs = (endFrame - this.toldEnd) * (head?.interval_ms ?? 0);
    return arrivedMs > 3 * Math.min(performance.now() - this.toldMs, SPACING_MS) + 2 * (head?.interval_ms ?? 0);
  }

  /** Reports how much of the past of a live source has been read. */
  private progress(): void {
    const { head, endFrame, firstFrame, newestEndMs } = this.store;
    const now = performance.now();
    if (!head?.live || endFrame === firstFrame || now - this.progressMs < PROGRESS_MS || !this.isPast()) return;
    this.progressMs = now;
    this.isCounting = true;
    const coming = Math.max(0, Math.floor((Date.now() - newestEndMs) / head.interval_ms));
    this.tell({ kind: 'wait', text: `Reading ${count(endFrame)} of ${count(endFrame + coming)} intervals…` });
  }

  end(): void {
    if (this.reader.isInBlock) throw new StreamError('it ends inside a block');
  }
}

function broken(store: FrameStore, error: unknown): Status {
  const what = error instanceof Error ? error.message : String(error);
  const frames = store.endFrame - store.firstFrame;
  const kept = frames > 0 ? `The ${frames} frames before it are shown.` : 'Nothing before it can be shown.';
  return { kind: 'error', text: `The data is broken: ${what}. ${kept}` };
}

async function readReport(store: FrameStore, element: HTMLElement, tell: Tell): Promise<void> {
  tell({ kind: 'wait', text: 'Reading…' });
  const text = element.textContent.trim();
  element.textContent = '';
  const feed = new Feed(store, tell);
  try {
    const reader = inflate(text, tell).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      await feed.take(value);
    }
    feed.end();
    feed.finish();
    if (!store.head) throw new StreamError('there is nothing in it');
    tell({ kind: 'ok', text: '' });
  } catch (error) {
    store.tell();
    tell(broken(store, error));
  }
}

function inflate(text: string, tell: Tell): ReadableStream<Uint8Array> {
  const piece = 1 << 18; // characters, a multiple of 4
  let at = 0;
  const source = new ReadableStream<BufferSource>({
    pull(controller) {
      if (at >= text.length) return controller.close();
      const binary = atob(text.slice(at, (at += piece)));
      const bytes = new Uint8Array(binary.length);
      for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
      tell({ kind: 'wait', text: `Reading… ${Math.min(100, Math.round((100 * at) / text.length))} %` });
      controller.enqueue(bytes);
    },
  });
  return source.pipeThrough(new DecompressionStream('deflate'));
}

/** A refusal is final: asking again does not help. */
class Refused extends Error {}

export function token(): string | null {
  const given = isState(location.hash) ? '' : location.hash.slice(1);
  if (given) {
    sessionStorage.setItem(TOKEN, given);
    history.replaceState(null, '', location.pathname + location.search);
  }
  return given || sessionStorage.getItem(TOKEN);
}

const OTHER_RUN = 'camp view was started again: this is another run. Earlier frames are kept, but do not continue; ';

/** The text for a refused token. hadData: the token was valid, so camp view was started again. */
function refusal(status: number, hadData: boolean): string {
  if (status === 401 && hadData) return `${OTHER_RUN}open the address that it printed now to see the new one.`;
  if (status === 401 || status === 403)
    return 'The server refuses this page: its address lacks the token, or has an old one. Open the ' +
      'whole address that camp view printed, including the part after #.';
  if (status === 503)
    return 'Too many pages are open already. Close some of them, then load this one again.';
  if (status === 421)
    return 'The server does not answer to this name. Open the address that camp view printed, as it is.';
  return `The server answered with status ${status}. Start camp view again, and open the address it prints.`;
}

let heardMs = 0; // when the server was last heard

async function readOnce(store: FrameStore, tell: Tell): Promise<void> {
  const response = await fetch('stream', {
    headers: { Authorization: `Bearer ${token() ?? ''}` },
    cache: 'no-store',
  });
  if (!response.ok || !response.body) throw new Refused(refusal(response.status, store.head !== null));
  tell({ kind: 'ok', text: '' });
  store.connectedAgain();
  store.silentSince = null;
  const feed = new Feed(store, tell);
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return feed.finish();
      heardMs = Date.now();
      await feed.take(value);
    }
  } catch (error) {
    feed.finish();
    void reader.cancel().catch(() => undefined);
    throw error;
  }
}

/** The text of an error after which asking again does not help; null: it may help. */
function finalText(error: unknown, store: FrameStore): string | null {
  if (error instanceof Refused) return error.message;
  if (error instanceof OtherRun) return `${OTHER_RUN}load this page again to see the new one.`;
  return error instanceof StreamError ? broken(store, error).text : null;
}

async function readLive(store: FrameStore, tell: Tell): Promise<void> {
  if (location.protocol === 'file:')
    return tell({ kind: 'error', text: 'There is no data in this file. camp report --output FILE makes one that has.' });
  for (let tries = 0; ; tries++) {
    const had = store.endFrame;
    try {
      await readOnce(store, tell);
    } catch (error) {
      const text = finalText(error, store);
      if (text !== null) {
        store.silentSince ??= heardMs;
        store.tell();
        return tell({ kind: 'error', text });
      }
    }
    if (store.ended === null && store.head) store.silentSince ??= heardMs;
    store.tell();
    if (store.ended !== null) return;
    if (store.endFrame > had) tries = 0;
    await pause(RETRY_MS[Math.min(tries, RETRY_MS.length - 1)]!, store, tell);
  }
}

async function pause(ms: number, store: FrameStore, tell: Tell): Promise<void> {
  const kept = store.endFrame > store.firstFrame ? ' Earlier frames are kept.' : '';
  tell({
    kind: 'wait',
    text: `No answer from camp view: has it been stopped, or the network lost? Asking again every ${ms / 1000} s.${kept}`,
  });
  await new Promise((resolve) => setTimeout(resolve, ms));
}
