import type { Control } from './control.ts'
import { until } from './until.ts'

/** A message of your business, as the phone shows it. */
export interface PhoneMessage {
  /** WhatsApp's ID of the message. */
  id: string
  type: string
  /** What a person reads: the text, the body of a template or of an interactive message, or the caption. */
  text: string | null
  /** The labels of the buttons and list rows that can be tapped. */
  buttons: string[]
  /** The ID of the message that it replies to. */
  replyTo: string | null
  /** The object under the name of the type, as your business sent it. */
  content: Record<string, unknown>
}

/** Options of a new message. */
export interface WriteOptions {
  /** The sender that the person writes to, by phone number. Default: the one of the latest message, or the first. */
  to?: string
  /** WhatsApp's ID of the message that it replies to. */
  replyTo?: string
}

/** A simulated person. Any number works. */
export interface Phone {
  readonly number: string
  /** Writes a text. Returns WhatsApp's ID of the message. */
  write(text: string, options?: WriteOptions): Promise<string>
  /** Taps a button or chooses a list row of the latest message that has it, by label, ID or index. */
  tap(button: string | number, options?: { message?: string }): Promise<string>
  /** Submits the latest form with these values. */
  fill(values: Record<string, unknown>, options?: { message?: string }): Promise<string>
  sendImage(bytes: Uint8Array, options?: WriteOptions & { caption?: string; mimeType?: string }): Promise<string>
  /** Any other action of the simulator, such as `location`, `react`, `edit` or `delete`. */
  act(action: string, input?: Record<string, unknown>): Promise<string>
  /** The next message that arrives on the phone. Waits for it, for ten seconds by default. */
  received(options?: { withinMs?: number }): Promise<PhoneMessage>
  /** All messages that the phone shows, oldest first, without waiting. */
  messages(): Promise<PhoneMessage[]>
  /** Messages to this phone fail with this code of WhatsApp. Null: they are delivered again. */
  fail(code: string | number | null): Promise<void>
  goOffline(): Promise<void>
  goOnline(): Promise<void>
}

interface SimulatedMessage {
  id: string
  direction: 'in' | 'out'
  type: string
  content: Record<string, unknown>
  contextId: string | null
  options: { text?: string; title?: string }[]
  journey: { state: string } | null
}

interface SimulatedTemplate {
  name: string
  language: string
  components: { type?: string; text?: string }[]
}

const shown = new Set(['delivered', 'read', 'played'])

export function newPhone(control: Control, number: string, seen: Set<string>): Phone {
  const path = `/phones/${number}`
  const act = async (action: string, input: Record<string, unknown> = {}) =>
    ((await control('POST', `${path}/${action}`, input)) as { id?: string }).id ?? ''
  const change = async (settings: Record<string, unknown>) => void (await control('PATCH', path, settings))
  const messages = async () => {
    const all = (await control('GET', `${path}/messages`)) as SimulatedMessage[]
    const visible = all.filter(({ direction, journey }) => direction === 'out' && shown.has(journey?.state ?? ''))
    const hasTemplate = visible.some(({ type }) => type === 'template')
    const templates = hasTemplate ? ((await control('GET', '/templates')) as SimulatedTemplate[]) : []
    return visible.map((message) => toMessage(message, templates))
  }
  return {
    number,
    write: (text, options) => act('say', { text, ...options }),
    tap: (button, options) => act('tap', { button, ...options }),
    fill: (values, options) => act('fillForm', { values, ...options }),
    sendImage: (bytes, { mimeType = 'image/png', ...options } = {}) =>
      act('image', { base64: Buffer.from(bytes).toString('base64'), mimeType, ...options }),
    act,
    async received({ withinMs = 10_000 } = {}) {
      const next = await until(`a message on phone ${number}`, withinMs, async () =>
        (await messages()).find(({ id }) => !seen.has(id)),
      )
      seen.add(next.id)
      return next
    },
    messages,
    fail: (code) => change({ switches: { failWith: code === null ? null : Number(code) } }),
    goOffline: () => change({ online: false }),
    goOnline: () => change({ online: true }),
  }
}

const toMessage = (
  { id, type, content, contextId, options }: SimulatedMessage,
  templates: readonly SimulatedTemplate[],
): PhoneMessage => ({
  id,
  type,
  text: type === 'template' ? filledBody(content, templates) : textOf(type, content),
  buttons: options.map(({ text: label, title }) => label ?? title ?? ''),
  replyTo: contextId,
  content,
})

function textOf(type: string, content: Record<string, unknown>): string | null {
  const { body, caption } = content
  if (type === 'text') return typeof body === 'string' ? body : null
  if (typeof caption === 'string') return caption
  const inner = (body as { text?: unknown } | undefined)?.text
  return typeof inner === 'string' ? inner : null
}

interface SentTemplate {
  name?: string
  language?: { code?: string }
  components?: { type?: string; parameters?: { text?: string; parameter_name?: string }[] }[]
}

/** The body of the template with its variables, by position or by name. */
function filledBody(content: SentTemplate, templates: readonly SimulatedTemplate[]): string | null {
  const template = templates.find(({ name, language }) => name === content.name && language === content.language?.code)
  const body = template?.components.find(({ type }) => type?.toUpperCase() === 'BODY')?.text
  if (body === undefined) return null
  const sent = content.components?.find(({ type }) => type?.toLowerCase() === 'body')?.parameters ?? []
  return body.replaceAll(/\{\{(\w+)\}\}/g, (variable, key: string) => {
    const value = sent.find(({ parameter_name }) => parameter_name === key) ?? sent[Number(key) - 1]
    return value?.text ?? variable
  })
}
