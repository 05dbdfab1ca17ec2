import { aheadOf, maxSkewMs } from '../../db/database-clock.ts'
import type { Db } from '../../db/db.ts'
import { readMigrations, readVersion } from '../../db/migrate.ts'
import { tablesMissingDays } from '../../db/partitions.ts'
import type { Clock } from '../../lib/clock.ts'
import { formatDuration } from '../../lib/format-duration.ts'
import { type Finding, ok, problem, warning } from './finding.ts'
import { bypassesRowSecurity, readServer } from './health.sql.ts'

const oldestMajor = 15
const slowMs = 50
const verySlowMs = 1_000

export async function checkDatabase(db: Db): Promise<Finding> {
  await readServer(db)
  // The second of two: the first had to connect and to be planned.
  const began = performance.now()
  const server = await readServer(db)
  const ms = performance.now() - began
  const says = `PostgreSQL ${server?.version.split(' ')[0]} answers in ${ms.toFixed(1)} ms; it holds ${megabytes(server?.bytes ?? 0)}.`
  if (Number.parseInt(server?.version ?? '', 10) < oldestMajor) {
    const means = 'Parley does not start on it.'
    return problem('database', says, { means, advice: `Bring PostgreSQL up to ${oldestMajor} or later.` })
  }
  if (ms < slowMs) return ok('database', says)
  const means = 'Every request waits for the database at least once.'
  const advice = 'Put the database closer to the service, and look at what else its machine does.'
  return (ms < verySlowMs ? warning : problem)('database', says, { means, advice })
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 1_000_000).toLocaleString('en')} MB`

export async function checkRole(db: Db): Promise<Finding> {
  const { above = false, role = '' } = (await bypassesRowSecurity(db)) ?? {}
  if (!above) return ok('database role', `Row-level security holds for ${role}.`)
  return warning('database role', `${role} is a superuser, or may bypass row-level security.`, {
    means: 'The second of the two walls between workspaces does not stand; the first, in every statement, does.',
    advice: 'Give Parley a role of its own that owns the database and is neither; see docs/operating.md.',
  })
}

export async function checkMigrations(db: Db): Promise<Finding> {
  const known = readMigrations()
  const present = await readVersion(db)
  if (present === 0) {
    return problem('migrations', 'The database is empty.', {
      means: 'No migration has been applied to it, so there is nothing else in it to check.',
      advice: 'Run "npx parley migrate", or start the service, which does the same.',
    })
  }
  const missing = known.filter(({ version }) => version > present).map(({ name }) => name)
  if (missing.length > 0) {
    return problem('migrations', `The database is at version ${present}, this program needs ${known.length}.`, {
      details: missing,
      means: 'This program is newer than the database; until it is migrated, other checks and commands may fail.',
      advice:
        'Make a back-up, stop the service, then run "npx parley migrate" or start the new version, which migrates.',
    })
  }
  if (present > known.length) {
    return problem('migrations', `The database is at version ${present}, this program knows up to ${known.length}.`, {
      advice: 'Use the newer Parley that this database was last started with.',
    })
  }
  return ok('migrations', `All ${known.length} are applied.`)
}

const apartMs = { warning: 2_000, problem: maxSkewMs }

export async function checkClock(db: Db, clock: Clock): Promise<Finding> {
  const before = clock.machine().getTime()
  const there = (await readServer(db))?.now.getTime() ?? before
  const after = clock.machine().getTime()
  const apart = Math.abs(aheadOf(there, before, after))
  const says = `This machine and the database are ${apart < 1000 ? 'less than a second' : formatDuration(apart)} apart.`
  if (apart < apartMs.warning) return ok('clock', says)
  return (apart < apartMs.problem ? warning : problem)('clock', says, {
    means:
      'Parley goes by the clock of the database. A process that is more than 15 seconds apart from it takes no work.',
    advice: 'Keep both clocks with NTP (chrony, systemd-timesyncd).',
  })
}

export async function checkPartitions(db: Db, clock: Clock): Promise<Finding> {
  const tomorrow = new Date(clock.now().getTime() + 86_400_000).toISOString().slice(0, 10)
  const missing = await tablesMissingDays(db, tomorrow, tomorrow)
  if (missing.length === 0) return ok('partitions', 'Tomorrow’s are there.')
  return problem('partitions', `There is none for tomorrow in ${missing.join(', ')}.`, {
    means: 'From midnight (UTC) on, webhooks and requests would fail.',
    advice: 'The running service makes them every minute; start it, and if it runs, look for "partitions" in its log.',
  })
}
