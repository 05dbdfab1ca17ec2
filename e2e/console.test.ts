import { gzipSync } from 'node:zlib'
import { errorCatalogue } from '@parley/contract/errors'
import { verifyWebhook } from '@parley/sdk'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PageOptions, screenshot, useBrowser, visit } from '../server/testing/browser.ts'
import { followLink, newBrowser, tokenOf } from '../server/testing/console.ts'
import { type Received, type Receiver, useReceivers } from '../server/testing/receiver.ts'
import { until } from '../server/testing/until.ts'
import type { Installation } from './installation.ts'
import { newInstallation } from './new-installation.ts'
import { choose, pageReady } from './page-ready.ts'
import { cookiesOf } from './signed-in.ts'

/** The tests depend on each other: each continues where the previous one ended. */
const newReceiver = useReceivers()
const ada = { name: 'Ada Nilsson', email: 'ada@harbour.example', password: 'seven quiet otters' }
let place: Installation
let receiver: Receiver
/** Ada's session, passed from test to test. */
let session: NonNullable<PageOptions['cookies']>
let key = ''
let webhookUrl = ''

beforeAll(async () => {
  place = await newInstallation()
  receiver = await newReceiver()
})
afterAll(() => place?.stop())
const browser = useBrowser()

test('the link printed by the first start creates the first account', async () => {
  const page = await browser.newPage({ isDrawn: false, expects: /401|410/ })
  const token = tokenOf(place.setupUrl)
  await page.goto(place.url)
  await title(page, 'Open the link from your terminal')
  await screenshot(page, 'first visit')
  expect(await page.getByLabel('Email address').count()).toBe(0)
  const seen: string[] = []
  page.on('request', (request) => seen.push(request.url().split('#')[0] ?? '', request.headers().referer ?? ''))
  await page.goto(place.setupUrl)
  await title(page, 'Set up Parley')
  // The token leaves the address bar, a reload keeps it, and it is in no URL that a proxy could log.
  await page.waitForURL(`${place.url}/link`)
  await page.reload()
  await fillAccount(page, ada)
  await page.getByLabel('Email address').fill(ada.email)
  await page.getByRole('button', { name: 'Create account' }).click()
  await title(page, 'Overview')
  expect(page.url()).toBe(at(''))
  expect(seen.length).toBeGreaterThan(4)
  expect(seen.filter((each) => each.includes(token))).toEqual([])
  for (const name of ['API keys', 'Team', 'Health']) await link(page, name).waitFor()
  session = (await page.context().cookies()).map(({ name, value }) => ({ name, value, url: place.url }))
  await page.goto(place.setupUrl)
  await title(page, 'This link has expired or was already used')
})

test('a key can be created, copied and used', async () => {
  const page = await openAt('/keys', { permissions: ['clipboard-read', 'clipboard-write'] })
  await page.getByRole('button', { name: 'Create key' }).first().click()
  const form = page.getByRole('dialog', { name: 'Create key' })
  await form.getByLabel('Name').fill('Order service')
  expect(await form.getByRole('checkbox', { checked: true }).count()).toBe(0)
  await form.getByRole('button', { name: 'Create key' }).click()
  await form.getByText('Choose at least one scope.').waitFor()
  const mine = form.getByRole('button', { name: 'Add my IP address (127.0.0.1)' })
  await mine.click()
  await mine.waitFor({ state: 'detached' })
  await form.getByRole('button', { name: 'Read only' }).click()
  // A rejected entry of the allowlist stays, and no key is created without it.
  await form.getByLabel('IP allowlist').fill('203.0.113.7/33')
  await form.getByLabel('IP allowlist').press('Tab')
  await form.getByText('The prefix length of “203.0.113.7/33” must be a number from 0 to 32.').waitFor()
  await form.getByRole('button', { name: 'Create key' }).click()
  await page.locator(':focus').and(form.getByLabel('IP allowlist')).waitFor()
  await form.getByRole('button', { name: 'Remove 203.0.113.7/33' }).click()
  await form.getByLabel('IP allowlist').fill('0.0.0.0/0')
  await form.getByLabel('IP allowlist').press('Enter')
  await form.getByText('0.0.0.0/0 allows every IPv4 address, but no IPv6 address.').waitFor()
  await form.getByRole('button', { name: 'Create key' }).click()
  const made = page.getByRole('dialog', { name: 'Your new key' })
  await made.getByRole('button', { name: 'Copy', exact: true }).first().click()
  await made.getByRole('button', { name: 'Copied' }).waitFor()
  key = await page.evaluate<string>('navigator.clipboard.readText()')
  expect(key).toMatch(/^prl_live_\w+$/)
  await made.getByText('Waiting for the first request…').waitFor()
  expect((await call('/v1/me')).status).toBe(200)
  await made.getByText('First request received from 127.0.0.1. The key works.').waitFor()
  await made.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('row', { name: /Order service.*127\.0\.0\.1/ }).waitFor()
  expect(await page.content()).not.toContain(key)
})

test('a new request appears in the request log without a reload', async () => {
  const page = await openAt('/requests?live=1')
  await page
    .getByRole('row', { name: /\/v1\/me/ })
    .first()
    .waitFor()
  expect(await page.getByRole('row', { name: /\/v1\/senders/ }).count()).toBe(0)
  await page.evaluate('window.wasNeverReloaded = true')
  expect((await call('/v1/senders')).status).toBe(200)
  await page.getByRole('row', { name: /GET\s*\/v1\/senders.*200.*Order service/ }).waitFor()
  expect(await page.evaluate('window.wasNeverReloaded')).toBe(true)
})

test('a new webhook shows its secret once, and the secret verifies a test event', async () => {
  const page = await openAt('/webhooks')
  await page.getByRole('button', { name: 'Create webhook' }).first().click()
  const form = page.getByRole('dialog', { name: 'Create webhook' })
  await form.getByLabel('Name').fill('Booking system')
  await form.getByLabel('URL').fill(receiver.url)
  await form.getByRole('button', { name: 'Create webhook' }).click()
  const made = page.getByRole('dialog', { name: 'Your new webhook' })
  await made.getByRole('button', { name: 'Reveal' }).click()
  const secret = (await made.getByText(/^whsec_/).textContent()) ?? ''
  await made.getByRole('button', { name: 'Done' }).click()
  const asking = page.getByRole('dialog', { name: 'You won’t see this again' })
  await asking.getByRole('button', { name: 'Close without copying' }).click()
  await title(page, 'Booking system')
  webhookUrl = page.url()
  expect(await page.content()).not.toContain(secret)

  await page.getByRole('button', { name: 'Send test event' }).click()
  const trial = page.getByRole('dialog', { name: 'Send test event' })
  await trial.getByRole('combobox', { name: 'Event type' }).click()
  await page.getByRole('option', { name: /^message\.received/ }).click()
  await trial.getByRole('button', { name: 'Send test event' }).click()
  await trial.getByText('The endpoint accepted the event.').waitFor()
  const [arrived] = receiver.received
  const event = await verifyWebhook(arrived?.body ?? '', arrived?.headers as Record<string, string>, secret)
  expect(event).toMatchObject({ type: 'webhook.test', data: { test: true, example_of: 'message.received' } })
})

test('a failing endpoint is disabled, its events are held and all delivered when it is enabled again', async () => {
  const page = await openAt(webhookUrl)
  await title(page, 'Booking system')
  receiver.behave(500)
  for (let turn = 1; turn <= 5; turn++) await say(`Is anyone there? (${turn})`)
  await page.getByText(/^Failing \d+ of 20\..* Next attempt/).waitFor()
  // From the fifth failure in a row it gets one attempt every two seconds, so twenty would take half a minute.
  await place.db.change('update webhooks set failures = 19')
  await say('Is anyone there? (6)')
  const notice = page.getByText(/^Disabled .* because it failed too often\.$/).locator('..')
  await notice.waitFor()
  const attempts = receiver.received.length
  await say('Is anyone there? (7)')
  await notice.getByText('7 events are held and will be sent when you enable it.').waitFor()
  expect(await notice.textContent()).toMatch(/The endpoint returned 500\. The receiver failed/)
  expect(receiver.received.length).toBe(attempts)

  receiver.behave(200)
  await page.getByRole('button', { name: 'Enable' }).click()
  await notice.waitFor({ state: 'detached' })
  const texts = () => receiver.received.slice(attempts).map(textOf)
  await until('all held events arrive', () => texts().length >= 7)
  expect(texts().toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7].map((turn) => `Is anyone there? (${turn})`))
  await page
    .getByRole('row', { name: /message\.received.*Delivered.*200/ })
    .first()
    .waitFor()
})

test('a delivery shows each attempt, and a manual retry has the same id', async () => {
  const page = await openAt(webhookUrl)
  const timesOf = (id: string) => receiver.received.filter((one) => one.id === id).length
  // Which of the events failed depends on when each of them was due.
  const { id } = receiver.received.find((one) => timesOf(one.id) > 1) as Received
  const times = () => timesOf(id)
  const before = times()
  await page.getByRole('row', { name: id }).click()
  const drawer = page.getByRole('dialog', { name: 'message.received' })
  const attempts = drawer.getByRole('list', { name: 'Attempts' }).getByRole('listitem')
  await attempts.nth(before - 1).waitFor()
  const words = await attempts.allTextContents()
  expect(words).toEqual([
    expect.stringMatching(/200.*\d+ (ms|µs)/),
    ...Array(before - 2).fill(expect.stringMatching(/Attempt \d of 8.*500.*\d+ (ms|µs)/)),
    expect.stringMatching(/Attempt 1 of 8.*500.*\d+ (ms|µs)/),
  ])
  await drawer.getByText('response 200').waitFor()
  await drawer.getByRole('button', { name: 'Show response' }).last().click()
  await drawer.getByText('response 500').waitFor()

  await drawer.getByRole('button', { name: 'Retry', exact: true }).click()
  // The receiver has it already.
  await page.getByRole('dialog', { name: 'Send a delivered event again' }).getByText('Send again').click()
  await page.getByText('Retry queued').first().waitFor()
  await until('it arrives once more', () => times() === before + 1)
  await attempts.filter({ hasText: /Manual retry.*200/ }).waitFor()
})

test('API errors appear in their groups with cause and remedy, also those of a mistyped key', async () => {
  const wrong = `${key.slice(0, 20)}${key[20] === 'x' ? 'y' : 'x'}${key.slice(21)}`
  const headers = { authorization: `Bearer ${wrong}` }
  expect((await fetch(`${place.url}/v1/me`, { headers })).status).toBe(401)
  expect((await call('/v1/messages', { to: '16505550123', type: 'text' })).status).toBe(403)
  const page = await openAt('/requests')
  // A page that is still opening its stream does not hear of it, so it is opened once the requests are logged.
  const errors = `${place.url}/console/api/w/${place.workspaceId}/refusals`
  await until('both are logged', async () => {
    const logged = await (await page.request.get(errors)).text()
    return logged.includes('invalid_key') && logged.includes('insufficient_scope')
  })
  await visit(page, at('/api-errors'))
  await page.getByRole('row', { name: /invalid_key.*Order service/ }).waitFor()
  await page.getByText('on the Health page, under Unauthenticated requests').waitFor()
  await page.getByRole('row', { name: /insufficient_scope.*Order service/ }).click()
  const drawer = page.getByRole('dialog', { name: 'insufficient_scope' })
  const { title: name, cause, remedy } = errorCatalogue.insufficient_scope
  for (const words of [name, cause, remedy]) await drawer.getByText(words).first().waitFor()
})

test('the Docs page links to the API reference', async () => {
  const page = await openAt('/docs')
  const reference = page.getByRole('link', { name: 'API reference' })
  expect(await reference.getAttribute('href')).toBe(`${place.url}/docs/api`)
  expect(await reference.getAttribute('target')).toBe('_blank')
  await page.getByText(place.workspaceId).waitFor()
})

test('a member cannot open developer pages', async () => {
  const operator = newBrowser(place.url)
  for (const { name, value } of session) operator.cookies.set(name, value)
  const invitation = { method: 'POST', body: { email: 'mia@harbour.example', role: 'member' } }
  const { body } = await operator.call(`/w/${place.workspaceId}/team/invites`, invitation)
  const mia = newBrowser(place.url)
  await followLink(mia, tokenOf(body.url), { name: 'Mia Member', password: 'nine patient herons' })
  const page = await openAt('/keys', { expects: /403/, cookies: cookiesOf(mia, place) })
  await title(page, 'You don’t have access to “API keys”')
  await link(page, 'Messages').waitFor()
  for (const name of ['API keys', 'Webhooks', 'Deliveries', 'Request log', 'API errors', 'Health'])
    expect(await link(page, name).count(), name).toBe(0)
})

test('signing out ends the session, and after signing in, the first load has at most 220 KiB of scripts', async () => {
  const page = await openAt('', { expects: /401/ })
  await page.getByRole('button', { name: ada.name }).click()
  await choose(page, 'Sign out')
  await title(page, 'Sign in')
  const scripts = new Set<string>()
  page.on('response', (response) => {
    // Not those of the handset, which is another site in a frame.
    const isOurs = response.url().startsWith(place.url)
    if (isOurs && response.request().resourceType() === 'script') scripts.add(response.url())
  })
  // The earlier cookie does not work.
  await page.context().addCookies(session)
  await page.goto(at(''))
  await title(page, 'Sign in')
  const status = await page.evaluate<number>(`fetch('/console/api/session').then((response) => response.status)`)
  expect(status).toBe(401)
  await page.getByLabel('Email address').fill(ada.email)
  await page.getByLabel('Password', { exact: true }).fill(ada.password)
  // Enter instead of a click: hovering a link with the mouse would preload another page.
  await page.getByLabel('Password', { exact: true }).press('Enter')
  await title(page, 'Overview')
  await pageReady(page)
  const bodies = await Promise.all([...scripts].map(async (url) => (await fetch(url)).arrayBuffer()))
  const sizes = bodies.map((body) => gzipSync(body).length)
  expect(sizes.length).toBeGreaterThan(1)
  expect(sizes.reduce((sum, size) => sum + size) / 1024).toBeLessThanOrEqual(220)
})

const at = (path: string): string => (path.startsWith('http') ? path : `${place.url}/w/${place.workspaceId}${path}`)

async function openAt(path: string, options: PageOptions = {}): Promise<Page> {
  const page = await browser.newPage({ cookies: session, isDrawn: false, ...options })
  await visit(page, at(path))
  return page
}

const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()

const link = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true })

async function fillAccount(page: Page, { name, password }: { name: string; password: string }): Promise<void> {
  await page.getByLabel('Your name').fill(name)
  await page.getByLabel('Password', { exact: true }).fill(password)
}

const call = (path: string, body?: object) =>
  fetch(place.url + path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })

const say = (text: string) => place.control('POST', '/phones/16505550123/say', { to: '15550780001', text })

const textOf = ({ body }: Received): string => JSON.parse(body).data.text?.body ?? JSON.parse(body).data.text
