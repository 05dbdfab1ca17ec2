/** Removes the words of messages whose contents were removed, and of erased people. Triggers write down which ones. */
import type { Db } from '../../db/db.ts'
import { inBatches } from '../../db/in-batches.ts'
import { withIndexLookups } from '../../db/planner-settings.ts'
import { blocksBetween, holdWords, type Removal, removeKeys, removeNumbers, takeRemovals } from './blocks.sql.ts'
import { keyOf } from './keys.ts'
import { numbersWithoutMessages, objectsOfMessages } from './sources.sql.ts'

const batch = 1_000

/** Removes all that are written down. */
export const removeWords = (db: Db): Promise<number> => inBatches((limit) => removeSome(db, limit), batch)

const removeSome = (db: Db, limit: number): Promise<number> =>
  withIndexLookups(db, async (tx) => {
    await holdWords(tx)
    const removals = await takeRemovals(tx, limit)
    const received = removals.flatMap(({ kind, id }) => (kind === 'inbound' ? [id] : []))
    const withMessages =
      received.length === 0 ? [] : (await objectsOfMessages(tx, received)).map((each) => ({ ...each, number: null }))
    const groups = Map.groupBy([...removals, ...withMessages], ({ workspaceId, kind }) => `${workspaceId} ${kind}`)
    for (const group of groups.values()) await removeGroup(tx, group)
    const erased = Map.groupBy(
      removals.filter(({ number }) => number !== null),
      ({ workspaceId }) => workspaceId,
    )
    for (const [workspaceId, each] of erased) {
      const numbers = [...new Set(each.map(({ number }) => number ?? ''))]
      await removeNumbers(tx, workspaceId, await numbersWithoutMessages(tx, workspaceId, numbers))
    }
    return removals.length
  })

/** Removals of one kind in one workspace. */
async function removeGroup(tx: Db, removals: readonly Removal[]): Promise<void> {
  const [first] = removals
  if (!first) return
  const { workspaceId, kind } = first
  const keys = [...new Set(removals.map(({ id }) => keyOf(id)))].map(BigInt).sort((a, b) => (a < b ? -1 : 1))
  const blocks = await blocksBetween(tx, workspaceId, kind, `${keys[0]}`, `${keys.at(-1)}`)
  for (const { block, firstKey, lastKey } of blocks) {
    const own = keys.filter((key) => key >= BigInt(firstKey) && key <= BigInt(lastKey))
    if (own.length > 0) await removeKeys(tx, workspaceId, block, own.map(String))
  }
}
