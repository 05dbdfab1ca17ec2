import type { Phone, PhoneMessage, PlayOptions } from './phone-types.ts'
import type { BusinessStep, PersonStep, Scenario } from './scenario.ts'

interface Stage {
  phone: Phone
  advance(ms: number): Promise<void>
  idle(): Promise<void>
  /** The messages on the phone that no one has received. */
  unseen(): Promise<PhoneMessage[]>
}

/** A step of the business that has not been received. */
interface Awaited {
  step: BusinessStep
  number: number
}

export async function playScenario(
  { steps, redacted = false }: Scenario,
  { reorder = false, delays = false, speed = 1, withinMs = 10_000, to }: PlayOptions,
  { phone, advance, idle, unseen }: Stage,
): Promise<void> {
  const ids = new Map<unknown, string>()
  const awaited: Awaited[] = []
  const receive = async () => {
    while (awaited[0]) {
      const message = await nextMessage(awaited[0])
      const found = reorder ? awaited.findIndex(({ step }) => fits(step, message, redacted)) : 0
      const [{ step, number }] = awaited.splice(Math.max(0, found), 1) as [Awaited]
      if (!fits(step, message, redacted)) throw new Error(difference(number, steps.length, step, message, redacted))
      if (step.id !== undefined) ids.set(step.id, message.id)
    }
  }
  const nextMessage = ({ step, number }: Awaited) =>
    phone.received({ withinMs }).catch((error: Error) => {
      const expected = describe(step.expect.type, redacted ? undefined : step.expect.text)
      throw new Error(
        `Step ${number} of ${steps.length}: the bot sent nothing.\n  expected  ${expected}\n${error.message}`,
      )
    })

  for (const [index, step] of steps.entries()) {
    const waitMs = delays ? (step.after_ms ?? 0) / speed : 0
    if (step.from === 'person') await receive()
    if (waitMs > 0) await advance(waitMs)
    if (step.from === 'business') awaited.push({ step, number: index + 1 })
    // Later steps go to the sender of the latest message.
    else await act(phone, step, index + 1, ids, index === 0 && to !== undefined ? { to } : {})
  }
  await receive()
  await idle()
  const [extra] = await unseen()
  if (extra) throw new Error(`After the last step, the bot also sent ${describe(extra.type, extra.text)}.`)
}

async function act(
  phone: Phone,
  step: PersonStep,
  number: number,
  ids: Map<unknown, string>,
  address: { to?: string },
): Promise<void> {
  const input: Record<string, unknown> = { ...address, ...step.input }
  for (const key of ['message', 'replyTo']) if (ids.has(input[key])) input[key] = ids.get(input[key])
  const id = await phone.act(step.action, input).catch((error: Error) => {
    throw new Error(`Step ${number}, the person's "${step.action}": ${error.message}`)
  })
  if (step.id !== undefined) ids.set(step.id, id)
}

const fits = ({ expect: { type, text } }: BusinessStep, message: PhoneMessage, redacted: boolean): boolean =>
  (type === undefined || type === message.type) && (redacted || text === undefined || text === message.text)

function difference(
  number: number,
  count: number,
  { expect: { type, text } }: BusinessStep,
  message: PhoneMessage,
  redacted: boolean,
): string {
  const isTextCompared = !redacted && text !== undefined
  return [
    `Step ${number} of ${count}: the bot sent another message.`,
    `  expected  ${describe(type, isTextCompared ? text : undefined)}`,
    `  received  ${describe(message.type, message.text)}`,
  ].join('\n')
}

const describe = (type: string | undefined, text: string | null | undefined): string =>
  [type ?? 'any type', ...(text === null || text === undefined ? [] : [JSON.stringify(text)])].join(' ')
