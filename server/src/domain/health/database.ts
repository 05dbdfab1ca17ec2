import { aheadOf, maxSkewMs } from '../../db/database-clock.ts'
import type { Db } from '../../db/db.ts'
import { programVersion, readMigrations } from '../../db/migrate/migrate.ts'
import { tablesMissingDays } from '../../db/partitions.ts'
import type { ReplicaState } from '../../db/replica/replica-watch.ts'
import { readSchema } from '../../db/schema-version.ts'
import type { Clock } from '../../lib/clock.ts'
import { formatDuration } from '../../lib/format.ts'
import { count, type Finding, ok, problem, warning } from './finding.ts'
import { bypassesRowSecurity, readLongTransactions, readServer } from './health.sql.ts'

const oldestMajor = 15
const slowMs = 50
const verySlowMs = 1_000

export async function checkDatabase(db: Db): Promise<Finding> {
  await readServer(db)
  // Measures the second query: the first one includes connecting and planning.
  const began = performance.now()
  const server = await readServer(db)
  const ms = performance.now() - began
  const message = `PostgreSQL ${server?.version.split(' ')[0]} responds in ${ms.toFixed(1)} ms. Database size: ${megabytes(server?.bytes ?? 0)}.`
  if (Number.parseInt(server?.version ?? '', 10) < oldestMajor) {
    const effect = `Parley needs PostgreSQL ${oldestMajor} or later and does not start on older versions.`
    return problem('database', message, { effect, remedy: `Upgrade PostgreSQL to ${oldestMajor} or later.` })
  }
  if (ms < slowMs) return ok('database', message)
  const effect = 'Every request waits for at least one query, so the API is slow.'
  const remedy = 'Check the load of the database server, and run it close to Parley (same region, low latency).'
  return (ms < verySlowMs ? warning : problem)('database', message, { effect, remedy })
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 1_000_000).toLocaleString('en')} MB`

export async function checkRole(db: Db): Promise<Finding> {
  const { bypasses = false, role = '' } = (await bypassesRowSecurity(db)) ?? {}
  if (!bypasses) return ok('database role', `Row-level security applies to the role ${role}.`)
  return warning(
    'database role',
    `Row-level security does not apply to the role ${role}: it is a superuser or has BYPASSRLS.`,
    {
      effect:
        'Tenant isolation relies on the workspace condition in each query alone. Row-level security would catch a query without one.',
      remedy: 'Use a dedicated role that owns the database and is neither; see docs/run/postgresql.md.',
    },
  )
}

/** Longer than transactions of Parley take. */
const longTransactionSeconds = 60

export async function checkTransactions(db: Db, seconds = longTransactionSeconds): Promise<Finding> {
  const details = (await readLongTransactions(db, seconds)).map(({ what }) => what)
  if (details.length === 0) return ok('long transactions', 'No transaction has been open for long.')
  return warning('long transactions', `${count(details.length, 'transaction')} with changes open for over a minute.`, {
    details,
    effect:
      'GET /v1/events and replays leave out events that are newer than the oldest of them. Webhooks are not affected.',
    remedy: 'Wait for them, or end them with pg_terminate_backend or ROLLBACK PREPARED; see docs/run/postgresql.md.',
  })
}

export async function checkMigrations(db: Db): Promise<Finding> {
  const known = readMigrations()
  const program = programVersion(known)
  const { version: present, oldest } = await readSchema(db)
  if (present === 0) {
    return problem('migrations', 'The database is empty.', {
      effect: 'No migration has been applied, so the checks that read tables were skipped.',
      remedy: 'Run "./parley migrate", or start Parley, which runs the migrations.',
    })
  }
  const missing = known.filter(({ version }) => version > present).map(({ name }) => name)
  if (missing.length > 0) {
    return problem(
      'migrations',
      `The database is at version ${present}, but this version of Parley needs ${program}.`,
      {
        details: missing,
        effect: 'The database has not been migrated. Until it is, other checks and commands may fail.',
        remedy:
          'Back up the database, then run "./parley migrate" or start the new version. Processes of the last release keep working.',
      },
    )
  }
  if (present > program && oldest <= program) {
    return ok(
      'migrations',
      `The database is at version ${present}. This version of Parley, ${program}, can use it: it needs ${oldest} or later.`,
    )
  }
  if (present > program) {
    return problem(
      'migrations',
      `The database is at version ${present} and needs a Parley of version ${oldest} or later, but this is version ${program}.`,
      {
        effect: 'A newer version of Parley has migrated the database. Migrations cannot be undone.',
        remedy: 'Install the newer version, or restore the backup from before the upgrade.',
      },
    )
  }
  return ok('migrations', `All migrations are applied, up to version ${program}.`)
}

const apartMs = { warning: 2_000, problem: maxSkewMs }

export async function checkClock(db: Db, clock: Clock): Promise<Finding> {
  const before = clock.machine().getTime()
  const there = (await readServer(db))?.now.getTime() ?? before
  const after = clock.machine().getTime()
  const apart = Math.abs(aheadOf(there, before, after))
  const message = `The clocks of this machine and the database differ by ${apart < 1000 ? 'less than a second' : formatDuration(apart)}.`
  if (apart < apartMs.warning) return ok('clock', message)
  return (apart < apartMs.problem ? warning : problem)('clock', message, {
    effect:
      'Parley uses the database clock. If a machine’s clock differs from it by more than 15 seconds, Parley does not start there, and a running process stops sending and delivering.',
    remedy: 'Synchronize both clocks with NTP (chrony or systemd-timesyncd).',
  })
}

export async function checkPartitions(db: Db, clock: Clock): Promise<Finding> {
  const tomorrow = new Date(clock.now().getTime() + 86_400_000).toISOString().slice(0, 10)
  const missing = await tablesMissingDays(db, tomorrow, tomorrow)
  if (missing.length === 0) return ok('partitions', 'The partitions for tomorrow exist.')
  return problem('partitions', `No partition for tomorrow in ${missing.join(', ')}.`, {
    effect: 'From midnight UTC, webhooks and API requests will fail.',
    remedy: 'Start Parley: it creates partitions every minute. If it is running, search its log for "partitions".',
  })
}

export function checkReplica({ whyLeft }: ReplicaState): Finding {
  if (whyLeft === null) return ok('replica', 'The console reads lists, exports and counts from the replica.')
  return warning('replica', `The console does not read from the replica. ${whyLeft}`, {
    effect: 'It reads from the primary, which has more work.',
    remedy: 'Check the server in PARLEY_DATABASE_READ_URL and its replication. It is used again when it is up to date.',
  })
}
