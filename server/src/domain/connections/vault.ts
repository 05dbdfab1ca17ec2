import type { Db } from '../../db/db.ts'
import { batched } from '../../lib/batch.ts'
import { forgetOldest } from '../../lib/forget-oldest.ts'
import type { HmacKey } from '../../lib/hmac.ts'
import { isUuid } from '../../lib/ids.ts'
import { open, type SecretKeys } from '../../lib/seal.ts'
import type { GraphAccess } from '../../whatsapp/client.ts'
import { networkKey } from '../../whatsapp/signature.ts'
import { accessTokenPlace, appSecretPlace, verifyTokenPlace } from './places.ts'
import { type AtRevision, sealedAccesses, sealedApps } from './vault.sql.ts'

/** What the ingress needs of an app. */
export interface OpenApp {
  id: string
  appSecret: string
  /** The same, for what the network signs with it. */
  networkKey: HmacKey | null
  verifyToken: string
  /** The routing revision at which this was read. */
  revision: number
}

export type OpenAccess = GraphAccess & { revision: number }

/**
 * Opened secrets, in memory only. Each look waits for one small statement, shared with every other look at that moment:
 * it names the routing revision, and while that is the one our copies were read at, the copies are right. A changed secret
 * thus counts at once, in every process. Whoever knows the current revision already may name it and spare the statement.
 */
export interface Vault {
  openApp(appId: string, revision?: number): Promise<OpenApp | undefined>
  /** The app as it was when somebody last looked: right as long as its revision is the current one. */
  recallApp(appId: string): OpenApp | undefined
  /** The address and the token for calls in the name of a connected account. */
  accessFor(connectionId: string, revision?: number): Promise<OpenAccess | undefined>
}

export function newVault(db: Db, keys: SecretKeys): Vault {
  const apps = newLooker(
    (ids) => sealedApps(db, ids),
    (row, revision) => {
      const appSecret = open(keys, row.app_secret_sealed, appSecretPlace(row.id))
      const verifyToken = open(keys, row.verify_token_sealed, verifyTokenPlace(row.id))
      return { id: row.id, appSecret, networkKey: networkKey(appSecret), verifyToken, revision }
    },
  )
  const accesses = newLooker(
    (ids) => sealedAccesses(db, ids),
    (row, revision) => ({
      graphUrl: row.graph_url,
      accessToken: open(keys, row.access_token_sealed, accessTokenPlace(row.id)),
      revision,
    }),
  )
  return { openApp: apps.look, recallApp: apps.recall, accessFor: accesses.look }
}

const maxCopies = 10_000
const maxTries = 10

/** A look returns a function, not the value: a secret that does not open fails those who want it and nobody else. */
type Copy<Value> = { revision: number; give: () => Value | undefined }

function newLooker<Row extends { id: string }, Value>(
  read: (ids: readonly string[]) => Promise<AtRevision<Row>>,
  openRow: (row: Row, revision: number) => Value,
): Looker<Value> {
  const copies = new Map<string, Copy<Value>>()
  let known = 0

  async function lookAll(ids: string[]): Promise<Copy<Value>[]> {
    for (let tries = 0; tries < maxTries; tries++) {
      const stale = [...new Set(ids)].filter((id) => copies.get(id)?.revision !== known)
      const { revision, rows } = await read(stale)
      const byId = new Map(rows.map((row) => [row.id, row]))
      // Not kept: anyone can ask for made-up ids, which would push out the copies of those that exist.
      const absent = new Set<string>()
      for (const id of stale) {
        const row = byId.get(id)
        copies.delete(id)
        if (row) copies.set(id, copyOf(row, revision, openRow))
        else absent.add(id)
      }
      known = revision
      const nothing: Copy<Value> = { revision, give: () => undefined }
      const found = ids.map((id) => (absent.has(id) ? nothing : copies.get(id)))
      if (found.every((copy) => copy?.revision === revision)) {
        forgetOldest(copies, maxCopies)
        return found as Copy<Value>[]
      }
    }
    throw new Error(`what is looked for changed ${maxTries} times within ${maxTries} looks`)
  }

  const join = batched(lookAll, { maxItems: 1000 })
  return {
    async look(id, revision) {
      if (!isUuid(id)) return undefined
      const copy = copies.get(id)
      return (copy && copy.revision === revision ? copy : await join(id)).give()
    },
    recall(id) {
      try {
        return copies.get(id)?.give()
      } catch {
        // It did not open then; it may by now.
        return undefined
      }
    },
  }
}

interface Looker<Value> {
  look(id: string, revision?: number): Promise<Value | undefined>
  recall(id: string): Value | undefined
}

function copyOf<Row, Value>(row: Row, revision: number, openRow: (row: Row, revision: number) => Value): Copy<Value> {
  try {
    const value = openRow(row, revision)
    return { revision, give: () => value }
  } catch (error) {
    return {
      revision,
      give() {
        throw error
      },
    }
  }
}
