/**
 * WhatsApp's error codes: what each means, whether a retry can help, and what else has to wait. For a listed error only the
 * code is used; the message and the HTTP status change.
 */

/**
 * What the error applies to:
 *
 *   message      only this message
 *   recipient    messages from this number to this recipient
 *   template     messages with this template, or with templates of this kind
 *   number       all messages of the number
 *   waba         all messages of the business account
 *   credentials  all messages with this access token
 *   app          all messages through the app
 *   service      WhatsApp's servers: this call or all calls, which only further calls show
 */
export type ErrorScope = 'message' | 'recipient' | 'template' | 'number' | 'waba' | 'credentials' | 'app' | 'service'

export interface NetworkErrorEntry {
  title: string
  scope: ErrorScope
  temporary: boolean
  /** The delay after a failed attempt (1 is the first). Only for temporary errors. */
  waitMs: (attempt: number) => number
  /** The number of attempts, including the first, after which a temporary error is final. */
  maxAttempts: number
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute

const exponential =
  (firstMs: number, factor: number, capMs: number) =>
  (attempt: number): number =>
    Math.min(capMs, firstMs * factor ** Math.max(0, attempt - 1))

const backoff = exponential(second, 2, 5 * minute)
const slowDown = exponential(second, 2, minute)
const longBackoff = exponential(minute, 2, hour)
/** WhatsApp's recommendation: 4^n seconds between two messages to the same recipient. */
const pairBackoff = exponential(second, 4, 5 * hour)

const final = (scope: ErrorScope, title: string): NetworkErrorEntry => ({
  title,
  scope,
  temporary: false,
  waitMs: () => 0,
  maxAttempts: 1,
})
const temporary = (
  scope: ErrorScope,
  title: string,
  waitMs: (attempt: number) => number,
  maxAttempts: number,
): NetworkErrorEntry => ({ title, scope, temporary: true, waitMs, maxAttempts })

export const networkErrors: ReadonlyMap<number, NetworkErrorEntry> = new Map<number, NetworkErrorEntry>([
  [0, final('credentials', 'Invalid access token')],
  [1, temporary('message', 'Unknown API error', backoff, 3)],
  [2, temporary('service', 'WhatsApp temporarily unavailable', backoff, 10)],
  [3, final('credentials', 'Missing app capability or permission')],
  [4, temporary('app', 'App rate limit exceeded', longBackoff, 20)],
  [10, final('credentials', 'Permission denied or removed')],
  [33, final('number', 'Phone number invalid or deleted')],
  [100, final('message', 'Invalid parameter')],
  [190, final('credentials', 'Access token expired')],
  [368, final('number', 'Temporarily blocked for policy violations')],
  [470, final('recipient', '24-hour messaging window closed')],
  [613, temporary('waba', 'Rate limit exceeded', longBackoff, 20)],
  [80007, temporary('waba', 'Business account rate limit exceeded', longBackoff, 20)],
  [80008, temporary('waba', 'Business account rate limit exceeded', longBackoff, 20)],
  [130429, temporary('number', 'Sending rate limit exceeded', slowDown, 30)],
  [130472, final('recipient', 'Recipient is part of an experiment')],
  [130497, final('recipient', 'Account not allowed to message this country')],
  [131000, temporary('message', 'Something went wrong', backoff, 5)],
  [131005, final('credentials', 'Access denied')],
  [131008, final('message', 'Required parameter missing')],
  [131009, final('message', 'Invalid parameter value')],
  [131016, temporary('service', 'Service unavailable', backoff, 10)],
  [131021, final('recipient', 'Recipient and sender are the same number')],
  [131026, final('recipient', 'Message undeliverable')],
  [131030, final('recipient', 'Recipient not on the test list')],
  [131031, final('waba', 'Business account locked')],
  [131035, final('message', 'Webhook not delivered in time')],
  [131036, final('recipient', 'Not delivered to some of the recipient’s devices')],
  [131037, final('number', 'Display name not approved')],
  [131042, final('waba', 'Payment method problem')],
  [131044, final('waba', 'Payment method problem')],
  [131045, final('number', 'Phone number registration problem')],
  [131047, final('recipient', '24-hour messaging window closed')],
  [131048, final('number', 'Sending limited after spam reports')],
  [131049, final('recipient', 'Not delivered, to limit marketing messages')],
  [131050, final('recipient', 'Recipient opted out of marketing messages')],
  [131051, final('message', 'Unsupported message type')],
  [131052, final('message', 'Media download failed')],
  [131053, final('message', 'Media upload failed')],
  [131055, final('message', 'Not allowed by the Marketing Messages API')],
  [131056, temporary('recipient', 'Too many messages to this recipient', pairBackoff, 8)],
  [131057, temporary('number', 'Phone number in maintenance', () => 90 * second, 10)],
  [131060, final('message', 'Message currently unavailable')],
  [131062, final('recipient', 'Recipient’s phone number required')],
  [131063, final('template', 'Marketing templates disabled')],
  [131064, final('template', 'Messaging limit reached')],
  [132000, final('message', 'Wrong number of template parameters')],
  [132001, final('template', 'Template not found in this language, or not approved')],
  [132005, final('message', 'Template text too long with these values')],
  [132007, final('template', 'Template content violates a policy')],
  [132008, final('message', 'Template parameter has the wrong format')],
  [132012, final('message', 'Template parameter has the wrong format')],
  [132015, final('template', 'Template paused')],
  [132016, final('template', 'Template disabled')],
  [132018, final('message', 'Invalid template parameters')],
  [132068, final('template', 'Form blocked')],
  [132069, temporary('template', 'Form throttled', () => hour, 3)],
  [133000, final('number', 'Earlier deregistration failed')],
  [133004, temporary('service', 'Server temporarily unavailable', backoff, 10)],
  [133005, final('number', 'Wrong two-step verification PIN')],
  [133006, final('number', 'Phone number must be verified again')],
  [133008, final('number', 'Too many two-step PIN attempts')],
  [133009, final('number', 'Two-step PIN entered too quickly')],
  [133010, final('number', 'Phone number not registered')],
  [133015, final('number', 'Phone number deleted recently')],
  [133016, final('number', 'Too many registration attempts')],
  [134100, final('message', 'Only marketing messages allowed')],
  [134101, temporary('template', 'Template still being prepared', () => 10 * minute, 6)],
  [134102, final('template', 'Template cannot be used here')],
  [135000, final('message', 'Message rejected with these parameters')],
  [137000, final('recipient', 'Recipient’s identity changed')],
])

/** The template is not what we believe: it was deleted, paused or disabled. A sync fetches its state. */
const staleTemplate: ReadonlySet<unknown> = new Set([132001, 132015, 132016])

export const isStaleTemplate = (code: number | string | undefined): boolean => staleTemplate.has(code)

const permission = final('credentials', 'Permission denied or removed')
const deletedNumber = final('number', 'Phone number invalid or deleted')
const rateLimit = temporary('number', 'Rate limit exceeded', slowDown, 30)
const transient = temporary('message', 'Temporary error', backoff, 5)
const unlisted = final('message', 'Unknown error')

export interface ErrorFacts {
  code: number | string
  subcode?: number | null | undefined
  isTransient?: boolean
  /** The HTTP status of the response. */
  status?: number
}

/** The entry for an error. An unlisted error is temporary if WhatsApp says so or the HTTP status is 429 or 5xx. */
export function findError({ code, subcode, isTransient, status }: ErrorFacts): NetworkErrorEntry {
  if (code === 100 && subcode === 33) return deletedNumber
  const known = typeof code === 'number' ? networkErrors.get(code) : undefined
  if (known !== undefined) return known
  if (typeof code === 'number' && code >= 200 && code <= 299) return permission
  if (status === 429) return rateLimit
  if (isTransient === true || (status !== undefined && status >= 500)) return transient
  return unlisted
}
