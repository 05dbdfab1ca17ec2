import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CommandServer } from '../../cli/testing/command-server.ts'
import { preparedParley } from '../../server/testing/prepared-data-dir.ts'
import { toMs } from './duration.ts'
import type { Scenario } from './scenario.ts'
import { spawnService } from './service.ts'
import { startParley, type TestParley } from './start-parley.ts'

let parley: TestParley
const folder = mkdtempSync(join(tmpdir(), 'parley-testing-'))
const commands = new CommandServer()
beforeAll(async () => {
  await commands.start()
  parley = await startParley({ command: commands.writeProgram(folder, preparedParley(folder)) })
})
afterEach(() => parley.reset())
afterAll(async () => {
  await parley?.stop()
  commands.stop()
  rmSync(folder, { recursive: true, force: true })
})

const ana = () => parley.phone('+1 650 555 0123')

/** A bot that echoes what people write, and asks for a confirmation. */
const startBot = () =>
  parley.endpoint(async (event) => {
    if (event.type !== 'message.received') return
    const { message_id, text, reply } = event.data
    if (text === 'book') {
      const buttons = [{ type: 'reply', reply: { id: 'yes', title: 'Confirm' } }] as const
      const interactive = { type: 'button', body: { text: 'Monday at ten?' }, action: { buttons } } as const
      await parley.client.messages.send({ in_reply_to: message_id, type: 'interactive', interactive } as never)
    } else {
      const body = reply ? `You chose ${reply.id}.` : `You wrote: ${text}`
      await parley.client.messages.send({ in_reply_to: message_id, type: 'text', text: { body } })
    }
  })

test('a person writes, taps a button and gets the replies of the bot', async () => {
  const { events, next } = await startBot()
  await ana().write('hi')
  expect(await ana().received()).toMatchObject({ type: 'text', text: 'You wrote: hi', buttons: [] })
  await ana().write('book')
  expect(await ana().received()).toMatchObject({ text: 'Monday at ten?', buttons: ['Confirm'] })
  await ana().tap('Confirm')
  expect(await ana().received()).toMatchObject({ text: 'You chose yes.' })
  await parley.idle()
  expect((await next('message.read')).data).toMatchObject({ to: '16505550123' })
  expect(events.filter(({ type }) => type === 'message.read')).toHaveLength(3)
})

test('after 25 hours only a template is delivered', async () => {
  await ana().write('hi')
  await parley.idle()
  await parley.advance('25h')
  const { client, sender } = parley
  const to = { sender_id: sender.id, to: '16505550123' }
  const text = await client.messages.send({ ...to, type: 'text', text: { body: 'Still there?' } })
  const template = { name: 'appointment_reminder', language: 'en_US' }
  const variables = { 'header.1': 'Clinic', 'body.1': 'Ana', 'body.2': '10:30', 'buttons.2.url': 'A-17' }
  await client.messages.send({ ...to, type: 'template', template: { ...template, variables } })
  expect((await ana().received()).text).toContain('Ana')
  await parley.idle()
  expect(await client.messages.get(text.id)).toMatchObject({ status: 'failed', error: { code: 131047 } })
})

test('a delivery that fails is retried when its time has come', async () => {
  let attempts = 0
  const { events } = await parley.endpoint(() => {
    if (++attempts < 3) throw new Error('not yet')
  })
  await ana().write('hi')
  await parley.idle()
  expect(attempts).toBe(2) // The first one, and the retry without a wait.
  await parley.advance('10s')
  expect(attempts).toBe(3)
  expect(new Set(events.map(({ id }) => id)).size).toBe(1)
})

test('a message fails with the code of WhatsApp, and the next one is delivered', async () => {
  const { next } = await startBot()
  await ana().fail('131026')
  await ana().write('hi')
  expect((await next('message.failed')).data).toMatchObject({ error: { code: 131026 } })
  await ana().fail(null)
  await ana().write('hi again')
  expect((await ana().received()).text).toBe('You wrote: hi again')
})

test('a person submits a form and sends an image', async () => {
  const { next } = await parley.endpoint(() => {})
  const template = { name: 'intake_form', language: 'en', variables: { 'body.1': 'Ana' } }
  await parley.client.messages.send({
    sender_id: parley.sender.id,
    to: ana().number,
    type: 'template',
    template,
  })
  await ana().received()
  await ana().fill({ full_name: 'Ana Ruiz', email: 'ana@example.com' })
  expect((await next('flow.completed')).data).toMatchObject({ response: { full_name: 'Ana Ruiz' } })
  await ana().sendImage(Buffer.from('an image'), { caption: 'Receipt' })
  const received = await next('message.received')
  expect((await next('message.received')).data).toMatchObject({ type: 'image', text: 'Receipt' })
  expect(received.data).toMatchObject({ type: 'interactive' })
})

test('a test case has the whole rate limit and no messages of the one before', async () => {
  expect(await ana().messages()).toEqual([])
  const began = performance.now()
  await startBot()
  for (let n = 0; n < 20; n++) await ana().write(`hi ${n}`)
  for (let n = 0; n < 20; n++) await ana().received()
  await parley.idle()
  // With a used-up rate limit, it would wait for the rest of a minute.
  expect(performance.now() - began).toBeLessThan(15_000)
})

test('an endpoint of your own gets signed deliveries, and errors say what is wrong', async () => {
  await expect(parley.endpoint('ftp://127.0.0.1/')).rejects.toThrow('URL')
  await expect(ana().tap('Confirm')).rejects.toThrow('This phone does not have')
  await expect(ana().received({ withinMs: 50 })).rejects.toThrow('Waited 50 ms for a message on phone 16505550123')
  await expect(startParley({ command: '/does/not/exist' })).rejects.toThrow('Set PARLEY_COMMAND')
  expect(process.env.PARLEY_COMMAND).toBeUndefined()
  await expect(startParley()).rejects.toThrow('Set PARLEY_COMMAND to the parley command of a checkout')
})

test.each([
  ['25h', 90_000_000],
  ['1h 30m', 5_400_000],
  ['250ms', 250],
  [10, 10],
])('%s is %d ms', (text, ms) => expect(toMs(text)).toBe(ms))

test.each(['', 'soon', '5', '1h later', -1])('%s is not a duration', (text) =>
  expect(() => toMs(text)).toThrow('Invalid duration'),
)

test('a service that has started keeps running after the time that the start may take', async () => {
  const command = join(folder, 'started')
  writeFileSync(command, `#!/bin/sh\necho "{\\"key\\":\\"$$\\"}"\nexec sleep 600\n`, { mode: 0o755 })
  const withinMs = 2_000
  const { key: pid, stop } = await spawnService({ command, dataDir: folder, env: {}, withinMs })
  await setTimeout(withinMs + 500)
  expect(process.kill(Number(pid), 0)).toBe(true)
  await stop()
  expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH')
})

describe('scenarios', () => {
  /** What the bot says after a tap. A test changes it. */
  let thanks: { type: string; [content: string]: unknown }
  beforeEach(() => {
    thanks = { type: 'text', text: { body: 'See you on Monday.' } }
  })

  /** A bot that asks for a confirmation. */
  const startBookingBot = () =>
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
    await startBookingBot()
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
        { from: 'person', action: 'say', input: { text: 'once' } },
        { from: 'business', expect: { type: 'text', text: 'second' } },
        { from: 'business', expect: { type: 'text', text: 'first' } },
      ],
    }
    await ben.play(scenario, { duplicates: true, reorder: true })
    expect(switches).toEqual([{ duplicateWebhooks: true, reorderWebhooks: true }])
    expect(await switchesOf(ben.number)).toEqual({})
    const log = (await (await fetch(`${parley.simulatorUrl}/control/log?limit=1000`)).json()) as { request?: string }[]
    expect(log.filter(({ request }) => request?.includes('"body":"once"'))).toHaveLength(2)
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
})
