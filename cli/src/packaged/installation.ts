import type { Installation } from '../installation.ts'

/** There is none: the commands of this program use the API. */
export const openInstallation = (): Installation => ({
  get config() {
    return refuse()
  },
  get clock() {
    return refuse()
  },
  running: () => undefined,
  store: async () => refuse(),
  close: async () => {},
})

function refuse(): never {
  throw new Error('This program has no database.')
}
