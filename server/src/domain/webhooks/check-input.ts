/** Checks the settings of an endpoint. */
import { filterSendersMax, type HeaderInput } from '@parley/contract/console/webhooks'
import { eventTypes } from '@parley/contract/events'
import type { FieldError, FieldErrorCode } from '@parley/contract/field-errors'
import { type Ordering, orderings } from '@parley/contract/webhook'
import { withoutPrefix } from '../../lib/ids.ts'
import { refuseInvalid } from '../../lib/refuse.ts'
import { textErrors } from '../../lib/text-errors.ts'
import { type TargetRules, targetProblem } from '../../net/target-guard.ts'
import { headerErrors, toHeaders } from './headers.ts'

export interface WebhookInput {
  workspaceId: string
  name: string
  url: string
  events: readonly string[]
  /** Only events of these senders; null or absent: of all. */
  senders?: readonly string[] | null
  ordering?: Ordering
  /** All headers of its own. Absent: they stay as they are. */
  headers?: readonly HeaderInput[]
}

/** Checked settings. The senders are UUIDs; whether they exist is checked when they are saved. */
export interface CheckedInput {
  name: string
  url: string
  events: readonly string[]
  senders: readonly string[] | null
  ordering: Ordering
  /** Undefined: they stay as they are. */
  headers?: readonly HeaderInput[]
}

/**
 * Validates all fields and reports every error. It looks up the host of the URL, so do not call it in a transaction.
 * `currentHeaders` are the names of those whose values can stay.
 */
export async function checkInput(
  rules: TargetRules,
  input: Omit<WebhookInput, 'workspaceId'>,
  workspaceId: string,
  currentHeaders: readonly string[] = [],
): Promise<CheckedInput> {
  const name = input.name.trim()
  const errors: FieldError[] = textErrors('name', name, 100)
  const addError = (param: string, code: FieldErrorCode, message: string) => errors.push({ param, code, message })
  const url = URL.canParse(input.url) ? new URL(input.url) : null
  if (!url) addError('url', 'invalid', 'Enter a full URL, for example https://example.com/webhooks.')
  else {
    // A fragment is never sent to the server.
    url.hash = ''
    // The URL is checked as it is stored: encoding makes other letters several times as long.
    const tooLong = textErrors('url', url.href, 2000)
    const problem = tooLong.length > 0 ? null : await targetProblem(rules, url, workspaceId)
    errors.push(...tooLong)
    if (problem) addError('url', 'invalid', problem)
  }
  if (input.events.length === 0)
    addError('events', 'too_few', `Choose at least one event type: ${eventTypes.join(', ')}.`)
  for (const event of input.events) {
    if (!(eventTypes as readonly string[]).includes(event)) {
      addError('events', 'invalid', `"${event}" is not an event type. Choose from ${eventTypes.join(', ')}.`)
    }
  }
  const senders = toUuids(input.senders ?? null)
  if (senders && (senders.length === 0 || senders.length < (input.senders?.length ?? 0))) {
    addError('senders', 'invalid', 'Choose at least one sender by its ID, which begins with snd_, or all senders.')
  } else if (senders && senders.length > filterSendersMax) {
    addError('senders', 'too_many', `A filter has at most ${filterSendersMax} senders.`)
  }
  const ordering = input.ordering ?? 'none'
  if (!orderings.includes(ordering)) addError('ordering', 'invalid', `Choose one of ${orderings.join(', ')}.`)
  const headers = input.headers && toHeaders(input.headers)
  if (headers) errors.push(...headerErrors(headers, currentHeaders))
  if (errors.length > 0 || !url) refuseInvalid(errors)
  return {
    name,
    url: url.href,
    events: eventTypes.filter((event) => input.events.includes(event)),
    senders: senders && [...new Set(senders)],
    ordering,
    ...(headers && { headers }),
  }
}

export const toUuids = (senders: readonly string[] | null): string[] | null =>
  senders?.flatMap((id) => withoutPrefix('snd', id) ?? []) ?? null
