// Creating elements.

type Content = Node | string;

/** element('p', { class: 'note', role: 'status' }, 'text', child). No style attributes: the page's
 * policy forbids them; computed styles are set on element.style. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K, attributes: Record<string, string> = {}, ...content: Content[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content);
  return made;
}

export function button(label: string, attributes: Record<string, string>, pressed: () => void): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, label);
  made.addEventListener('click', pressed);
  return made;
}

/** Sets an attribute only if it differs, to avoid layout. */
export function setAttribute(on: Element, name: string, value: string | number): void {
  if (on.getAttribute(name) !== String(value)) on.setAttribute(name, String(value));
}

/** Writes a text only if it differs, to avoid layout. */
export function setText(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}
