/**
 * Checks that every balance is the sum of its entries. Hourly only the entries since the last check are read: a workspace
 * has a checkpoint, the sum of its entries up to a time. Entries get their time before they are committed, so one can
 * appear behind the checkpoint later. Then the sums differ, and all entries of that workspace are read. So a late entry
 * is no false alarm and is not missed, and a wrong balance is always confirmed by all entries.
 */
import { databaseNow } from '../../db/database-clock.ts'
import type { Db } from '../../db/db.ts'
import { withIndexLookups } from '../../db/planner-settings.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../telemetry/logger.ts'
import {
  newEntriesOf,
  type SummedEntries,
  saveChecks,
  saveFirstChecks,
  sumEntries,
  type WrongBalance,
  wrongBalances,
} from './verify-ledger.sql.ts'

export type { WrongBalance }

/** Workspaces per statement. */
const perBatch = 200
/** A checkpoint is this far behind, because an entry is committed a moment after it gets its time. */
const behindMs = 10 * 60_000
const lowestId = '00000000-0000-0000-0000-000000000000'

/** Checks all balances, reads only the entries since the last check, and logs an error for each balance that is wrong. */
export async function verifyNewEntries(db: Db, clock: Clock, log: Logger): Promise<WrongBalance[]> {
  const until = new Date((await databaseNow(db, clock)).getTime() - behindMs)
  await saveFirstChecks(db, until)
  const wrong: WrongBalance[] = []
  for (let after = lowestId; ; ) {
    const batch = await withIndexLookups(db, (tx) => newEntriesOf(tx, after, until, perBatch))
    const [right, doubtful] = [batch.filter(isRight), batch.filter((each) => !isRight(each))]
    if (right.length > 0) await saveChecks(db, right, until)
    for (const { workspaceId } of doubtful) wrong.push(...(await verifyAllEntries(db, log, workspaceId, until)))
    const last = batch.at(-1)
    if (!last || batch.length < perBatch) return wrong
    after = last.workspaceId
  }
}

/** Checks all balances against all entries. It reads the whole ledger. */
export async function verifyLedger(db: Db, log: Logger | null = null): Promise<WrongBalance[]> {
  const wrong = await wrongBalances(db)
  if (log) for (const each of wrong) logWrong(log, each)
  return wrong
}

/** Reads all entries of a workspace. Saves a checkpoint if its balance is right. */
async function verifyAllEntries(db: Db, log: Logger, workspaceId: string, until: Date): Promise<WrongBalance[]> {
  const summed = await sumEntries(db, workspaceId, until)
  if (isRight(summed)) {
    await saveChecks(db, [summed], until)
    return []
  }
  const wrong = { workspace_id: workspaceId, balance: summed.balance, entered: summed.entered }
  logWrong(log, wrong)
  return [wrong]
}

function logWrong(log: Logger, { workspace_id, balance, entered }: WrongBalance): void {
  const fields = { workspace_id, balance, sum_of_entries: entered }
  log.error({ event: 'credits.balance_wrong', ...fields }, 'a balance is not the sum of its entries')
}

const isRight = ({ balance, entered }: SummedEntries): boolean => balance === entered
