import { openStore } from '@parley/server/db/store'
import { newLogger } from '@parley/server/lib/logger'
import type { Command } from '../command.ts'

export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Bring the database up to this version; starting does the same',
  async run({ config }) {
    const say = (line: string) => console.error(line)
    const store = await openStore(config, { purpose: 'visitor', log: newLogger('silent'), say })
    await store.close()
    const { applied } = store
    const lines = applied.length > 0 ? applied.map((name) => `Applied ${name}.`) : ['The database is up to date.']
    return { lines, json: { applied } }
  },
}
