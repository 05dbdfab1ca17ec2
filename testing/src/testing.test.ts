import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { toMs } from './duration.ts'
import { startParley, type TestParley } from './start-parley.ts'

let parley: TestParley
// As in a project: with an empty data directory, which other tests avoid because it takes longer.
beforeAll(async () => {
  parley = await startParley({ command: join(import.meta.dirname, '..', '..', 'parley') })
})
afterEach(() => parley.reset())
afterAll(() => parley?.stop())

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
  expect(performance.now() - began).toBeLessThan(5_000)
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
