import { mark } from './state.ts'

/**
 * A message and its traces on the wire light up together: while the pointer is on one of them, and for longer once it
 * was pressed.
 */
let pinned: string[] = []
let show: (where: 'chat' | 'wire', ids: string[]) => void = () => {}

export function whenShown(run: typeof show): void {
  const before = show
  show = (where, ids) => {
    before(where, ids)
    run(where, ids)
  }
}

export function point(ids: string[]): void {
  mark(ids.length > 0 ? ids : pinned)
}

/** Keeps them lit and brings them into view over there; pressed a second time, lets go. */
export function pin(ids: string[], where: 'chat' | 'wire'): void {
  const isSame = ids.length === pinned.length && ids.every((id) => pinned.includes(id))
  pinned = isSame ? [] : ids
  mark(pinned)
  if (!isSame) show(where, ids)
}
