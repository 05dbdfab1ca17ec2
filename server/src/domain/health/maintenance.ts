import type { Db } from '../../db/db.ts'
import { type MaintenanceRun, readMaintenance } from '../../db/maintenance.ts'
import { formatDuration, formatTime } from '../../lib/format.ts'
import { count, type Finding, ok, problem, warning } from './finding.ts'

/** Another process takes over within 20 seconds. If none has after a minute, none is running. */
const withoutOwnerMs = { warning: 60_000, problem: 3_600_000 }
/** How much later than its interval a step may end. */
const lateMs = 600_000

export async function checkMaintenance(db: Db): Promise<Finding> {
  const state = await readMaintenance(db)
  const without = state.withoutOwnerMs ?? Number.POSITIVE_INFINITY
  if (without >= withoutOwnerMs.warning) {
    const last = state.process && `${state.process} did it last, ${formatDuration(without)} ago.`
    return (last && without >= withoutOwnerMs.problem ? problem : warning)(
      'maintenance',
      `No process does the maintenance. ${last ?? 'None has done it yet.'}`,
      {
        effect:
          'Nothing that is expired is deleted, and no partitions are created. Partitions exist a week ahead; after that, webhooks and API requests fail.',
        remedy: 'Start Parley: a process of any role does the maintenance.',
      },
    )
  }
  const failed = state.steps.filter(({ error }) => error !== null)
  const late = state.steps.filter((step) => step.error === null && step.sinceEndMs > step.everyMs + lateMs)
  const owner = `${state.process} does the maintenance since ${state.since ? formatTime(state.since) : 'now'}`
  if (failed.length + late.length === 0) return ok('maintenance', `${owner}; no step fails.`)
  const parts = [
    failed.length > 0 && `${count(failed.length, 'step')} failed`,
    late.length > 0 && `${late.length} late`,
  ]
  return warning('maintenance', `${owner}; ${parts.filter(Boolean).join(', ')}.`, {
    details: [...failed, ...late].map(describe),
    effect: 'A failed step is repeated. As long as it fails, what it deletes or creates stays as it is.',
    remedy: 'Search the log of that process for "loop.failed".',
  })
}

function describe({ step, error, endedAt, sinceSuccessMs }: MaintenanceRun): string {
  const success = sinceSuccessMs === null ? 'never succeeded' : `last success ${formatDuration(sinceSuccessMs)} ago`
  return `${step}: ${error === null ? 'last run' : 'failed'} at ${formatTime(endedAt)}${error === null ? '' : ` (${error})`}, ${success}`
}
