/** Children become text nodes, never markup, so user input cannot inject HTML. */
export type Child = Node | string | null | undefined | false | Child[]

type Listeners = { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void }

export interface Props {
  class?: string | null
  on?: Listeners
  [attribute: string]: string | number | boolean | null | undefined | Listeners
}

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue
    if (typeof value === 'object') listen(element, value)
    else element.setAttribute(name, value === true ? '' : String(value))
  }
  append(element, children)
  return element
}

function append(parent: Node, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(parent, child)
    else if (child instanceof Node) parent.appendChild(child)
    else if (child) parent.appendChild(document.createTextNode(child))
  }
}

export function fill(parent: Element, ...children: Child[]): void {
  const fresh = document.createDocumentFragment()
  append(fresh, children)
  parent.replaceChildren(fresh)
}

const svgNamespace = 'http://www.w3.org/2000/svg'

export function svg(tag: string, attributes: Record<string, string | number>, ...children: SVGElement[]): SVGElement {
  const element = document.createElementNS(svgNamespace, tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value))
  element.append(...children)
  return element
}

export function button(props: Props, onClick: (event: MouseEvent) => void, ...children: Child[]): HTMLButtonElement {
  return el('button', { type: 'button', ...props, on: { ...props.on, click: onClick } }, ...children)
}

function listen(element: HTMLElement, listeners: Listeners): void {
  for (const [name, listener] of Object.entries(listeners)) element.addEventListener(name, listener as EventListener)
}
