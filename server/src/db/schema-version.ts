import { StartupError } from '../lib/refuse.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Db } from './db.ts'

/** The schema of a database. A program's own version is the number of its last migration. */
export interface Schema {
  /** The number of the last applied migration; 0 if none was applied. */
  version: number
  /** The oldest program that can use this schema. */
  oldest: number
}

export const noSchema: Schema = { version: 0, oldest: 0 }

export const schemaText = 'select version, oldest from migrations order by version desc limit 1'

export async function readSchema(db: Db): Promise<Schema> {
  const found = await db.first<{ exists: boolean }>("select to_regclass('migrations') is not null as exists")
  return (found?.exists && (await db.first<Schema>(schemaText))) || noSchema
}

/** Why the program of this version cannot use the schema, and what to do; null if it can. */
export function whyUnusable({ version, oldest }: Schema, program: number): string | null {
  if (version === 0) return 'The database is empty. Run "./parley start" or "./parley migrate" first.'
  if (version < program) {
    return `The database has schema version ${version}, but this version of Parley needs ${program}. Run "./parley migrate", or start the new version, which migrates the database. Processes of the last release keep working.`
  }
  if (program < oldest) {
    return `The database has schema version ${version}, which needs a Parley of version ${oldest} or later, but this is version ${program}. Start the newer version, or restore a backup from before the upgrade.`
  }
  return null
}

/** Throws if the program cannot use the schema. Changes nothing. */
export async function requireUsable(db: Db, program: number): Promise<void> {
  const reason = whyUnusable(await readSchema(db), program)
  if (reason !== null) throw new StartupError(reason)
}

/** How soon a process finds out that a newer version has migrated the database beyond what it can use. */
const checkEveryMs = 2_000

/** How long a migration that older programs cannot follow waits until they have found out, and have stopped their work. */
export const noticeMs = 10_000

export interface SchemaWatch {
  /** Called once when the schema becomes unusable. */
  onUnusable(reason: string): Promise<void>
  /** Called when the schema is usable again. If it fails, the next check calls it again. */
  onUsable(): Promise<void>
}

/** Returns a check that reports when the schema of the database moves out of what this program can use. */
export function newSchemaCheck(
  db: Db,
  log: Logger,
  program: number,
  { onUnusable, onUsable }: SchemaWatch,
): () => Promise<void> {
  let isUsable = true
  let checkedMs = performance.now()
  return async () => {
    if (performance.now() - checkedMs < checkEveryMs) return
    checkedMs = performance.now()
    const reason = whyUnusable(await readSchema(db), program)
    if ((reason === null) === isUsable) return
    if (reason === null) {
      await onUsable()
      isUsable = true
      log.info({ event: 'schema.usable' }, 'this process can use the schema of the database again; taking work')
    } else {
      isUsable = false
      log.error({ event: 'schema.unusable' }, `${reason} This process takes no more work.`)
      await onUnusable(reason)
    }
  }
}
