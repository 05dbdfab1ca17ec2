import type { Sender } from '@parley/contract/sender'
import { listKeys } from '@parley/server/domain/keys/keys'
import { acceptanceIn } from '@parley/server/domain/messages/sending/acceptance'
import { type SendCaller, type SendResult, sendMessage } from '@parley/server/domain/messages/sending/send'
import { listSenders, toSender } from '@parley/server/domain/senders/senders'
import type { Workspace } from '@parley/server/domain/workspaces/workspaces'
import { refuse } from '@parley/server/lib/refuse'
import { commandLine } from './audit.ts'
import { type Call, UsageError } from './command.ts'

/** Sends a message as the API does. The running service sends it to the network. */
export async function sendFromCommandLine(
  call: Call,
  { id: workspaceId, suspended }: Workspace,
  body: Record<string, unknown>,
  { idempotencyKey, keyId }: { idempotencyKey?: string | undefined; keyId?: string | undefined } = {},
): Promise<SendResult> {
  if (suspended) refuse('workspace_suspended', { message: `The workspace is suspended: ${suspended.reason}` })
  const db = (await call.db()).within(workspaceId)
  const caller = await callerFor(call, workspaceId, keyId, idempotencyKey !== undefined)
  return db.transaction((tx) => {
    const deps = { db: tx, clock: call.clock, caller, acceptance: acceptanceIn(tx, call.clock) }
    return sendMessage(deps, body, idempotencyKey)
  })
}

/** A message belongs to an API key or to a person. Only keys have Idempotency-Keys. */
async function callerFor(
  call: Call,
  workspaceId: string,
  keyId: string | undefined,
  needsKey: boolean,
): Promise<SendCaller> {
  if (keyId === undefined && !needsKey) return { workspaceId, keyId: null, person: commandLine.name }
  const now = call.clock.now()
  const keys = (await listKeys(await call.db(), workspaceId)).filter(
    ({ revokedAt, expiresAt, scopes }) =>
      revokedAt === null && (expiresAt === null || expiresAt > now) && scopes.includes('messages:send'),
  )
  const [first, ...others] = keyId === undefined ? keys : keys.filter(({ id }) => id === keyId)
  if (first && others.length === 0) return { workspaceId, keyId: first.id, systemId: first.systemId }
  if (keyId !== undefined)
    throw new UsageError(`API key ${keyId} of this workspace not found, not valid, or without the scope messages:send.`)
  throw new UsageError('--idempotency-key needs an API key that it belongs to. Pass --key ID, see "./parley key list".')
}

export async function listedSenders(call: Call, { id }: Workspace): Promise<Sender[]> {
  const page = { take: 1000, after: null, order: 'asc' } as const
  return (await listSenders((await call.db()).within(id), id, page)).rows.map(toSender)
}
