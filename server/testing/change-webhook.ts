import type { Webhook } from '@parley/contract/webhook'
import type { Db } from '../src/db/db.ts'
import type { WebhookInput } from '../src/domain/webhooks/check-input.ts'
import { checkChange, requireWebhook, saveWebhook } from '../src/domain/webhooks/webhooks.ts'
import type { Clock } from '../src/lib/clock.ts'
import type { SecretKeys } from '../src/lib/seal.ts'
import type { TargetRules } from '../src/net/target-guard.ts'

/** Changes the given fields, as the console does. */
export async function changeWebhook(
  db: Db,
  clock: Clock,
  keys: SecretKeys,
  rules: TargetRules,
  id: string,
  input: Partial<Omit<WebhookInput, 'workspaceId'>>,
): Promise<Webhook> {
  const before = await requireWebhook(db, id)
  return saveWebhook(db, clock, () => keys, before, await checkChange(rules, before, input))
}
