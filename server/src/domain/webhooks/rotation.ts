/** Replaces the signing secret of an endpoint, immediately or in two steps. */
import type { Webhook } from '@parley/contract/webhook'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { withoutPrefix } from '../../lib/ids.ts'
import { refuse, refuseParam } from '../../lib/refuse.ts'
import type { SecretKeys } from '../../lib/seal.ts'
import { changeEndpoint } from '../deliveries/engine/attempt/change-endpoint.ts'
import { makeDueFailedSince } from '../deliveries/retry.ts'
import { newSecret } from './secret.ts'
import { activateStagedSecret, updateSecret, updateStagedSecret, type WebhookRow } from './webhooks.sql.ts'
import { requireRow, requireWebhook, toWebhook } from './webhooks.ts'

/** A rotation makes due what failed within this time before it. */
const refusedWithinMs = 3_600_000

/**
 * Replaces the secret of an endpoint. The old one stops working immediately: the next attempt uses only the new one.
 * Deliveries that failed within the last hour are due immediately.
 */
export async function rotateWebhook(
  db: Db,
  clock: Clock,
  keys: SecretKeys,
  id: string,
): Promise<{ webhook: Webhook; secret: string }> {
  const uuid = withoutPrefix('whk', id) ?? refuse('not_found')
  const { secret, ...sealed } = newSecret(keys, uuid)
  const webhook = await changeSecret(db, clock, (tx, now) => updateSecret(tx, uuid, sealed, now))
  return { webhook, secret }
}

/** Creates a secret that signs in addition to the current one, until it is activated. */
export async function stageRotation(
  db: Db,
  keys: SecretKeys,
  id: string,
): Promise<{ webhook: Webhook; secret: string; stagedSecretHint: string }> {
  const uuid = withoutPrefix('whk', id) ?? refuse('not_found')
  const { secret, ...sealed } = newSecret(keys, uuid)
  const webhook = await changeStagedSecret(db, uuid, sealed)
  return { webhook, secret, stagedSecretHint: sealed.secretHint }
}

/** Ends the old secret of a staged rotation. Deliveries that failed within the last hour are due immediately. */
export async function activateSecret(db: Db, clock: Clock, id: string, within?: string): Promise<Webhook> {
  const uuid = await requireStaged(db, id, within)
  return changeSecret(db, clock, (tx, now) => activateStagedSecret(tx, uuid, now))
}

/** Ends a staged rotation: the new secret is dropped, the old one stays. */
export async function cancelRotation(db: Db, id: string, within?: string): Promise<Webhook> {
  const uuid = await requireStaged(db, id, within)
  return changeStagedSecret(db, uuid, null)
}

const changeStagedSecret = (db: Db, uuid: string, staged: Parameters<typeof updateStagedSecret>[2]): Promise<Webhook> =>
  changeEndpoint(db, async (tx) => {
    const row = requireRow(await updateStagedSecret(tx, uuid, staged))
    tx.notify(row.workspace_id, 'webhooks')
    return toWebhook(row)
  })

const changeSecret = (
  db: Db,
  clock: Clock,
  change: (tx: Db, now: Date) => Promise<WebhookRow | undefined>,
): Promise<Webhook> =>
  changeEndpoint(db, async (tx) => {
    const now = clock.now()
    const row = requireRow(await change(tx, now))
    const { id: webhookId, workspace_id: workspaceId } = row
    const since = new Date(now.getTime() - refusedWithinMs)
    await makeDueFailedSince(tx, { webhookId, workspaceId }, since, now)
    tx.notify(row.workspace_id, 'webhooks')
    return toWebhook(row)
  })

async function requireStaged(db: Db, id: string, within?: string): Promise<string> {
  const { uuid, stagedSecretHint } = await requireWebhook(db, id, within)
  if (stagedSecretHint === null) {
    refuseParam('id', 'invalid', 'This webhook has no new secret to activate. Rotate its secret with "staged" first.')
  }
  return uuid
}
