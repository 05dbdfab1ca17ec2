import type { Command } from '../command.ts'

export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Bring the database up to this version; starting does the same',
  async run({ store }) {
    const { applied } = await store()
    const lines = applied.length > 0 ? applied.map((name) => `Applied ${name}.`) : ['The database is up to date.']
    return { lines, json: { applied } }
  },
}
