import { text } from 'node:stream/consumers'
import { startSimulator } from '@parley/simulator/start'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { useBrowser } from '../server/testing/browser.ts'
import { type Receiver, startReceiver } from '../server/testing/receiver.ts'
import { until } from '../server/testing/until.ts'
import { freePort } from '../testing/src/free-port.ts'
import { removeSeen, seriousViolations } from './axe.ts'
import { useSignedIn } from './signed-in.ts'

/** The handset in a real browser, with the service and the simulator running as with `npm start`. */
const signedIn = useSignedIn()
const browser = useBrowser()
let receiver: Receiver
let simulatorUrl: string
let senderId: string

beforeAll(async () => {
  receiver = await startReceiver()
  const { place, ada } = signedIn
  simulatorUrl = place.simulatorUrl
  // Otherwise a phone reads a message after a second.
  await place.control('PATCH', '/switches', { readAfterMs: 100 })
  const { data: senders } = await place.api('/v1/senders')
  senderId = senders.find(({ phone_number: number }: { phone_number: string }) => number.endsWith('15550780001')).id
  const body = { name: 'Test', url: receiver.url, events: ['message.received'] }
  const created = await ada.call(`/w/${place.workspaceId}/webhooks`, { method: 'POST', body })
  expect(created).toMatchObject({ status: 201 })
})

afterAll(() => receiver?.close())

const send = (to: string, message: object): Promise<{ id: string }> =>
  signedIn.place.api('/v1/messages', { sender_id: senderId, to, ...message })

const sendText = (to: string, body: string) => send(to, { type: 'text', text: { body } })

const statusOf = async (id: string): Promise<string> => (await signedIn.place.api(`/v1/messages/${id}`)).status

interface Event {
  type: string
  data: { from: string; type: string } & Record<string, unknown>
}

/** The webhook event for a message of this type from this person. */
const eventFrom = (number: string, type: string) =>
  until(`a ${type} of ${number} is delivered`, () =>
    receiver.received
      .map(({ body }) => JSON.parse(body) as Event)
      .find(({ data }) => data.from === number && data.type === type),
  )

let people = 0

async function newPerson(name: string): Promise<string> {
  const number = String(49_170_000_0000 + ++people)
  await signedIn.place.control('PATCH', `/phones/${number}`, { name })
  return number
}

/** Creates a new person for the test and opens their phone in the handset. */
async function openPhone(name: string, options: Parameters<typeof browser.newPage>[0] = {}) {
  const number = await newPerson(name)
  // A long log takes time to draw and to search.
  await signedIn.place.control('DELETE', '/log')
  const page = await browser.newPage({ isDrawn: options.bypassCSP ?? false, ...options })
  await page.goto(simulatorUrl)
  await page.getByRole('status').filter({ hasText: 'Live' }).waitFor()
  if (page.viewportSize()?.width === 390) await page.getByRole('button', { name: 'Phones' }).click()
  await page.getByRole('button', { name }).click()
  const bubble = (words: string) => page.getByRole('log').locator('[data-id]').filter({ hasText: words })
  return { number, page, bubble, say: (words: string) => say(page, words) }
}

async function say(page: Page, words: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(words)
  await page.getByRole('textbox', { name: 'Message' }).press('Enter')
}

const wire = (page: Page, words: string) =>
  page.getByRole('list', { name: 'Network log' }).getByRole('listitem').filter({ hasText: words })

test('messages typed on the handset reach the app, those of the app appear on it, and the log has refused requests too', async () => {
  const { number, page, bubble } = await openPhone('Hanna Talks')
  // The chat is ready to type in.
  await page.locator('textarea:focus').waitFor()
  await page.keyboard.type('hi <b>there</b>')
  await page.keyboard.press('Enter')
  expect((await eventFrom(number, 'text')).type).toBe('message.received')
  await bubble('hi <b>there</b>').getByRole('img', { name: 'Delivered' }).waitFor()
  await sendText(number, 'Welcome *back*')
  await bubble('Welcome back').getByRole('img', { name: 'Read' }).waitFor()

  const webhook = wire(page, 'message · text').filter({ hasText: 'Hanna Talks: hi' })
  await webhook.getByRole('button').first().click()
  await webhook.getByRole('region', { name: 'Request' }).getByText('"hi <b>there</b>"').waitFor()
  await page.mouse.move(0, 0)
  await expect.poll(() => bubble('hi <b>there</b>').getAttribute('class')).toContain('marked')
  expect(await bubble('Welcome back').getAttribute('class')).not.toContain('marked')
  await page.getByRole('button', { name: 'Requests', exact: true }).click()
  await wire(page, 'send · text').filter({ hasText: 'Welcome' }).waitFor()
  await expect.poll(() => webhook.count()).toBe(0)

  await sendToNetwork('15551131056')
  await wire(page, 'send · template').filter({ hasText: '#131056' }).first().waitFor()
  await sendToNetwork('15550131026')
  await wire(page, 'send · template').filter({ hasText: '200' }).first().waitFor()
  const phones: { waId: string }[] = await signedIn.place.control('GET', '/phones')
  expect(phones.map(({ waId }) => waId)).toContain('15550131026')
  await newPerson('Nick New')
  await page.getByRole('button', { name: 'Nick New' }).waitFor()
  expect(await page.getByRole('button', { name: /\+1 555-0?13-?1|1555/ }).count(), 'magic recipients').toBe(0)
})

test('a message sent while its chat is loading is shown; the chat is saved as a scenario, redacted unless a person keeps what was written', async () => {
  const { number, page, bubble } = await openPhone('Lena Loads')
  const save = page.getByRole('button', { name: 'Save as scenario' })
  expect(await save.count()).toBe(0)
  await page.getByRole('button', { name: 'Ana Prueba' }).click()
  const [read, arrived] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route(`**/control/phones/${number}/messages*`, async (route) => {
    const response = await route.fetch()
    read.resolve()
    await arrived.promise
    await route.fulfill({ response })
  })
  const loaded = page.waitForResponse(/messages$/)
  await page.getByRole('button', { name: 'Lena Loads' }).click()
  await read.promise
  await say(page, 'anyone there?')
  await eventFrom(number, 'text')
  arrived.resolve()
  await (await loaded).finished()
  await say(page, 'hello?')
  await bubble('hello?').getByRole('img', { name: 'Delivered' }).waitFor()
  await bubble('anyone there?').getByRole('img', { name: 'Delivered' }).waitFor()

  await sendText(number, 'Welcome back')
  await bubble('Welcome back').getByRole('img', { name: 'Read' }).waitFor()
  const saved = async (keepsContents: boolean) => {
    await save.focus()
    await page.keyboard.press('Enter')
    const sheet = page.getByRole('dialog', { name: 'Save as scenario' })
    await sheet.getByRole('checkbox', { name: 'Keep what was written' }).and(page.locator(':focus')).waitFor()
    if (keepsContents) await page.keyboard.press('Space')
    await page.keyboard.press('Tab')
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')])
    expect(download.suggestedFilename()).toBe('scenario-15550780001.json')
    await expect.poll(() => sheet.count()).toBe(0)
    const { steps, ...rest } = JSON.parse(await text(await download.createReadStream())) as { steps: object[] }
    return { ...rest, steps: steps.map((step) => ({ ...step, after_ms: 0 })) }
  }
  const person = { from: 'person', after_ms: 0, action: 'say' }
  const business = { from: 'business', after_ms: 0 }
  expect(await saved(false)).toEqual({
    version: 1,
    redacted: true,
    steps: [
      { ...person, input: { text: 'xxxxxx xxxxx?' } },
      { ...person, input: { text: 'xxxxx?' } },
      { ...business, expect: { type: 'text', text: 'Xxxxxxx xxxx' } },
    ],
  })
  expect(await saved(true)).toEqual({
    version: 1,
    steps: [
      { ...person, input: { text: 'anyone there?' } },
      { ...person, input: { text: 'hello?' } },
      { ...business, expect: { type: 'text', text: 'Welcome back' } },
    ],
  })
})

test('template buttons can be tapped, and a form with several screens and a picture can be filled in and sent', async () => {
  const { number, page, bubble } = await openPhone('Tara Taps')
  const variables = { 'header.1': 'Tara', 'body.1': 'Monday', 'body.2': '10:00', 'buttons.2.url': 'abc' }
  await send(number, { type: 'template', template: { name: 'appointment_reminder', language: 'en_US', variables } })
  const reminder = bubble('Your visit is on Monday at 10:00')
  const link = reminder.getByRole('link', { name: 'Details' })
  expect(await link.getAttribute('href')).toBe('https://clinic.example/v/abc')
  expect(await link.getAttribute('rel')).toContain('noopener')
  await reminder.getByRole('button', { name: 'Confirm' }).click()
  expect((await eventFrom(number, 'button')).data).toMatchObject({ reply: { id: 'Confirm', title: 'Confirm' } })
  await page.getByRole('log').locator('.row.mine').filter({ hasText: 'Confirm' }).waitFor()

  const template = { name: 'intake_form', language: 'en', variables: { 'body.1': 'Tara' }, flow: { token: 'tok-9' } }
  await send(number, { type: 'template', template })
  await bubble('Please tell us about you, Tara').getByRole('button', { name: 'Open form' }).click()
  const sheet = page.getByRole('dialog', { name: 'About you' })
  await sheet.getByRole('button', { name: 'Next' }).click()
  await sheet.getByText('Full name is required.').waitFor()
  await expect.poll(() => sheet.locator(':focus').getAttribute('type')).toBe('text')
  await sheet.getByLabel('Full name').fill('Tara Meier')
  await sheet.getByLabel('Email').fill('tara@example.com')
  await sheet.getByRole('button', { name: 'Next' }).click()
  const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const picture = { name: 'card.png', mimeType: 'image/png', buffer: Buffer.from(pixel, 'base64') }
  await page.getByRole('dialog', { name: 'Photos' }).locator('input[type=file]').setInputFiles(picture)
  await page.getByRole('dialog').getByText('card.png').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Next' }).click()
  await page.getByRole('dialog', { name: 'Documents' }).getByRole('button', { name: 'Send' }).click()
  await bubble('Form submitted').getByRole('img', { name: 'card.png' }).waitFor()

  const webhook = wire(page, 'message · interactive').filter({ hasText: 'Tara Taps' })
  await webhook.getByRole('button').first().click()
  const shown = await webhook.getByRole('region', { name: 'Request' }).textContent()
  for (const words of ['nfm_reply', 'tok-9', 'tara@example.com', 'card.png', 'image/png'])
    expect(shown).toContain(words)
})

test('while a phone is offline, messages in both directions wait, and with read receipts off they stay at delivered', async () => {
  const { number, page, bubble, say } = await openPhone('Olga Offline')
  await say('before')
  await bubble('before').getByRole('img', { name: 'Delivered' }).waitFor()
  await page.getByRole('button', { name: 'Go offline' }).click()
  await page.getByText('Offline.').waitFor()
  const { id } = await sendText(number, 'are you there?')
  await bubble('are you there?').getByRole('img', { name: 'Sent', exact: true }).waitFor()
  await say('in a tunnel')
  const waiting = page.getByRole('log').getByRole('img', { name: 'Waiting for this phone to be online' })
  await waiting.waitFor()
  expect(await statusOf(id)).toBe('sent')
  await page.getByRole('button', { name: 'Go online' }).click()
  await bubble('are you there?')
    .getByRole('img', { name: /Delivered|Read/ })
    .waitFor()
  await bubble('in a tunnel').getByRole('img', { name: 'Delivered' }).waitFor()
  await expect.poll(() => waiting.count()).toBe(0)
  await until('the service knows', async () => ['delivered', 'read'].includes(await statusOf(id)))

  const other = await newPerson('Otto Opens')
  await page.getByRole('switch', { name: 'Read receipts' }).click()
  await page.getByRole('switch', { name: 'Read receipts', checked: false }).waitFor()
  const { id: unread } = await sendText(number, 'unseen')
  await bubble('unseen').getByRole('img', { name: 'Delivered' }).waitFor()
  // Once a later message is read, this one would have been read too.
  const { id: later } = await send(other, { type: 'template', template: { name: 'hello_world', language: 'en_US' } })
  await until('the later message is read', async () => (await statusOf(later)) === 'read')
  await until('the first message is delivered', async () => (await statusOf(unread)) === 'delivered')
  await bubble('unseen').getByRole('img', { name: 'Delivered' }).waitFor()
})

test('messages written offline are kept until they are sent, even if the phone goes online elsewhere', async () => {
  const { number, page, bubble, say } = await openPhone('Dora Drafts', { expects: /net::ERR_FAILED/ })
  const change = (online: boolean) => signedIn.place.control('PATCH', `/phones/${number}`, { online })
  const waiting = page.getByRole('log').getByRole('img', { name: 'Waiting for this phone to be online' })
  const fail = (fails: (method: string, body: string) => boolean) =>
    page.route(`**/control/phones/${number}**`, (route, request) =>
      fails(request.method(), request.postData() ?? '') ? route.abort() : route.continue(),
    )
  await page.getByRole('button', { name: 'Go offline' }).click()
  await say('first draft')
  await say('second draft')
  await expect.poll(() => waiting.count()).toBe(2)

  await fail((method) => method === 'PATCH')
  await page.getByRole('button', { name: 'Go online' }).click()
  await page.getByText('Cannot reach the simulator.').waitFor()
  expect(await waiting.count()).toBe(2)
  await page.unrouteAll()

  await fail((_, body) => body.includes('first draft'))
  await change(true)
  await bubble('second draft').getByRole('img', { name: 'Delivered' }).waitFor()
  await expect.poll(() => waiting.count()).toBe(1)
  await page.unrouteAll()

  await change(false)
  await page.getByRole('button', { name: 'Go online' }).click()
  await bubble('first draft').getByRole('img', { name: 'Delivered' }).waitFor()
  await expect.poll(() => waiting.count()).toBe(0)
  expect(await bubble('draft').count()).toBe(2)
})

test('photos, locations, orders, reactions and replies can be sent, and the sample video and sticker play', async () => {
  const { number, page, bubble, say } = await openPhone('Max Many')
  const attach = async (kind: string) => {
    await page.getByRole('button', { name: 'Attach' }).click()
    await page.getByRole('dialog').getByRole('button', { name: kind, exact: true }).click()
  }
  await attach('Photo')
  await page.getByLabel('Caption').fill('from the harbour')
  await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click()
  const picture = bubble('from the harbour').getByRole('img', { name: 'from the harbour' })
  await expect
    .poll(() => picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth))
    .toBe(640)
  await attach('Location')
  await page.getByRole('button', { name: 'Plaza Mayor' }).click()
  expect((await eventFrom(number, 'location')).data).toMatchObject({ location: { name: 'Plaza Mayor' } })
  await attach('Catalog')
  await page.getByRole('button', { name: 'Add one Thermometer' }).click()
  await page.getByRole('button', { name: 'Add one Thermometer' }).click()
  await page.getByRole('button', { name: 'Send order' }).click()
  await bubble('2 × Thermometer').waitFor()
  await eventFrom(number, 'order')

  await sendText(number, 'thank you')
  await bubble('thank you').hover()
  await bubble('thank you').getByRole('button', { name: 'Message actions' }).click()
  await page.getByRole('button', { name: 'React with 👍' }).click()
  await bubble('thank you').getByText('👍').waitFor()
  await bubble('thank you').getByRole('button', { name: 'Message actions' }).click()
  await page.getByRole('button', { name: 'Reply' }).click()
  await say('welcome')
  await bubble('welcome').getByRole('button', { name: 'Harbour Clinic thank you' }).waitFor()

  for (const kind of ['Video', 'Sticker']) {
    await attach(kind)
    await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click()
    await eventFrom(number, kind.toLowerCase())
  }
  const video = page.getByRole('log').locator('video')
  type Playing = { duration: number; currentTime: number; play(): Promise<void>; naturalWidth: number }
  await video.evaluate((element) => (element as unknown as Playing).play())
  await expect.poll(() => video.evaluate((element) => (element as unknown as Playing).currentTime)).toBeGreaterThan(0)
  const sticker = page.getByRole('log').getByRole('img', { name: 'Sticker' })
  await expect.poll(() => sticker.evaluate((element) => (element as unknown as Playing).naturalWidth)).toBe(512)
})

/** Straight to the simulated network, because the key may not send that often. */
async function sendToNetwork(to: string): Promise<void> {
  const [{ token }] = await signedIn.place.control('GET', '/tokens')
  const template = { name: 'hello_world', language: { code: 'en_US' } }
  await fetch(`${simulatorUrl}/v25.0/106540000000001/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messaging_product: 'whatsapp', to, type: 'template', template }),
  })
}

test('the manual is a page without serious violations', async () => {
  const page = await browser.newPage({ bypassCSP: true })
  await page.goto(simulatorUrl)
  await page.getByRole('link', { name: 'Manual' }).click()
  await page.getByRole('heading', { level: 2, name: 'Magic recipients' }).waitFor()
  await page.getByRole('cell', { name: '15559000001' }).waitFor()
  await removeSeen(page)
  expect(await seriousViolations(page, 'manual')).toEqual([])
})

test('a narrow screen shows one pane at a time, and a reload keeps the chat and the color scheme', async () => {
  const { number, page, bubble, say } = await openPhone('Nora Narrow', { viewport: { width: 390, height: 844 } })
  await say('from a phone')
  await bubble('from a phone').getByRole('img', { name: 'Delivered' }).waitFor()
  await page.getByRole('button', { name: 'Network log' }).click()
  await wire(page, 'Nora Narrow: from a phone').waitFor()
  await expect.poll(() => page.getByRole('log').isVisible()).toBe(false)
  await wire(page, 'Nora Narrow: from a phone').getByRole('button').first().click()
  await page.getByRole('log').waitFor()

  await page.getByRole('button', { name: 'Use dark theme' }).click()
  expect(page.url()).toContain(`#from=${number}&to=`)
  await page.reload()
  await bubble('from a phone').waitFor()
  await page.getByRole('button', { name: 'Use light theme' }).waitFor()
})

test('the page reconnects after the simulator restarts', async () => {
  const port = await freePort()
  let simulator = await startSimulator({ port })
  onTestFinished(() => simulator.stop())
  const page = await browser.newPage({ isDrawn: false, expects: /ERR_(CONNECTION|INCOMPLETE|EMPTY|NETWORK)/ })
  await page.goto(simulator.url)
  await say(page, 'hello')
  await page.getByRole('log').getByText('hello').waitFor()
  await simulator.stop()
  await page.getByRole('status').filter({ hasText: 'Reconnecting' }).waitFor()
  simulator = await startSimulator({ port })
  await page.getByRole('status').filter({ hasText: 'Live' }).waitFor()
  await page.getByText('Say hello to Harbour Clinic.').waitFor()
  await say(page, 'hello again')
  await page.getByRole('log').getByText('hello again').waitFor()
})

test('another page cannot embed the handset in a frame', async () => {
  const otherSite = await startReceiver()
  onTestFinished(() => otherSite.close())
  otherSite.behave((response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<iframe src="${simulatorUrl}/"></iframe>`),
  )
  const page = await browser.newPage({ isDrawn: false, expects: /frame-ancestors|favicon/ })
  const error = page.waitForEvent('console', (message) =>
    message.text().includes(`frame-ancestors ${signedIn.place.url} `),
  )
  await page.goto(otherSite.url)
  await error
  expect(page.frames().map((frame) => frame.url())).not.toContain(`${simulatorUrl}/`)
})

test('the handset has no serious accessibility violations', async () => {
  const { number, page, bubble, say } = await openPhone('Eve', { bypassCSP: true })
  await say('is everything fine?')
  await bubble('is everything fine?').getByRole('img', { name: 'Delivered' }).waitFor()
  const template = { name: 'intake_form', language: 'en', variables: { 'body.1': 'Eve' } }
  await send(number, { type: 'template', template })
  await bubble('Please tell us').getByRole('img', { name: 'Read' }).waitFor()
  await wire(page, 'message · text').first().getByRole('button').first().click()
  expect(await seriousViolations(page, 'handset')).toEqual([])
  await bubble('Please tell us').getByRole('button', { name: 'Open form' }).click()
  const form = page.getByRole('dialog', { name: 'About you' })
  await form.waitFor()
  expect(await seriousViolations(page, 'handset with a form', { within: '[role="dialog"]' })).toEqual([])
  for (let presses = 0; presses < 8; presses++) await page.keyboard.press('Tab')
  await expect.poll(() => form.locator(':focus').count()).toBe(1)
  await page.keyboard.press('Escape')
  await expect.poll(() => form.count()).toBe(0)
})
