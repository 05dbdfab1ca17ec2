import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { StartupError } from '../../lib/refuse.ts'
import { isLockTimeout } from '../connect/brief-transaction.ts'
import { type Migration, readSteps, type Step } from './migration-steps.ts'

export interface MigrationOptions {
  /** Called once, before the first of them, unless none is left to apply. */
  onStart?: (from: number, to: number, migrations: number) => void
  onProgress?: (message: string) => void
  onWait?: (message: string) => void
  signal?: AbortSignal | undefined
}

/**
 * A lock that has to wait makes everyone wait who comes after it. So a step gives up after this time, lets the others
 * pass and tries again. Longer than the second after which PostgreSQL makes an autovacuum give way.
 */
const lockTimeoutMs = 2_000

/** The pauses between two tries, in which the others pass. The last one is repeated. */
const pausesMs = [500, 1_000, 2_000, 5_000]

/** About ten minutes. A report or a dump that reads the table has usually ended by then. */
const maxTries = 90

/** Two megabytes: some thousand rows, which are locked for a fraction of a second. */
const blocksPerBatch = 256

/** Two passes are usual: the second one finds nothing. More are needed if the service changes rows between them. */
const maxPasses = 20

const progressEveryMs = 5_000

/** The migration was rolled back. The migrations and steps before it stay applied. */
export class FailedMigration extends StartupError {
  override readonly cause: Error & { code?: string }

  constructor(migration: string, step: number, steps: number, cause: Error) {
    super(
      steps === 1
        ? `Migration ${migration} failed and was rolled back: ${cause.message}.`
        : `Step ${step} of ${steps} of migration ${migration} failed: ${cause.message}. The steps before it stay applied, and the next try continues with it.`,
    )
    this.cause = cause
  }
}

/** The progress of a migration. `changed` counts the rows of the current pass over the table of a `batches` step. */
interface Progress {
  step: number
  block: number
  passes: number
  changed: number
}

export const progressTable = `create table if not exists migration_progress (
  version int primary key, step int not null, block int not null, passes int not null, changed int not null)`

/**
 * Runs the steps of a migration that are not done yet, and `finish` in the transaction of the last one. Progress is
 * stored in the transaction of the step, so an interrupted migration continues where it stopped.
 */
export async function runSteps(
  client: pg.Client,
  migration: Migration,
  finish: () => Promise<void>,
  options: MigrationOptions,
): Promise<void> {
  const steps = readSteps(migration)
  const { version, name } = migration
  // After a lost connection the next statement only fails with "not queryable". This is the error that says why.
  let lost: Error | undefined
  const onLost = (error: Error) => {
    lost = error
  }
  const progress = await readProgress(client, version)
  const store = async (next: Progress) => {
    if (next.step === steps.length) {
      await client.query('delete from migration_progress where version = $1', [version])
      await finish()
    } else {
      await client.query(
        `insert into migration_progress values ($1, $2, $3, $4, $5) on conflict (version)
         do update set (step, block, passes, changed) = (excluded.step, excluded.block, excluded.passes, excluded.changed)`,
        [version, next.step, next.block, next.passes, next.changed],
      )
    }
  }
  while (progress.step < steps.length) {
    options.signal?.throwIfAborted()
    const step = steps[progress.step] as Step
    const number = progress.step + 1
    const run: StepRun = { client, name, progress, store, options }
    client.on('error', onLost)
    try {
      if (step.kind === 'transaction') await runTransaction(run, step.text)
      else if (step.kind === 'batches') await runBatches(run, step)
      else await runConcurrently(run, step)
    } catch (error) {
      if (options.signal?.aborted || error instanceof StartupError) throw error
      throw new FailedMigration(name, number, steps.length, lost ?? (error as Error))
    } finally {
      client.off('error', onLost)
    }
  }
}

interface StepRun {
  client: pg.Client
  name: string
  progress: Progress
  store(next: Progress): Promise<void>
  options: MigrationOptions
}

async function readProgress(client: pg.Client, version: number): Promise<Progress> {
  const { rows } = await client.query<Progress>(
    'select step, block, passes, changed from migration_progress where version = $1',
    [version],
  )
  return rows[0] ?? { step: 0, block: 0, passes: 0, changed: 0 }
}

/** Runs `work` and stores the progress that it returns, in one transaction. */
async function advance(run: StepRun, work: () => Promise<Progress>): Promise<void> {
  const next = await inTransaction(run, async () => {
    const reached = await work()
    await run.store(reached)
    return reached
  })
  Object.assign(run.progress, next)
}

const nextStep = ({ step }: Progress): Progress => ({ step: step + 1, block: 0, passes: 0, changed: 0 })

const runTransaction = (run: StepRun, text: string): Promise<void> =>
  advance(run, async () => {
    await run.client.query(text)
    return nextStep(run.progress)
  })

async function runBatches(run: StepRun, { text, table }: Step & { kind: 'batches' }): Promise<void> {
  const { client, name, progress, options } = run
  let rows = 0
  let reportedAt = Date.now()
  for (;;) {
    options.signal?.throwIfAborted()
    const { step, block, passes, changed } = progress
    const blocks = await countBlocks(client, table)
    if (block < blocks) {
      const end = block + blocksPerBatch
      await advance(run, async () => {
        const { rowCount } = await client.query(text, [`(${block},0)`, `(${end},0)`])
        return { step, block: end, passes, changed: changed + (rowCount ?? 0) }
      })
      rows += progress.changed - changed
      if (Date.now() - reportedAt > progressEveryMs) {
        reportedAt = Date.now()
        const part = `${Math.min(100, Math.round((end / blocks) * 100))}% of ${table}`
        options.onProgress?.(`Migration ${name}: ${rows} rows changed so far, ${part}`)
      }
    } else if (changed === 0) {
      return advance(run, async () => nextStep(progress))
    } else if (passes + 1 >= maxPasses) {
      // The next try begins with the first pass.
      await advance(run, async () => ({ step, block: 0, passes: 0, changed: 0 }))
      throw new Error(`it still found rows to change in ${table} after ${maxPasses} passes`)
    } else {
      // A row that the service changed may have moved to a part that was done. So look again.
      await advance(run, async () => ({ step, block: 0, passes: passes + 1, changed: 0 }))
    }
  }
}

/** The size of a table, or of its largest partition or other table that inherits from it, in blocks. */
async function countBlocks(client: pg.Client, table: string): Promise<number> {
  const { rows } = await client.query<{ blocks: number }>(
    `with recursive parts as (
       select $1::regclass::oid as relid union select i.inhrelid from pg_inherits i join parts p on p.relid = i.inhparent
     )
     select (max(pg_relation_size(relid)) / current_setting('block_size')::int)::int as blocks from parts`,
    [table],
  )
  return rows[0]?.blocks ?? 0
}

async function runConcurrently(run: StepRun, step: Step & { kind: 'concurrently' }): Promise<void> {
  const { client, progress } = run
  const { index, text, creates } = step
  const { rows } = await client.query<{ valid: boolean }>(
    'select indisvalid as valid from pg_index where indexrelid = to_regclass($1)',
    [index],
  )
  // A try before this one may have ended before it was stored as done, or left an index that is not complete.
  const drop = `drop index concurrently if exists ${index}`
  if (creates && rows[0]?.valid === false) await client.query(drop)
  try {
    if (creates ? rows[0]?.valid !== true : rows.length > 0) await client.query(text)
  } catch (error) {
    // An incomplete index slows down writes, and a unique one rejects them.
    if (creates) await client.query(drop).catch(() => {})
    throw error
  }
  await advance(run, async () => nextStep(progress))
}

/** Runs `work` in a transaction. If it has to wait for a lock for too long, it is rolled back and tried again. */
async function inTransaction<T>(
  { client, name, options }: Pick<StepRun, 'client' | 'name' | 'options'>,
  work: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    await client.query('begin')
    try {
      // Row-level security applies to the owner too. Without this setting a migration sees empty tables, and its updates
      // change nothing. `set local` ends with the transaction, so a connection pooler can neither lose nor leak it.
      await client.query(`set local parley.workspace = 'all'; set local lock_timeout = ${lockTimeoutMs}`)
      const result = await work()
      await client.query('commit')
      return result
    } catch (error) {
      await client.query('rollback').catch(() => {})
      const isLocked = isLockTimeout(error)
      if (!isLocked && !isDeadlock(error)) throw error
      if (tries === maxTries) {
        throw new StartupError(
          `Migration ${name} did not get a lock within ten minutes: another session keeps a table in use, for example a report, a dump or an open transaction. Find it in pg_stat_activity, let it end, and migrate again.`,
        )
      }
      if (tries === 1) {
        options.onWait?.(`Migration ${name} waits until a table is free; others are not kept waiting`)
      }
    }
    await sleep(pausesMs[Math.min(tries, pausesMs.length) - 1], undefined, { signal: options.signal })
  }
}

const isDeadlock = (error: unknown): boolean => (error as { code?: string }).code === '40P01'
