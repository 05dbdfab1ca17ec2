import { createStore, useStore } from './store.ts'

/**
 * Texts that are not sent yet, by whoever writes them and to whom. They are personal data: the browser's tab keeps them over a
 * reload, and forgets them when it is closed or the person signs out.
 */
type Drafts = Readonly<Record<string, string>>

const item = 'parley.drafts'
const drafts = createStore<Drafts>(stored())

export const useDrafts = (): Drafts => useStore(drafts)

export const draftOf = (key: string): string => drafts.get()[key] ?? ''

/** An empty text is no draft. */
export function saveDraft(key: string, text: string): void {
  if (draftOf(key) === text) return
  const { [key]: _before, ...others } = drafts.get()
  save(text === '' ? others : { ...others, [key]: text })
}

export const forgetDrafts = (): void => save({})

function save(next: Drafts): void {
  drafts.set(next)
  try {
    if (Object.keys(next).length === 0) sessionStorage.removeItem(item)
    else sessionStorage.setItem(item, JSON.stringify(next))
  } catch {
    // A browser that blocks it, or has no space left, keeps the text until a reload.
  }
}

function stored(): Drafts {
  try {
    return JSON.parse(sessionStorage.getItem(item) ?? '{}') as Drafts
  } catch {
    return {}
  }
}
