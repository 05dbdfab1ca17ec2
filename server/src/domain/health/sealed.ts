import type { Db } from '../../db/db.ts'
import { keyIdOf, open, type SecretKeys } from '../../lib/seal.ts'
import { accessTokenContext, appSecretContext, verifyTokenContext } from '../connections/seal-contexts.ts'
import { webhookHeadersContext, webhookSecretContext } from '../deliveries/engine/attempt/targets.ts'
import { mailSecretContext } from '../mail/outbox.ts'
import { totpContext } from '../people/sign-in/two-factor.ts'
import { countByKey, liveSecrets, type SealedColumn, sealedColumns } from './sealed.sql.ts'

/** A kind of encrypted secret: where it is stored, what it belongs to, and the context it is encrypted with. */
export interface SecretKind {
  owner: 'app' | 'connection' | 'email' | 'webhook' | 'user'
  singular: string
  plural: string
  stored: SealedColumn
  context(id: string): string
}

const { appSecret, verifyToken, accessToken, signingSecret, stagedSecret, headers, totp, mailSecret } = sealedColumns

export const secretKinds: readonly SecretKind[] = [
  kind('app', 'app secret', appSecret, appSecretContext),
  kind('app', 'verify token', verifyToken, verifyTokenContext),
  kind('connection', 'access token', accessToken, accessTokenContext),
  kind('webhook', 'signing secret', signingSecret, webhookSecretContext),
  kind('webhook', 'staged signing secret', stagedSecret, webhookSecretContext),
  kind('webhook', 'header value', headers, webhookHeadersContext),
  kind('user', 'authenticator secret', totp, totpContext),
  kind('email', 'email link', mailSecret, mailSecretContext),
]

function kind(owner: SecretKind['owner'], singular: string, stored: SealedColumn, context: SecretKind['context']) {
  return { owner, singular, plural: `${singular}s`, stored, context }
}

interface SecretOwner {
  owner: SecretKind['owner']
  id: string
  /** The keys of its secrets that cannot be decrypted. */
  unreadable: string[]
}

export async function readOwners(db: Db, keys: SecretKeys): Promise<SecretOwner[]> {
  const owners = new Map<string, SecretOwner>()
  for (const { owner, stored, context } of secretKinds) {
    for (const { id, sealed } of await liveSecrets(db, stored)) {
      const found = owners.get(`${owner} ${id}`) ?? { owner, id, unreadable: [] }
      owners.set(`${owner} ${id}`, found)
      if (openOrNull(keys, sealed, context(id)) === null) found.unreadable.push(keyIdOf(sealed))
    }
  }
  return [...owners.values()]
}

/** How many secrets each key encrypts, by key ID. */
export async function secretsByKey(db: Db): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const { stored } of secretKinds) {
    for (const { key_id, count } of await countByKey(db, stored)) counts.set(key_id, (counts.get(key_id) ?? 0) + count)
  }
  return counts
}

/** Null if the key is missing, or the ciphertext belongs to another row. */
export function openOrNull(keys: SecretKeys, sealed: string, context: string): string | null {
  try {
    return open(keys, sealed, context)
  } catch {
    return null
  }
}
