// Reads the data from the page itself (a report), or from the server that served it.
import { BlockReader, StreamError } from './stream';
import { OtherRun, type FrameStore } from './store';

export type Status = { kind: 'ok' | 'wait' | 'error'; text: string };
type Tell = (status: Status) => void;

const TOKEN = 'camp-token';
const RETRY_MS = [500, 1000, 2000, 4000, 8000];
const TURN_MS = 30; // time for reading blocks before the page may draw

/** Fills the store, and reports progress. Ends when no more data will come. */
export async function load(store: FrameStore, tell: Tell): Promise<void> {
  const data = document.getElementById('camp-data');
  if (data) await readReport(store, data, tell);
  else await readLive(store, tell);
}

/** Adds blocks to the store as soon as they are complete. */
class Feed {
  private reader = new BlockReader();
  private since = performance.now();

  constructor(private readonly store: FrameStore) {}

  async take(chunk: Uint8Array): Promise<void> {
    this.reader.push(chunk);
    for (let block = this.reader.next(); block; block = this.reader.next()) {
      this.store.add(block);
      // Timers of a hidden page are late by up to a minute, and it draws nothing.
      if (document.hidden || performance.now() - this.since < TURN_MS) continue;
      this.store.tell();
      await new Promise((resolve) => setTimeout(resolve));
      this.since = performance.now();
    }
    this.store.tell();
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
  const feed = new Feed(store);
  try {
    const reader = inflate(text, tell).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      await feed.take(value);
    }
    feed.end();
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

function token(): string | null {
  const given = location.hash.slice(1);
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

async function readOnce(store: FrameStore, tell: Tell): Promise<void> {
  const response = await fetch('stream', {
    headers: { Authorization: `Bearer ${token() ?? ''}` },
    cache: 'no-store',
  });
  if (!response.ok || !response.body) throw new Refused(refusal(response.status, store.head !== null));
  tell({ kind: 'ok', text: '' });
  store.connectedAgain();
  const feed = new Feed(store);
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      await feed.take(value);
    }
  } catch (error) {
    void reader.cancel().catch(() => undefined);
    throw error;
  }
}

async function readLive(store: FrameStore, tell: Tell): Promise<void> {
  if (location.protocol === 'file:')
    return tell({ kind: 'error', text: 'There is no data in this file. camp report --output FILE makes one that has.' });
  for (let tries = 0; ; tries++) {
    const had = store.endFrame;
    try {
      await readOnce(store, tell);
    } catch (error) {
      if (error instanceof Refused) return tell({ kind: 'error', text: error.message });
      if (error instanceof OtherRun) return tell({ kind: 'error', text: `${OTHER_RUN}load this page again to see the new one.` });
      if (error instanceof StreamError) return tell(broken(store, error));
    }
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
