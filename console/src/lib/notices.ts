import { useEffect } from 'react'
import { createStore, useStore } from './store.ts'

/** Words that every page of a workspace should carry at its top: credits that run low, say. */
export interface Notice {
  tone: 'note' | 'warn' | 'bad'
  title: string
  detail?: string
  action?: { title: string; to: string }
}

const notices = createStore<Readonly<Record<string, Notice>>>({})

/** Sets the notice under `key` for a workspace, or takes it away with null. It stays when the page is left. */
export function useNotice(workspace: string, key: string, notice: Notice | null): void {
  const wanted = JSON.stringify(notice)
  useEffect(() => {
    const slot = `${workspace}/${key}`
    notices.set(({ [slot]: _before, ...rest }) => {
      const next = JSON.parse(wanted) as Notice | null
      return next ? { ...rest, [slot]: next } : rest
    })
  }, [workspace, key, wanted])
}

export function useNotices(workspace: string): Notice[] {
  return Object.entries(useStore(notices))
    .filter(([slot]) => slot.startsWith(`${workspace}/`))
    .map(([, notice]) => notice)
}
