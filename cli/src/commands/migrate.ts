import { readSchema } from '@parley/server/db/schema-version'
import { change } from '../audit.ts'
import type { Command } from '../command.ts'

export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Migrate the database to this version',
  details:
    'Processes of the version before keep working meanwhile. If it is interrupted, run it again: it continues. "npx parley start" also migrates.',
  async run(call) {
    const { applied, db } = await call.store('migrate')
    const { version } = await readSchema(db)
    if (applied.length > 0) {
      await change(call, (_tx, audit) =>
        audit({ action: 'installation.migrate', workspaceId: null, after: { version, applied } }),
      )
    }
    const lines =
      applied.length > 0
        ? [...applied.map((name) => `Applied ${name}.`), `The database is now at version ${version}.`]
        : [`The database is up to date, at version ${version}.`]
    return { lines, json: { applied, version } }
  },
}
