// Three hints for the first visit. They are shown until they are closed, in this browser.
import { button, element } from './dom';

const KEY = 'camp-hints';
const HINTS = ['Drag on the ribbon to choose a time', 'Click a name to see why', '? lists the keys'];

/** Returns the hints; null if they were closed before, or if that could not be remembered. */
export function createHints(): HTMLElement | null {
  try {
    if (localStorage.getItem(KEY)) return null;
  } catch {
    return null; // a browser may forbid storage, above all to files
  }
  const hints = element('p', { class: 'hints', role: 'note' }, ...HINTS.map((hint) => element('span', {}, hint)),
    button('Got it', { class: 'small' }, () => {
      hints.remove();
      try {
        localStorage.setItem(KEY, 'closed');
      } catch { /* they are shown again */ }
    }));
  return hints;
}
