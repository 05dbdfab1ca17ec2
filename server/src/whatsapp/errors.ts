/**
 * The network's error codes: what each means, whether trying again can help, and how much of the sending has to wait.
 * The code decides, never the message or the HTTP status; those change.
 */

/** What has to wait or be mended before the next try: one recipient, one number, … or this message alone. */
export type ErrorScope = 'recipient' | 'number' | 'waba' | 'app' | 'credentials' | 'message'

export interface NetworkErrorEntry {
  title: string
  scope: ErrorScope
  temporary: boolean
  /** How long to wait after the given failed try (1 is the first). Only for temporary errors. */
  waitMs: (attempt: number) => number
  /** Tries in all, the first included, before a temporary error counts as final. */
  maxTries: number
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute

const growing =
  (firstMs: number, factor: number, capMs: number) =>
  (attempt: number): number =>
    Math.min(capMs, firstMs * factor ** Math.max(0, attempt - 1))

const backoff = growing(second, 2, 5 * minute)
const slowDown = growing(second, 2, minute)
const longBackoff = growing(minute, 2, hour)
/** The network asks for 4^n seconds between two messages to one person. */
const pairBackoff = growing(second, 4, 5 * hour)

const final = (scope: ErrorScope, title: string): NetworkErrorEntry => ({
  title,
  scope,
  temporary: false,
  waitMs: () => 0,
  maxTries: 1,
})
const temporary = (
  scope: ErrorScope,
  title: string,
  waitMs: (attempt: number) => number,
  maxTries: number,
): NetworkErrorEntry => ({ title, scope, temporary: true, waitMs, maxTries })

export const networkErrors: ReadonlyMap<number, NetworkErrorEntry> = new Map<number, NetworkErrorEntry>([
  [0, final('credentials', 'The access token is not valid')],
  [1, temporary('message', 'Unknown API error', backoff, 3)],
  [2, temporary('app', 'The network is temporarily down', backoff, 10)],
  [3, final('credentials', 'The app lacks a capability or permission')],
  [4, temporary('app', 'The app made too many calls', longBackoff, 20)],
  [10, final('credentials', 'A permission was not granted or was removed')],
  [33, final('number', 'The phone number was deleted or is not valid')],
  [100, final('message', 'Invalid parameter')],
  [190, final('credentials', 'The access token has expired')],
  [368, final('number', 'Temporarily blocked for policy violations')],
  [470, final('recipient', 'More than 24 hours since the recipient last wrote')],
  [80007, temporary('waba', 'The business account made too many calls', longBackoff, 20)],
  [130429, temporary('number', 'The number sends faster than it may', slowDown, 30)],
  [130472, final('recipient', 'The recipient is part of an experiment')],
  [130497, final('number', 'The account may not message this country')],
  [131000, temporary('message', 'Something went wrong', backoff, 5)],
  [131005, final('credentials', 'Access denied')],
  [131008, final('message', 'A required parameter is missing')],
  [131009, final('message', 'A parameter value is not valid')],
  [131016, temporary('app', 'Service unavailable', backoff, 10)],
  [131021, final('recipient', 'Recipient and sender are the same number')],
  [131026, final('recipient', 'Message undeliverable')],
  [131030, final('recipient', 'The recipient is not on the test list')],
  [131031, final('waba', 'The business account is locked')],
  [131035, final('number', 'A webhook could not be delivered in time')],
  [131036, final('recipient', 'Not delivered to some of the recipient’s devices')],
  [131037, final('number', 'The display name is not approved')],
  [131042, final('waba', 'There is a problem with the payment method')],
  [131044, final('waba', 'There is a problem with the payment method')],
  [131045, final('number', 'The number’s registration is not in order')],
  [131047, final('recipient', 'More than 24 hours since the recipient last wrote')],
  [131048, final('number', 'Too many messages of this number were reported as spam')],
  [131049, final('recipient', 'Not delivered, to keep the network healthy')],
  [131050, final('recipient', 'The recipient has stopped marketing messages')],
  [131051, final('message', 'Unsupported message type')],
  [131052, final('message', 'The media could not be downloaded')],
  [131053, final('message', 'The media could not be uploaded')],
  [131055, final('message', 'Not allowed by the marketing messages API')],
  [131056, temporary('recipient', 'Too many messages to this recipient', pairBackoff, 8)],
  [131057, temporary('number', 'The number is in maintenance', () => 90 * second, 10)],
  [131060, final('message', 'The message is currently unavailable')],
  [131062, final('recipient', 'This message needs the recipient’s phone number')],
  [131063, final('number', 'Marketing templates are disabled')],
  [131064, final('waba', 'The messaging limit is reached')],
  [132000, final('message', 'The number of template parameters does not match')],
  [132001, final('message', 'The template does not exist in this language or is not approved')],
  [132005, final('message', 'The template’s text is too long with these values')],
  [132007, final('message', 'The template’s content violates a policy')],
  [132008, final('message', 'A template parameter does not match its format')],
  [132012, final('message', 'A template parameter does not match its format')],
  [132015, final('message', 'The template is paused')],
  [132016, final('message', 'The template is disabled')],
  [132018, final('message', 'There is an issue with the template’s parameters')],
  [132068, final('message', 'The form is blocked')],
  [132069, temporary('message', 'The form is throttled', () => hour, 3)],
  [133000, final('number', 'An earlier deregistration failed')],
  [133004, temporary('app', 'The server is temporarily unavailable', backoff, 10)],
  [133005, final('number', 'The two-step PIN does not match')],
  [133006, final('number', 'The number has to be verified again')],
  [133008, final('number', 'Too many guesses of the two-step PIN')],
  [133009, final('number', 'The two-step PIN was entered too quickly')],
  [133010, final('number', 'The number is not registered')],
  [133015, final('number', 'The number was deleted a moment ago')],
  [133016, final('number', 'The number was registered too often')],
  [134100, final('message', 'Only marketing messages are allowed here')],
  [134101, temporary('message', 'The template is still being prepared', () => 10 * minute, 6)],
  [134102, final('message', 'The template cannot be used here')],
  [135000, final('message', 'The message could not be sent with these parameters')],
  [137000, final('recipient', 'The recipient’s identity has changed')],
])

const permission = final('credentials', 'A permission was not granted or was removed')
const unlisted = final('message', 'Unknown error')
const transient = temporary('message', 'A passing error', backoff, 5)

/** What to make of an error, also one the catalogue does not know: the network may say that it passes. */
export function findError(error: { code: number | string; isTransient?: boolean; status?: number }): NetworkErrorEntry {
  const known = typeof error.code === 'number' ? networkErrors.get(error.code) : undefined
  if (known !== undefined) return known
  if (typeof error.code === 'number' && error.code >= 200 && error.code <= 299) return permission
  if (error.isTransient === true || (error.status !== undefined && error.status >= 500)) return transient
  return unlisted
}
