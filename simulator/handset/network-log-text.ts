import type { NetworkLogEntry } from './api.ts'
import { isObject, type Json, listAt, objectAt, parsed, textAt } from './json.ts'
import { summaryOf } from './message-view.ts'
import { state } from './state.ts'
import { formatPhone } from './text.ts'

/** The title and detail of a network log entry. */
export interface LogText {
  title: string
  detail: string
}

export function logText(entry: NetworkLogEntry): LogText {
  if (entry.kind === 'note') return { title: 'Note', detail: entry.text }
  if (entry.kind === 'webhook') return webhookText(entry.request)
  const text = requestText(entry.method, entry.url, entry.request)
  const error = errorIn(entry)
  return error ? { ...text, detail: [error.message, text.detail].filter(Boolean).join(' · ') } : text
}

/** The error of a refused request, with WhatsApp's code. */
export function errorIn(entry: NetworkLogEntry): { code: string; message: string } | undefined {
  if (entry.kind !== 'call') return undefined
  const error = isObject(parsed(entry.response)) ? (parsed(entry.response) as Json).error : undefined
  if (!isObject(error) || typeof error.code !== 'number') return undefined
  return { code: String(error.code), message: textAt(error, 'error_data', 'details') || textAt(error, 'message') }
}

/** The IDs of the messages in an entry. IDs may contain slashes, which the network escapes. */
export function messagesIn(entry: NetworkLogEntry): string[] {
  if (entry.kind === 'note') return []
  const text = `${entry.request} ${entry.response}`.replaceAll('\\/', '/')
  return [...new Set(text.match(/wamid\.[\w+/=-]+/g) ?? [])]
}

function webhookText(request: string): LogText {
  const changes = listAt(parsed(request), 'entry').flatMap((entry) => listAt(entry, 'changes'))
  const parts = changes.flatMap((change) => {
    const field = textAt(change, 'field')
    const outer = (change as Json).value
    const value = field === 'standby' ? objectAt(outer, 'standby') : outer
    const messages = listAt(value, 'messages').map((message) => messageText('message', message, value))
    const echoes = listAt(value, 'message_echoes').map((echo) => messageText('echo', sentIn(echo), value))
    const statuses = listAt(value, 'statuses').map(statusText)
    const all = [...messages, ...echoes, ...statuses]
    if (all.length === 0) return [{ title: field, detail: otherFieldText(value) }]
    return field === 'standby' ? all.map((text) => ({ ...text, title: `standby ${text.title}` })) : all
  })
  const details = [...new Set(parts.map(({ detail }) => detail).filter(Boolean))]
  return { title: joinTitles(parts.map(({ title }) => title)), detail: details.join('; ') }
}

/** Joins “status · sent” and “status · read” to “status · sent, read”. */
function joinTitles(titles: string[]): string {
  const kinds = new Map<string, Set<string>>()
  for (const title of titles) {
    const [kind = '', ...more] = title.split(' · ')
    kinds.set(kind, (kinds.get(kind) ?? new Set()).add(more.join(' · ')))
  }
  return (
    [...kinds].map(([kind, more]) => [kind, [...more].join(', ')].filter(Boolean).join(' · ')).join(', ') || 'webhook'
  )
}

/** An echo of an agent has the request that the agent sent. */
const sentIn = (echo: unknown): unknown => (isObject(echo) && isObject(echo.message) ? echo.message : echo)

function messageText(kind: string, message: unknown, value: unknown): LogText {
  const type = textAt(message, 'type')
  const who = textAt(value, 'contacts', 0, 'profile', 'name')
  const content = isObject(message) ? message[type] : undefined
  const summary =
    type === 'reaction' ? textAt(content, 'emoji') || 'removed' : summaryOf({ type, content, direction: 'in' })
  return { title: `${kind} · ${type}`, detail: [who, summary].filter(Boolean).join(': ') }
}

function statusText(status: unknown): LogText {
  const message = state.messages.get(textAt(status, 'id'))
  const recipient = textAt(status, 'recipient_id')
  const who = state.people.find(({ waId }) => waId === recipient)?.name ?? (recipient && formatPhone(recipient))
  const summary = textAt(status, 'errors', 0, 'title') || (message && summaryOf(message))
  return {
    title: `status · ${textAt(status, 'status')}`,
    detail: [who && `to ${who}`, summary].filter(Boolean).join(': '),
  }
}

const otherFieldText = (value: unknown): string =>
  [textAt(value, 'event') || textAt(value, 'type'), textAt(value, 'message_template_name')].filter(Boolean).join(' · ')

function requestText(method: string, url: string, request: string): LogText {
  const path = url.split('?')[0]?.replace(/^\/v[\d.]+/, '') ?? url
  const body = parsed(request)
  if (method === 'POST' && path.endsWith('/messages')) {
    if (textAt(body, 'status') === 'read') {
      const message = state.messages.get(textAt(body, 'message_id'))
      return { title: 'mark as read', detail: message ? summaryOf(message) : path }
    }
    const type = textAt(body, 'type') || 'text'
    const content = isObject(body) ? body[type] : undefined
    const name = type === 'template' ? `${textAt(content, 'name')}: ` : ''
    return { title: `send · ${type}`, detail: name + summaryOf({ type, content, direction: 'out' }) }
  }
  return { title: `${method} ${path.split('/').at(-1)}`, detail: path }
}
