import { createStore } from '../lib/store.ts'

/** Whether the list of keyboard shortcuts is open. */
export const help = createStore(false)

export const openHelp = () => help.set(true)
