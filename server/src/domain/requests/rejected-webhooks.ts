/**
 * The network's webhooks with an invalid signature, which a wrong app secret causes. They are in the request log, as are all
 * requests without a workspace: only the first ten of each client and minute, so the count is a lower bound.
 */
import type { Db } from '../../db/db.ts'
import type { RequestRecord } from '../../http/access-check.ts'
import { newUuid } from '../../lib/ids.ts'
import { type RejectedWebhooks, rejectedOf } from './requests.sql.ts'

export type { RejectedWebhooks }

/** Only in the request log, so that invalid API keys are not counted with them. The response has invalid_key. */
export const invalidSignature = 'invalid_signature'

const routeOf = (appId: string): string => `/network/whatsapp/${appId}`

/** `db` must see all workspaces. */
export const countRejectedWebhooks = async (db: Db, appId: string, since: Date): Promise<RejectedWebhooks> =>
  (await rejectedOf(db, invalidSignature, routeOf(appId), since)) ?? { count: 0, lastAt: null }

export const rejectedWebhook = (at: Date, appId: string, address: string, userAgent: string | null): RequestRecord => ({
  id: newUuid(at.getTime()),
  at,
  caller: null,
  method: 'POST',
  route: routeOf(appId),
  status: 401,
  code: invalidSignature,
  durationUs: 0,
  address,
  userAgent,
})
