import type { Control } from './control.ts'
import { type PlayOptions, playScenario } from './play.ts'
import { readScenario, type Scenario } from './scenario.ts'
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
  /**
   * Plays a recorded conversation: does what the person did, and waits for what your business is expected to send. Fails
   * with the difference.
   */
  play(scenario: string | Scenario, options?: PlayOptions): Promise<void>
}

export interface PhoneTools {
  control: Control
  /** The IDs of the messages that a test has received. */
  seen: Set<string>
  advance(ms: number): Promise<void>
  idle(): Promise<void>
}

interface SimulatedMessage {
  id: string
  direction: 'in' | 'out'
  type: string
  text: string | null
  content: Record<string, unknown>
  contextId: string | null
  options: { text?: string; title?: string }[]
  journey: { state: string } | null
}

const shown = new Set(['delivered', 'read', 'played'])

export function newPhone(number: string, { control, seen, advance, idle }: PhoneTools): Phone {
  const path = `/phones/${number}`
  const act = async (action: string, input: Record<string, unknown> = {}) =>
    ((await control('POST', `${path}/${action}`, input)) as { id?: string }).id ?? ''
  const change = async (settings: Record<string, unknown>) => void (await control('PATCH', path, settings))
  const messages = async () => {
    const all = (await control('GET', `${path}/messages`)) as SimulatedMessage[]
    return all.filter(({ direction, journey }) => direction === 'out' && shown.has(journey?.state ?? '')).map(toMessage)
  }
  const phone: Phone = {
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
    async play(scenario, options = {}) {
      const unseen = async () => (await messages()).filter(({ id }) => !seen.has(id))
      const switches = { duplicateWebhooks: options.duplicates || null, reorderWebhooks: options.reorder || null }
      await change({ switches })
      try {
        await playScenario(await readScenario(scenario), options, { phone, advance, idle, unseen })
      } finally {
        await change({ switches: { duplicateWebhooks: null, reorderWebhooks: null } })
      }
    },
  }
  return phone
}

const toMessage = ({ id, type, text, content, contextId, options }: SimulatedMessage): PhoneMessage => ({
  id,
  type,
  text,
  buttons: options.map(({ text: label, title }) => label ?? title ?? ''),
  replyTo: contextId,
  content,
})
