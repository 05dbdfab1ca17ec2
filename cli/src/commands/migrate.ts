import { readSchema } from '@parley/server/db/schema-version'
import { change } from '../audit.ts'
import type { Command } from '../command.ts'

export const commands: readonly Command[] = [
  {
    name: 'migrate',
    details:
      'Processes of the last release keep working during a migration. If it is interrupted, run it again: it continues. "./parley start" also migrates.',
    examples: ['migrate'],
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
  },
]
