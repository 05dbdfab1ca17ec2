/** The options of `webhook create` and `webhook change` beyond its name, URL and events. */
import { type HeaderInput, headersMax } from '@parley/contract/console/webhooks'
import { type Ordering, orderings } from '@parley/contract/webhook'
import { type Call, UsageError } from '../command.ts'
import { readList } from '../read-options.ts'

export const optionsOfWebhook = {
  sender: {
    value: 'ID',
    repeated: true,
    help: 'Only events of this sender, and events without a sender; "all" for all',
  },
  header: {
    value: 'HEADER',
    repeated: true,
    help: `Header for each request, as "Name: value"; up to ${headersMax}. The value is not shown again`,
  },
  ordering: {
    value: 'ORDER',
    help: 'conversation: events of one sender and one contact are sent one after another; none: they do not wait',
  },
} as const

export function readSenders(call: Pick<Call, 'options'>): { senders?: string[] | null } {
  const senders = readList(call, 'sender')
  if (senders.length === 0) return {}
  return { senders: senders.includes('all') ? null : senders }
}

export function readOrdering(given: string | undefined): { ordering?: Ordering } {
  if (given === undefined) return {}
  const ordering = orderings.find((each) => each === given)
  if (!ordering) throw new UsageError(`Invalid --ordering "${given}". Choose one of ${orderings.join(', ')}.`)
  return { ordering }
}

/** An empty value removes the header. */
export const readHeaders = (given: readonly string[]): (HeaderInput & { value: string })[] =>
  given.map((text) => {
    const colon = text.indexOf(':')
    // Not repeated in the message: it may contain a secret.
    if (colon < 1) throw new UsageError('Invalid --header. Enter it as "Name: value".')
    return { name: text.slice(0, colon).trim(), value: text.slice(colon + 1).trim() }
  })

/** The headers after a change: the current ones keep their values, unless they are replaced or removed. */
export function changedHeaders(
  current: readonly string[],
  given: readonly (HeaderInput & { value: string })[],
): HeaderInput[] {
  const named = new Set(given.map(({ name }) => name.toLowerCase()))
  const kept = current.filter((name) => !named.has(name)).map((name) => ({ name, value: null }))
  return [...kept, ...given.filter(({ value }) => value !== '')]
}
