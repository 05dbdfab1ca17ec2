import { type ErrorCode, errorCatalogue } from '@parley/contract/errors'
import type { Db } from '../../db/db.ts'
import { invalidSignature } from './rejected-webhooks.ts'
import { type ApiErrorGroupRow, apiErrorGroups } from './requests.sql.ts'

export type ApiErrorGroup = ApiErrorGroupRow & { title: string; cause: string; remedy: string }

/** API errors grouped by code, most frequent first, with their explanation. */
export const listApiErrors = async (
  db: Db,
  workspaceId: string | null,
  since: Date,
  until: Date | null = null,
): Promise<ApiErrorGroup[]> =>
  (await apiErrorGroups(db, workspaceId, since, until)).map((group) => {
    const { title, cause, remedy } = errorMeaning(group.code)
    return { ...group, title, cause, remedy }
  })

export function errorMeaning(code: string): { status: number | null; title: string; cause: string; remedy: string } {
  if (code === invalidSignature) return ofWebhook
  return errorCatalogue[code as ErrorCode] ?? { status: null, title: code, cause: '', remedy: '' }
}

const ofWebhook = {
  status: 401,
  title: 'Webhook with an invalid signature',
  cause: 'The app secret is wrong, or someone else posts to the callback URL.',
  remedy: 'Run "./parley why" with a number of the app.',
}
