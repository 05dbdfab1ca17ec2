import type { BusinessProfile } from '@parley/contract/console/senders'
import type { Agent } from 'undici'
import { load } from '../../lib/load.ts'
import { type JsonObject, readArray, readId, readNonBlank, readObject, readPhone } from '../read-json.ts'
import { type Call, type CallLimits, type CallOutcome, callGraph } from './call.ts'
import { hideToken } from './hide-token.ts'
import {
  type ListedNumber,
  type ListedTemplate,
  type MediaInfo,
  readListedNumber,
  readListedTemplate,
  readMediaInfo,
} from './listings.ts'
import { type Download, downloadFrom } from './media.ts'
import { type NumberChange, numberCall, profileFields, readProfile } from './number-calls.ts'
import {
  type AppSubscription,
  readSubscribedApp,
  readSubscription,
  readTokenFacts,
  type SubscribedApp,
  type TokenFacts,
} from './setup.ts'
import { type OutgoingFile, uploadBody } from './upload-body.ts'
import { defaultGraphVersion } from './versions.ts'

/** The Graph API's URL for the app, and the access token of the connected account. */
export interface GraphAccess {
  /** Scheme and host, such as `https://graph.facebook.com`. The token goes to this host only. */
  graphUrl: string
  accessToken: string
}

/** WhatsApp accepted the message. It is not delivered yet. */
export interface Accepted {
  waMessageId: string
  waId: string | null
  userId: string | null
  /** WhatsApp holds the message until it has assessed the quality of the template. */
  held: boolean
}

export interface GraphClientOptions {
  /** Parley's version, for the User-Agent header. WhatsApp's file host rejects requests without one. */
  productVersion: string
  /** Null for `defaultGraphVersion`. */
  graphVersion?: string | null
  connectTimeoutMs?: number
  responseTimeoutMs?: number
  deadlineMs?: number
  maxResponseBytes?: number
}

const maxPages = 200

/** For 100 MB over a slow connection. */
const uploadDeadlineMs = 10 * 60_000

const templateFields =
  'name,language,status,category,sub_category,parameter_format,components,quality_score,rejected_reason,id'
const numberFields =
  'id,display_phone_number,verified_name,quality_rating,status,throughput,code_verification_status,platform_type,name_status,new_display_name,new_name_status,is_on_biz_app,is_pin_enabled,whatsapp_business_manager_messaging_limit,webhook_configuration'

/** More than the calls that all loops together make at a time, so that slow calls never use up all connections. */
const maxConnections = 1100

/** The client of WhatsApp's Graph API. Every outcome is a return value; errors of the API are never thrown. */
export class GraphClient {
  readonly #options: GraphClientOptions
  #created: Agent | undefined
  /** Created at the first call, because undici takes 18 MB of memory. */
  readonly #agent = (): Agent => {
    this.#created ??= newAgent(this.#options)
    return this.#created
  }
  readonly #graphVersion: string
  readonly #limits: CallLimits

  constructor(options: GraphClientOptions) {
    this.#options = options
    this.#graphVersion = options.graphVersion ?? defaultGraphVersion
    this.#limits = {
      userAgent: `Parley/${options.productVersion}`,
      deadlineMs: options.deadlineMs ?? 30_000,
      maxResponseBytes: options.maxResponseBytes ?? 4 * 1024 * 1024,
    }
  }

  async sendMessage(access: GraphAccess, phoneNumberId: string, body: JsonObject): Promise<CallOutcome<Accepted>> {
    const outcome = await this.#call(access, 'POST', [phoneNumberId, 'messages'], {}, body)
    return readOutcome(outcome, readAccepted, 'message_id')
  }

  /** Also marks earlier messages of the conversation. */
  async markAsRead(
    access: GraphAccess,
    phoneNumberId: string,
    waMessageId: string,
    typing: boolean,
  ): Promise<CallOutcome<true>> {
    const body = {
      messaging_product: 'whatsapp',
      status: 'read',
      message_id: waMessageId,
      ...(typing && { typing_indicator: { type: 'text' } }),
    }
    return success(await this.#call(access, 'POST', [phoneNumberId, 'messages'], {}, body))
  }

  listTemplates(access: GraphAccess, wabaId: string): Promise<CallOutcome<ListedTemplate[]>> {
    const url = this.#url(access, [wabaId, 'message_templates'], { fields: templateFields, limit: '100' })
    return this.#list(access, url, readListedTemplate)
  }

  /** Creates a template and submits it for review. */
  async createTemplate(access: GraphAccess, wabaId: string, template: JsonObject): Promise<CallOutcome<true>> {
    const outcome = await this.#call(access, 'POST', [wabaId, 'message_templates'], {}, template)
    return readOutcome(outcome, ({ id }) => (readId(id) === null ? null : true), 'id')
  }

  /** Replaces the category and all components of a template, and submits it for review. */
  async editTemplate(access: GraphAccess, templateId: string, edit: JsonObject): Promise<CallOutcome<true>> {
    return success(await this.#call(access, 'POST', [templateId], {}, edit))
  }

  /** Deletes one language of a template. Without the ID, WhatsApp would delete all of that name. */
  async deleteTemplate(
    access: GraphAccess,
    wabaId: string,
    { name, templateId }: { name: string; templateId: string },
  ): Promise<CallOutcome<true>> {
    return success(await this.#call(access, 'DELETE', [wabaId, 'message_templates'], { name, hsm_id: templateId }))
  }

  listPhoneNumbers(access: GraphAccess, wabaId: string): Promise<CallOutcome<ListedNumber[]>> {
    const url = this.#url(access, [wabaId, 'phone_numbers'], { fields: numberFields, limit: '100' })
    return this.#list(access, url, readListedNumber)
  }

  async changeNumber(access: GraphAccess, phoneNumberId: string, change: NumberChange): Promise<CallOutcome<true>> {
    const { path, body } = numberCall(change)
    return success(await this.#call(access, 'POST', [phoneNumberId, ...path], {}, body))
  }

  async readProfile(access: GraphAccess, phoneNumberId: string): Promise<CallOutcome<BusinessProfile>> {
    const path = [phoneNumberId, 'whatsapp_business_profile']
    return readOutcome(await this.#call(access, 'GET', path, { fields: profileFields }), readProfile, 'profile')
  }

  /**
   * Asks the network about an access token. `access` is the token itself, or the token of its app. An error message of the
   * network may contain the token, so it is redacted.
   */
  async inspectToken(access: GraphAccess, accessToken: string): Promise<CallOutcome<TokenFacts>> {
    const outcome = await this.#call(access, 'GET', ['debug_token'], { input_token: accessToken })
    if (outcome.kind === 'ok') {
      return { kind: 'ok', value: readTokenFacts(readObject(outcome.value.data) ?? {}, accessToken) }
    }
    if (outcome.kind !== 'refused') return outcome
    const { error } = outcome
    const [title, message] = [hideToken(error.title, accessToken), hideToken(error.message, accessToken)]
    const details = error.details && hideToken(error.details, accessToken)
    return { ...outcome, error: { ...error, title, message, details } }
  }

  /** The current URL of a file, which is valid for five minutes. */
  async getMedia(access: GraphAccess, mediaId: string, phoneNumberId?: string): Promise<CallOutcome<MediaInfo>> {
    const query = phoneNumberId === undefined ? {} : { phone_number_id: phoneNumberId }
    return readOutcome(await this.#call(access, 'GET', [mediaId], query), readMediaInfo, 'url')
  }

  /** Uploads a file, so that the number can send it, and returns its ID. The network keeps it for 30 days. */
  async uploadMedia(
    access: GraphAccess,
    phoneNumberId: string,
    file: OutgoingFile,
    signal: AbortSignal,
  ): Promise<CallOutcome<string>> {
    const url = this.#url(access, [phoneNumberId, 'media'], {})
    const call = { method: 'POST', url, accessToken: access.accessToken, stream: uploadBody(file), signal } as const
    const outcome = await callGraph(this.#agent, { ...call, deadlineMs: uploadDeadlineMs }, this.#limits)
    return readOutcome(outcome, ({ id }) => readId(id), 'id')
  }

  downloadMedia(access: GraphAccess, url: string): Promise<CallOutcome<Download>> {
    return downloadFrom(this.#agent, access, url, this.#limits)
  }

  /** Downloads an encrypted file from WhatsApp's file host. It is public, so no token is sent. */
  downloadSealed({ graphUrl }: GraphAccess, url: string): Promise<CallOutcome<Download>> {
    return downloadFrom(this.#agent, { graphUrl, accessToken: null }, url, this.#limits)
  }

  /** Subscribes the app to the account's webhooks. Removes a callback that the account had for this app. */
  async subscribeApp(access: GraphAccess, wabaId: string): Promise<CallOutcome<true>> {
    return success(await this.#call(access, 'POST', [wabaId, 'subscribed_apps']))
  }

  /** The apps that are subscribed to the account's webhooks. */
  listSubscribedApps(access: GraphAccess, wabaId: string): Promise<CallOutcome<SubscribedApp[]>> {
    return this.#list(access, this.#url(access, [wabaId, 'subscribed_apps'], {}), readSubscribedApp)
  }

  /** Removes the callback that a number has in place of the app's. */
  async removeNumberCallback(access: GraphAccess, phoneNumberId: string): Promise<CallOutcome<true>> {
    const body = { webhook_configuration: { override_callback_uri: '' } }
    return success(await this.#call(access, 'POST', [phoneNumberId], {}, body))
  }

  /** The name of a Meta app. This and the next two take the app's own token, `APP_ID|APP_SECRET`. */
  async readAppName(access: GraphAccess, metaAppId: string): Promise<CallOutcome<string>> {
    const outcome = await this.#call(access, 'GET', [metaAppId], { fields: 'name' })
    return readOutcome(outcome, ({ name }) => readNonBlank(name, 512) ?? metaAppId, 'name')
  }

  /** The callback and the webhook fields of a Meta app; null if it has none for WhatsApp. */
  async readSubscription(access: GraphAccess, metaAppId: string): Promise<CallOutcome<AppSubscription | null>> {
    const outcome = await this.#list(access, this.#url(access, [metaAppId, 'subscriptions'], {}), readSubscription)
    return outcome.kind === 'ok' ? { kind: 'ok', value: outcome.value[0] ?? null } : outcome
  }

  /** Sets the callback and the webhook fields of a Meta app. The network performs the handshake first. */
  async subscribe(
    access: GraphAccess,
    metaAppId: string,
    { callbackUrl, verifyToken, fields }: { callbackUrl: string; verifyToken: string; fields: readonly string[] },
  ): Promise<CallOutcome<true>> {
    const body = {
      object: 'whatsapp_business_account',
      callback_url: callbackUrl,
      verify_token: verifyToken,
      fields: fields.join(','),
    }
    return success(await this.#call(access, 'POST', [metaAppId, 'subscriptions'], {}, body))
  }

  async close(): Promise<void> {
    await this.#created?.close()
  }

  #call(
    access: GraphAccess,
    method: Call['method'],
    path: readonly string[],
    query: Record<string, string> = {},
    body?: JsonObject,
  ): Promise<CallOutcome<JsonObject>> {
    const call = { method, url: this.#url(access, path, query), accessToken: access.accessToken }
    return callGraph(this.#agent, body === undefined ? call : { ...call, body }, this.#limits)
  }

  #url(access: GraphAccess, path: readonly string[], query: Record<string, string>): URL {
    const base = access.graphUrl.replace(/\/+$/, '')
    const url = new URL(`${base}/${[this.#graphVersion, ...path].map(encodeURIComponent).join('/')}`)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    return url
  }

  async #list<T>(access: GraphAccess, first: URL, read: (row: JsonObject) => T | null): Promise<CallOutcome<T[]>> {
    const rows: T[] = []
    let url = first
    for (let page = 0; page < maxPages; page++) {
      const call = { method: 'GET', url, accessToken: access.accessToken } as const
      const outcome = await callGraph(this.#agent, call, this.#limits)
      if (outcome.kind !== 'ok') return outcome
      // A response without a list is not an empty list: the sync would treat everything as deleted.
      if (!Array.isArray(outcome.value.data)) return { kind: 'unknown', why: 'response_without_list', status: 200 }
      for (const item of readArray(outcome.value.data)) {
        const row = readObject(item)
        const listed = row === null ? null : read(row)
        if (listed !== null) rows.push(listed)
      }
      const next = readObject(outcome.value.paging)?.next
      if (typeof next !== 'string' || next === '') return { kind: 'ok', value: rows }
      const following = nextPage(next, first)
      if (following === null) return { kind: 'unknown', why: 'foreign_next_page', status: 200 }
      url = following
    }
    return { kind: 'unknown', why: 'too_many_pages', status: 200 }
  }
}

/** What a response says. If it does not say that, the request may have succeeded all the same. */
function readOutcome<T>(
  outcome: CallOutcome<JsonObject>,
  read: (response: JsonObject) => T | null,
  expected: string,
): CallOutcome<T> {
  if (outcome.kind !== 'ok') return outcome
  const value = read(outcome.value)
  return value === null ? { kind: 'unknown', why: `response_without_${expected}`, status: 200 } : { kind: 'ok', value }
}

const success = (outcome: CallOutcome<JsonObject>): CallOutcome<true> =>
  readOutcome(outcome, ({ success }) => success === true || success === 'true' || null, 'success')

function newAgent({ connectTimeoutMs = 5_000, responseTimeoutMs = 20_000 }: GraphClientOptions): Agent {
  const undici = load('undici') as typeof import('undici')
  return new undici.Agent({
    connect: { timeout: connectTimeoutMs },
    headersTimeout: responseTimeoutMs,
    bodyTimeout: responseTimeoutMs,
    connections: maxConnections,
    // One request per connection at a time, so it is clear whether a request was sent when its connection breaks.
    allowH2: false,
    pipelining: 1,
  })
}

/**
 * The URL of the next page comes from the response. It is followed only on the same host, because it gets the token.
 */
function nextPage(next: string, first: URL): URL | null {
  if (!URL.canParse(next)) return null
  const url = new URL(next)
  if (url.origin !== first.origin) return null
  url.searchParams.delete('access_token')
  return url
}

function readAccepted(response: JsonObject): Accepted | null {
  const message = readObject(readArray(response.messages)[0])
  const contact = readObject(readArray(response.contacts)[0])
  const waMessageId = readId(message?.id)
  if (waMessageId === null) return null
  const held = message?.message_status === 'held_for_quality_assessment'
  return { waMessageId, waId: readPhone(contact?.wa_id), userId: readId(contact?.user_id), held }
}
