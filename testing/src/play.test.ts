import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { preparedParley } from '../../server/testing/prepared-data-dir.ts'
import type { Scenario } from './scenario.ts'
import { startParley, type TestParley } from './start-parley.ts'

let parley: TestParley
const folder = mkdtempSync(join(tmpdir(), 'parley-play-'))
beforeAll(async () => {
  parley = await startParley({ command: preparedParley(folder) })
})
afterAll(async () => {
  await parley?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** What the bot says after a tap. A test changes it. */
let thanks: { type: string; [content: string]: unknown }
beforeEach(() => {
  thanks = { type: 'text', text: { body: 'See you on Monday.' } }
})
afterEach(() => parley.reset())

/** A bot that asks for a confirmation. */
const startBot = () =>
  parley.endpoint(async (event) => {
    if (event.type !== 'message.received') return
    const { message_id, reply, text } = event.data
    const buttons = [{ type: 'reply', reply: { id: 'yes', title: 'Confirm' } }]
    const question = {
      type: 'interactive',
      interactive: { type: 'button', body: { text: 'Monday at ten?' }, action: { buttons } },
    }
    const echo = { type: 'text', text: { body: `You wrote ${text}` } }
    const message = reply ? thanks : text?.length === 4 ? question : echo
    await parley.client.messages.send({ in_reply_to: message_id, ...message } as never)
  })

async function record(number: string, contents: boolean): Promise<Scenario> {
  await parley.idle()
  const query = new URLSearchParams({ to: parley.sender.number, contents: String(contents) })
  const response = await fetch(`${parley.simulatorUrl}/control/phones/${number}/scenario?${query}`)
  return (await response.json()) as Scenario
}

/** A conversation with the bot, as a scenario. */
async function conversation(contents: boolean): Promise<Scenario> {
  await startBot()
  const ana = parley.phone('+16505550123')
  await ana.write('book')
  await ana.received()
  await parley.advance('2h')
  await ana.tap('Confirm')
  await ana.received()
  const recorded = await record(ana.number, contents)
  expect(recorded.steps.map(({ from }) => from)).toEqual(['person', 'business', 'person', 'business'])
  return recorded
}

test('a recorded conversation is played from a file, and the bot replies as it did', async () => {
  const file = join(folder, 'booking.json')
  const recorded = await conversation(true)
  writeFileSync(file, JSON.stringify(recorded))
  const ben = parley.phone('+16505550124')
  await ben.play(file)
  const after = await record(ben.number, true)
  expect(after.steps.map(({ after_ms: _, ...step }) => step)).toEqual(
    recorded.steps.map(({ after_ms: _, ...step }) => step),
  )
})

test('a bot that says something else fails with the difference', async () => {
  const recorded = await conversation(true)
  thanks = { type: 'text', text: { body: 'See you on Tuesday.' } }
  await expect(parley.phone('+16505550124').play(recorded)).rejects.toThrow(
    [
      'Step 4 of 4: the bot sent another message.',
      '  expected  text "See you on Monday."',
      '  received  text "See you on Tuesday."',
    ].join('\n'),
  )
})

test('of a redacted conversation, the types are compared, but not the texts', async () => {
  const recorded = await conversation(false)
  expect(recorded.steps[1]).toMatchObject({ expect: { type: 'interactive', text: 'Xxxxxx xx xxx?' } })
  thanks = { type: 'text', text: { body: 'See you on Tuesday.' } }
  await parley.phone('+16505550124').play(recorded)
  thanks = { type: 'location', location: { latitude: 1, longitude: 2 } }
  await expect(parley.phone('+16505550125').play(recorded)).rejects.toThrow(
    'Step 4 of 4: the bot sent another message.\n  expected  text\n  received  location',
  )
})

test('a bot that is silent, or sends too much, or does not offer the button, fails', async () => {
  const recorded = await conversation(true)
  const [said, asked, tapped] = recorded.steps as [never, never, never]
  const unknown = { from: 'person', action: 'tap', input: { button: 'no' } } as const
  await expect(parley.phone('+16505550124').play({ version: 1, steps: [said, asked, unknown] })).rejects.toThrow(
    `Step 3, the person's "tap": button: no not found. Available buttons: Confirm.`,
  )
  await expect(parley.phone('+16505550125').play({ version: 1, steps: [said, asked, tapped] })).rejects.toThrow(
    'After the last step, the bot also sent text "See you on Monday.".',
  )
  await parley.reset()
  await expect(parley.phone('+16505550126').play(recorded, { withinMs: 50 })).rejects.toThrow(
    'Step 2 of 4: the bot sent nothing.\n  expected  interactive "Monday at ten?"\nWaited 50 ms',
  )
})

const switchesOf = async (number: string): Promise<unknown> => {
  const response = await fetch(`${parley.simulatorUrl}/control/phones/${number}`)
  return ((await response.json()) as { switches: unknown }).switches
}

test('duplicates and another order are those of the network, only while the conversation is played', async () => {
  const ben = parley.phone('+16505550124')
  const switches: unknown[] = []
  const { events } = await parley.endpoint(async (event) => {
    if (event.type !== 'message.received') return
    switches.push(await switchesOf(ben.number))
    const { message_id } = event.data
    for (const body of ['first', 'second']) {
      await parley.client.messages.send({ in_reply_to: message_id, type: 'text', text: { body } })
    }
  })
  const scenario: Scenario = {
    version: 1,
    steps: [
      { from: 'person', action: 'say', input: { text: 'hi' } },
      { from: 'business', expect: { type: 'text', text: 'second' } },
      { from: 'business', expect: { type: 'text', text: 'first' } },
    ],
  }
  await ben.play(scenario, { duplicates: true, reorder: true })
  expect(switches).toEqual([{ duplicateWebhooks: true, reorderWebhooks: true }])
  expect(await switchesOf(ben.number)).toEqual({})
  const log = (await (await fetch(`${parley.simulatorUrl}/control/log?limit=1000`)).json()) as { request?: string }[]
  expect(log.filter(({ request }) => request?.includes('"body":"hi"'))).toHaveLength(2)
  // Parley removes the duplicate.
  expect(events.filter(({ type }) => type === 'message.received')).toHaveLength(1)
  await parley.idle()
  await expect(ben.play(scenario)).rejects.toThrow('expected  text "second"')
})

test('delays move the clock as in the conversation, or faster', async () => {
  const recorded = await conversation(true)
  const hours = async (options: object, number: string) => {
    const before = parley.now()
    await parley.phone(number).play(recorded, options)
    return Math.round((parley.now() - before) / 3_600_000)
  }
  expect(await hours({}, '+16505550124')).toBe(0)
  expect(await hours({ delays: true }, '+16505550125')).toBe(2)
  expect(await hours({ delays: true, speed: 2 }, '+16505550126')).toBe(1)
})

test.each([
  ['{', 'is not a scenario'],
  ['{"version":2,"steps":[]}', 'is not a scenario'],
  ['{"version":1,"steps":[{"from":"person"}]}', 'is not a scenario'],
])('a file with %s is refused', async (text, problem) => {
  const file = join(folder, 'wrong.json')
  writeFileSync(file, text)
  await expect(parley.phone('+16505550124').play(file)).rejects.toThrow(problem)
})
