import { expect, test } from 'vitest'
import {
  businessNumber,
  hello,
  newWorld,
  numberId,
  otherNumberId,
  phone,
  type TestWorld,
  text,
} from '../testing/world.ts'
import type { PhoneActionName } from './actions.ts'
import { redactFilename, redactText } from './redact.ts'
import type { Scenario as AnyScenario } from './scenario-file.ts'

type Scenario = AnyScenario<PhoneActionName>

const buttons = {
  type: 'interactive',
  interactive: {
    type: 'button',
    body: { text: 'Monday at ten?' },
    action: { buttons: [{ type: 'reply', reply: { id: 'slot-1', title: 'Confirm Monday' } }] },
  },
}

const form = {
  type: 'template',
  template: {
    name: 'intake_form',
    language: { code: 'en' },
    components: [
      { type: 'body', parameters: [{ type: 'text', text: 'Wilhelmina' }] },
      {
        type: 'button',
        sub_type: 'flow',
        index: '0',
        parameters: [{ type: 'action', action: { flow_token: 'token-77' } }],
      },
    ],
  },
}

/** A chat with every kind of message that a person can write. */
async function talk({ control, send, clock }: TestWorld) {
  control.switches.set({ throughputLimit: false })
  const { phones } = control
  const to = numberId
  const first = await phones.say(phone, { to, text: 'Hello, my name is Wilhelmina Müller' })
  await clock.advance(90_000)
  await send(buttons)
  await clock.advance(50)
  await phones.tap(phone, { button: 'Confirm Monday' })
  await phones.edit(phone, { message: first.id ?? '', text: 'Hello, Zacharias here' })
  await phones.edit(phone, { message: first.id ?? '', text: 'Hello, Balthasar here' })
  await phones.image(phone, { to, base64: Buffer.from('secretbytes').toString('base64'), caption: 'Passport' })
  await phones.document(phone, { to, filename: 'Diagnosis Wilhelmina.pdf', text: 'secretbytes' })
  await phones.voice(phone, { to })
  await phones.location(phone, { to, latitude: 52.52, longitude: 13.405, name: 'Grandmother', address: 'Allee 17' })
  const name = { formatted_name: 'Wilhelmina Müller', first_name: 'Wilhelmina' }
  await phones.contacts(phone, { to, contacts: [{ name, phones: [{ phone: '+4917055512', type: 'CELL' }] }] })
  await phones.order(phone, { to, items: [{ retailerId: 'SKU-1', quantity: 23, price: 9.99 }], text: 'Quickly' })
  const sent = await send(form)
  await clock.advance(50)
  const values = { full_name: 'Wilhelmina', age: 41, topics: ['Migraine'], agrees: true }
  await phones.fillForm(phone, { values, files: { photos: [{ filename: 'Insurance.png', text: 'secretbytes' }] } })
  await phones.say(phone, { to, text: 'Thanks', replyTo: sent.id })
  await phones.react(phone, { message: sent.id, emoji: '👍' })
  await phones.unreact(phone, { message: sent.id })
  await phones.delete(phone, { message: first.id ?? '' })
  await phones.welcome(phone, { to })
  await phones.unsupported(phone, { to, kind: 'poll' })
  await phones.invent(phone, { to, type: 'hologram', content: { who: 'Wilhelmina' } })
}

test('a chat becomes a scenario with its contents, and playing its actions gives the same chat', async () => {
  const world = await newWorld()
  await talk(world)
  const { phones } = world.control
  const recorded = phones.scenario(phone, businessNumber, 'true')
  expect(recorded.redacted).toBeUndefined()
  expect(recorded.steps.slice(0, 4)).toEqual([
    { id: 'm1', from: 'person', after_ms: 0, action: 'say', input: { text: 'Hello, my name is Wilhelmina Müller' } },
    { id: 'm2', from: 'business', after_ms: 90_000, expect: { type: 'interactive', text: 'Monday at ten?' } },
    { from: 'person', after_ms: 50, action: 'tap', input: { message: 'm2', button: 'slot-1' } },
    { from: 'person', after_ms: 0, action: 'edit', input: { message: 'm1', text: 'Hello, Zacharias here' } },
  ])
  expect(recorded.steps[4]).toMatchObject({ action: 'edit', input: { text: 'Hello, Balthasar here' } })
  expect(recorded.steps).toContainEqual(
    expect.objectContaining({ expect: { type: 'template', text: expect.stringContaining('Wilhelmina') } }),
  )
  await play(world, recorded)
  const chat = () => phones.scenario(other, numberId, 'true')
  expect(chat().steps.map(withoutTime)).toEqual(recorded.steps.map(withoutTime))
})

const other = '16505550199'
const withoutTime = ({ after_ms: _, ...step }: Scenario['steps'][number]) => step

/** Plays the steps of the person on another phone; the business sends the same again. */
async function play({ control, send, clock }: TestWorld, { steps }: Scenario): Promise<void> {
  const ids = new Map<unknown, string>()
  for (const step of steps) {
    let id: string | undefined
    if (step.from === 'business') {
      id = (await send({ ...(step.expect.type === 'template' ? form : buttons), to: other })).id
      await clock.advance(50)
    } else {
      const { message, replyTo, ...rest } = step.input
      const target = message === undefined ? {} : { message: ids.get(message) }
      const quoted = replyTo === undefined ? {} : { replyTo: ids.get(replyTo) }
      id = (await control.phones[step.action](other, { ...rest, ...target, ...quoted } as never)).id
    }
    if (step.id !== undefined && id !== undefined) ids.set(step.id, id)
  }
}

test('by default no word, number, name or file of the chat is in the scenario, but its shape is', async () => {
  const world = await newWorld()
  await talk(world)
  const { phones } = world.control
  const redacted = phones.scenario(phone, numberId)
  const file = JSON.stringify(redacted)
  for (const word of [
    ...['Hello', 'Wilhelmina', 'Müller', 'Zacharias', 'Balthasar', 'Monday at', 'Passport', 'Diagnosis', 'Grandmother'],
    ...['Allee', '17', '52.52', '13.4', '55512', 'Quickly', 'Migraine', '41', 'Insurance', 'Thanks', 'Confirm'],
    ...['token-77', 'base64', '"agrees":true', '"quantity":23', '9.99', phone, businessNumber],
  ])
    expect(file, word).not.toContain(word)
  expect(redacted).toMatchObject({ version: 1, redacted: true })
  const inputs = redacted.steps.map((step) => (step.from === 'person' ? step.input : step.expect))
  expect(inputs).toEqual(
    expect.arrayContaining([
      { text: 'Xxxxx, xx xxxx xx Xxxxxxxxxx Xxxxxx' },
      { message: 'm2', button: 'slot-1' },
      { filename: 'Xxxxxxxxx Xxxxxxxxxx.pdf', mimeType: 'text/plain' },
      { latitude: 0, longitude: 0, name: 'Xxxxxxxxxxx', address: 'Xxxxx 00' },
      { message: 'm3', emoji: '👍' },
    ]),
  )
  await play(world, redacted)
  expect(phones.scenario(other, numberId).steps.map(withoutTime)).toEqual(redacted.steps.map(withoutTime))
})

test('what the phone does not show, and what another business number sent, is not recorded', async () => {
  const { control, send, clock } = await newWorld()
  await control.phones.say(phone, { to: numberId, text: 'hi' })
  await send(hello, otherNumberId)
  await control.phones.change(phone, { online: false })
  await send(text('Waits'))
  await clock.advance(5_000)
  expect(control.phones.scenario(phone, numberId).steps).toHaveLength(1)
  control.phones.change(phone, { online: true })
  await clock.advance(5_000)
  expect(control.phones.scenario(phone, numberId).steps).toHaveLength(2)
  expect(() => control.phones.scenario('16505550100', numberId)).toThrow('16505550100 has no messages with 15550780001')
  expect(() => control.phones.scenario(phone, '15550000000')).toThrow('to: business number 15550000000 not found.')
  expect(() => control.phones.scenario(phone, numberId, 'yes')).toThrow('contents must be one of true, false.')
})

test.each([
  ['Ana, 10:30!', 'Xxx, 00:00!'],
  ['héllo', 'xxxxx'],
  ['नमस्ते 👋', 'xxxxxx 👋'],
  ['ana@example.com', 'xxx@xxxxxxx.xxx'],
])('%s becomes %s', (given, expected) => expect(redactText(given)).toBe(expected))

test.each([
  ['Diagnosis.pdf', 'Xxxxxxxxx.pdf'],
  ['IMG_2041.JPEG', 'XXX_0000.JPEG'],
  ['Dr.Meyer', 'Xx.Xxxxx'],
  ['Report.HIV', 'Xxxxxx.XXX'],
  ['a.12345', 'x.00000'],
])('the file %s becomes %s', (given, expected) => expect(redactFilename(given)).toBe(expected))
