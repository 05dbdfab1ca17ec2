import { errorMessage } from './api.ts'
import { createStore } from './store.ts'

export interface Toast {
  id: number
  kind: 'good' | 'bad' | 'note'
  message: string
}

/** Short messages at the bottom of the page; ui/toasts.tsx renders them. */
export const toasts = createStore<readonly Toast[]>([])
let lastId = 0

/** `toast.failed` also takes an error. Failures stay until they are dismissed. */
export const toast = {
  done: (message: string) => show('good', message),
  note: (message: string) => show('note', message),
  failed: (problem: unknown) => show('bad', typeof problem === 'string' ? problem : errorMessage(problem)),
}

export function dismiss(id: number): void {
  toasts.set((before) => before.filter((each) => each.id !== id))
}

function show(kind: Toast['kind'], message: string): void {
  lastId += 1
  const id = lastId
  toasts.set((before) => [...before.slice(-3), { id, kind, message }])
  if (kind !== 'bad') setTimeout(() => dismiss(id), 5000)
}
