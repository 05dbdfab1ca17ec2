import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { type SecretKeys, seal } from '../../lib/seal.ts'
import { type Actor, recordAuditEntry } from '../audit/audit.ts'
import { replaceSecrets, secretsOfOtherKeys } from './sealed.sql.ts'
import { openOrNull, type SecretKind, secretKinds, secretsByKey } from './sealed.ts'

/** Secrets per transaction: few, so that a request that changes one of these rows waits for milliseconds only. */
const batchSize = 100

const lowestId = '00000000-0000-0000-0000-000000000000'

export interface Resealed {
  /** The first key, which encrypts all secrets now. */
  keyId: string
  resealed: { kind: SecretKind; count: number }[]
  /** Secrets that are still used and whose key is missing. They stay as they are. */
  unreadable: number
  /** Keys other than the first that still encrypt secrets, and how many. */
  stillUsed: Map<string, number>
  /** Configured keys that encrypt nothing any more. */
  notNeeded: string[]
}

/**
 * Encrypts every secret with the first key. Each batch is a transaction, and a secret that a running service changed in
 * the meantime is left alone, so it can run at any time, be stopped at any time and be repeated. The audit entry is
 * recorded with the first change.
 */
export async function resealSecrets(
  db: Db,
  clock: Clock,
  keys: SecretKeys,
  actor: Actor,
  onProgress: (kind: SecretKind, done: number) => void = () => {},
): Promise<Resealed> {
  const [keyId = ''] = keys.keys()
  const before = withoutKey(await secretsByKey(db), keyId)
  let isRecorded = false
  let unreadable = 0
  const resealed: Resealed['resealed'] = []
  for (const kind of secretKinds) {
    let count = 0
    for (let after = lowestId; ; ) {
      const found = await secretsOfOtherKeys(db, kind.stored, keyId, after, batchSize)
      const batch = found.flatMap(({ id, sealed }) => {
        const secret = openOrNull(keys, sealed, kind.context(id))
        return secret === null ? [] : [{ id, sealed, resealed: seal(keys, secret, kind.context(id)) }]
      })
      const done = new Set(batch.map(({ id }) => id))
      unreadable += found.filter(({ id, used }) => used && !done.has(id)).length
      if (batch.length > 0) {
        count += await db.transaction(async (tx) => {
          if (!isRecorded) {
            const entry = { action: 'secrets.reseal', workspaceId: null, before: Object.fromEntries(before) }
            await recordAuditEntry(tx, clock, actor, { ...entry, after: { key: keyId } })
          }
          return replaceSecrets(tx, kind.stored, batch)
        })
        isRecorded = true
        onProgress(kind, count)
      }
      const last = found.at(-1)
      if (!last || found.length < batchSize) break
      after = last.id
    }
    resealed.push({ kind, count })
  }
  const stillUsed = withoutKey(await secretsByKey(db), keyId)
  const notNeeded = [...keys.keys()].filter((id) => id !== keyId && !stillUsed.has(id))
  return { keyId, resealed, unreadable, stillUsed, notNeeded }
}

const withoutKey = (counts: Map<string, number>, keyId: string): Map<string, number> =>
  new Map([...counts].filter(([id]) => id !== keyId))
