import type { Control } from './control.ts'
import type { Phone, PhoneMessage } from './phone-types.ts'
import { playScenario } from './play.ts'
import { readScenario } from './scenario.ts'
import { until } from './until.ts'

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
