/** Parses what the Graph API says about access tokens, apps and their webhook subscriptions. */

import { type JsonObject, readArray, readId, readNonBlank, readObject, readTime } from '../read-json.ts'
import { hideToken } from './hide-token.ts'

export const messagingScope = 'whatsapp_business_messaging'
export const managementScope = 'whatsapp_business_management'

export interface TokenFacts {
  isValid: boolean
  /** Why it is not valid, in the network's words. */
  problem: string | null
  /** The ID of the Meta app that it belongs to. */
  metaAppId: string | null
  /** Null: it does not expire. Undefined: not known. */
  expiresAt: Date | null | undefined
  /** The permissions that were granted. */
  scopes: string[]
  /** The accounts that it may manage; null if the network does not say. */
  wabaIds: string[] | null
}

/** The webhook subscription of a Meta app. */
export interface AppSubscription {
  callbackUrl: string
  isActive: boolean
  fields: string[]
}

/** A Meta app that is subscribed to the webhooks of an account. */
export interface SubscribedApp {
  metaAppId: string
  /** The callback that the account has in place of the app's. */
  overrideUrl: string | null
}

export function readTokenFacts(data: JsonObject, accessToken: string): TokenFacts {
  const problem = readNonBlank(readObject(data.error)?.message, 5000)
  return {
    isValid: data.is_valid === true,
    problem: problem && readNonBlank(hideToken(problem, accessToken), 512),
    metaAppId: readId(data.app_id),
    // 0 means that it does not expire, which is no time.
    expiresAt: data.expires_at === undefined ? undefined : readTime(data.expires_at),
    scopes: idsIn(data.scopes),
    wabaIds: accountsIn(data.granular_scopes),
  }
}

export function readSubscription(row: JsonObject): AppSubscription | null {
  const callbackUrl = readId(row.callback_url, 2048)
  if (row.object !== 'whatsapp_business_account' || callbackUrl === null) return null
  const fields = readArray(row.fields).map((field) => readObject(field)?.name ?? field)
  return { callbackUrl, isActive: row.active !== false, fields: idsIn(fields) }
}

export function readSubscribedApp(row: JsonObject): SubscribedApp | null {
  const metaAppId = readId(readObject(row.whatsapp_business_api_data)?.id)
  return metaAppId === null ? null : { metaAppId, overrideUrl: readId(row.override_callback_uri, 2048) }
}

function accountsIn(scopes: unknown): string[] | null {
  const managed = readArray(scopes).find((scope) => readObject(scope)?.scope === managementScope)
  const targets = readObject(managed)?.target_ids
  return targets === undefined ? null : idsIn(targets)
}

const idsIn = (values: unknown): string[] =>
  readArray(values).flatMap((value) => {
    const id = readId(value)
    return id === null ? [] : [id]
  })
