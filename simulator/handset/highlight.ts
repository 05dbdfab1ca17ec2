import { setHighlighted } from './state.ts'

/** A message and its network log entries are highlighted together, while hovered or after a click. */
let pinned: string[] = []
let reveal: (where: 'chat' | 'wire', ids: string[]) => void = () => {}

export function onReveal(run: typeof reveal): void {
  const before = reveal
  reveal = (where, ids) => {
    before(where, ids)
    run(where, ids)
  }
}

export function highlight(ids: string[]): void {
  setHighlighted(ids.length > 0 ? ids : pinned)
}

/** Keeps the highlight and scrolls to it in the other view. A second call removes it. */
export function pinHighlight(ids: string[], where: 'chat' | 'wire'): void {
  const isSame = ids.length === pinned.length && ids.every((id) => pinned.includes(id))
  pinned = isSame ? [] : ids
  setHighlighted(pinned)
  if (!isSame) reveal(where, ids)
}
