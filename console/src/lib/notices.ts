import { useEffect } from 'react'
import { createStore, useStore } from './store.ts'

/** A banner at the top of every page of a workspace, for example when credits are low. */
export interface Notice {
  tone: 'note' | 'warn' | 'bad'
  title: string
  detail?: string
  action?: { title: string; to: string }
}

const notices = createStore<Readonly<Record<string, Notice>>>({})

/** Sets the notice `key` of a workspace, or removes it with null. It stays when the page is left. */
export function useNotice(workspace: string, key: string, notice: Notice | null): void {
  const json = JSON.stringify(notice)
  useEffect(() => {
    const slot = `${workspace}/${key}`
    notices.set(({ [slot]: _before, ...rest }) => {
      const next = JSON.parse(json) as Notice | null
      return next ? { ...rest, [slot]: next } : rest
    })
  }, [workspace, key, json])
}

export function useNotices(workspace: string): Notice[] {
  return Object.entries(useStore(notices))
    .filter(([slot]) => slot.startsWith(`${workspace}/`))
    .map(([, notice]) => notice)
}
