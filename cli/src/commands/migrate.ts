import { readVersion } from '@parley/server/db/migrate'
import type { Command } from '../command.ts'

export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Bring the database up to this version; starting does the same',
  async run({ store }) {
    const { applied, db } = await store('migrate')
    const version = await readVersion(db)
    const lines =
      applied.length > 0
        ? [...applied.map((name) => `Applied ${name}.`), `The database is now at version ${version}.`]
        : [`The database is up to date, at version ${version}.`]
    return { lines, json: { applied, version } }
  },
}
