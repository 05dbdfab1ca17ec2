import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { screenshot } from '../server/testing/browser.ts'
import { type Receiver, useReceivers } from '../server/testing/receiver.ts'
import { until } from '../server/testing/until.ts'
import { animationsDone, pageReady } from './page-ready.ts'
import { useSignedIn } from './signed-in.ts'

const console = useSignedIn()
const newReceiver = useReceivers()
const phone = '16505550123'

async function newWebhook(name: string): Promise<{ receiver: Receiver; id: string }> {
  const receiver = await newReceiver()
  const body = { name, url: receiver.url, events: ['message.received'] }
  const { body: made } = await console.ada.call(`/w/${console.place.workspaceId}/webhooks`, { method: 'POST', body })
  return { receiver, id: made.webhook.id }
}

const say = (text: string) => console.place.control('POST', `/phones/${phone}/say`, { to: '15550780001', text })

test('a red webhook says why, its bars and tabs lead to the failed deliveries, and all of them are retried', async () => {
  const { receiver, id } = await newWebhook('Red')
  await say('one')
  await until('it arrives', () => receiver.received.length === 1)
  receiver.behave(500)
  const tests = () => receiver.received.filter(({ headers }) => headers['service-event'] === 'webhook.test')
  for (let count = 1; count <= 3; count++) {
    const body = { type: 'message.read' }
    await console.ada.call(`/w/${console.place.workspaceId}/webhooks/${id}/test`, { method: 'POST', body })
    await until('the test event arrives', () => tests().length === count)
  }
  // Test events do not count. Two attempts of two messages make the webhook fail.
  for (const text of ['two', 'three']) await say(text)
  await until('all arrive', () => receiver.received.length >= 8)
  const page = await console.open('webhooks')
  const row = page.getByRole('row', { name: /Red.*The endpoint returned 500\..*Failing/ })
  await row.getByRole('img', { name: /^Last 24 hours: 1 of \d+ attempts succeeded$/ }).waitFor()
  await screenshot(page, 'webhooks failing')
  await row.getByRole('link', { name: 'Red' }).click()
  await page.getByText('The endpoint returned 500.').waitFor()
  await page.getByRole('link', { name: 'Open the last failed delivery' }).waitFor()

  const bars = page.getByRole('figure', { name: 'Attempts by result' })
  await pageReady(page)
  await bars.getByRole('button', { name: 'Show as table' }).click()
  const cells = (await bars.getByRole('row').allInnerTexts())
    .slice(1)
    .map((text) => text.split('\t').slice(1).map(Number))
  const sums = [0, 1, 2].map((column) => cells.reduce((sum, each) => sum + (each[column] ?? 0), 0))
  expect([sums[0], sums[2]], 'delivered and failed').toEqual([1, 3])
  expect(sums[1], 'retried').toBeGreaterThanOrEqual(4)
  await bars.getByRole('button', { name: 'Show as chart' }).click()
  await page.getByRole('application', { name: /^Attempts by result/ }).focus()
  await page.keyboard.press('Enter')
  await until('the URL has the time', () => page.url().includes('since='))
  await bars.getByRole('button', { name: /^Failed/ }).click()
  await until('the URL has the state', () => page.url().includes('state=failed'))
  await page.getByRole('tab', { name: 'Failed 3', selected: true }).waitFor()

  await page
    .getByRole('row', { name: /webhook\.test/ })
    .nth(2)
    .waitFor()
  await page
    .getByRole('checkbox', { name: /^Select 0/ })
    .first()
    .check()
  await page.getByRole('button', { name: 'Select all 3' }).click()
  await page.getByText('All 3 that match are selected').waitFor()
  receiver.behave(200)
  await page.getByRole('button', { name: 'Retry all' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Retry all 3' }).click()
  await page.getByText('3 retries queued').waitFor()
  await until('they arrive', () => tests().length === 6)
  await page.getByRole('tab', { name: 'Failed 0', selected: true }).waitFor()
  await page.getByText('No matching deliveries').waitFor()
})

test('j and k go from one delivery to the next, which has response headers, a curl command and a retry that asks first', async () => {
  const { receiver, id } = await newWebhook('Drawer')
  receiver.behave((response) => response.writeHead(200, { 'X-Trace': 'abc', 'Set-Cookie': 'id=s3cret' }).end('fine'))
  for (const text of ['it’s “one”', 'two', 'three']) await say(text)
  await until('all arrive', () => receiver.received.length === 3)
  const page = await console.open(`webhooks/${id}`, { permissions: ['clipboard-read', 'clipboard-write'] })
  const rows = page.getByRole('row', { name: /message\.received.*Delivered.*1 of 8/ })
  await rows.nth(2).waitFor()
  const ids = (await rows.allInnerTexts()).map((text) => /[0-9a-f-]{36}/.exec(text)?.[0])
  await rows.first().click()
  const drawer = page.getByRole('dialog', { name: 'message.received' })
  const shows = (index: number) => drawer.getByRole('button', { name: ids[index] ?? 'none' }).waitFor()
  await shows(0)
  await expect.poll(() => drawer.getByRole('button', { name: 'Previous (k)' }).isDisabled()).toBe(true)
  await page.keyboard.press('j')
  await shows(1)
  await page.keyboard.press('j')
  await shows(2)
  await expect.poll(() => drawer.getByRole('button', { name: 'Next (j)' }).isDisabled()).toBe(true)
  await page.keyboard.press('k')
  await shows(1)
  expect(page.url()).toContain(`open=${ids[1]}`)

  const attempt = drawer.getByRole('list', { name: 'Attempts' }).getByRole('listitem')
  await attempt.getByText('Attempt 1 of 8').waitFor()
  await drawer.getByText('Response headers').click()
  await drawer.getByText('X-Trace: abc').waitFor()
  await drawer.getByText('id=(not stored)').waitFor()
  expect(await page.content()).not.toContain('s3cret')
  await animationsDone(page)
  await screenshot(page, 'delivery')
  await drawer.getByRole('button', { name: 'Copy as curl' }).click()
  await drawer.getByRole('button', { name: 'Copied' }).waitFor()
  const command = await copied(page)
  const sent = receiver.received.find((each) => each.id === ids[1])
  expect(command).toContain(`-H 'Service-Signature: ${sent?.headers['service-signature']}'`)
  expect(command).toContain(`-H 'Webhook-Signature: ${sent?.headers['webhook-signature']}'`)
  expect(command).toContain(`--data-raw '${sent?.body}'`)

  // The drawer closes with one Back, however many were looked at.
  await page.goBack()
  await drawer.waitFor({ state: 'detached' })

  // A retry of a delivered event asks first.
  await rows.first().click()
  await drawer.getByRole('button', { name: 'Retry', exact: true }).click()
  const asking = page.getByRole('dialog', { name: /^Send (a delivered event|delivered events) again$/ })
  await asking.waitFor()
  await screenshot(page, 'send again')
  // j belongs to the list below only while nothing is above the drawer.
  await page.keyboard.press('j')
  await asking.getByRole('button', { name: 'Cancel' }).click()
  await asking.waitFor({ state: 'detached' })
  await shows(0)
  await drawer.getByRole('button', { name: 'Close' }).click()
  await drawer.waitFor({ state: 'detached' })
  const before = await rows.first().boundingBox()
  await page.getByRole('checkbox', { name: 'Select all shown' }).check()
  await page.getByRole('button', { name: 'Retry selected' }).waitFor()
  expect(await rows.first().boundingBox(), 'a selection does not move the rows').toEqual(before)
  await page.getByRole('button', { name: 'Retry selected' }).click()
  await asking.waitFor()
  expect(receiver.received).toHaveLength(3)
  await asking.getByRole('button', { name: 'Send again' }).click()
  await until('they arrive again', () => receiver.received.length === 6)
})

const copied = (page: Page): Promise<string> => page.evaluate('navigator.clipboard.readText()')

test('a webhook shows which events came, whether it is subscribed, and an example payload of each', async () => {
  const { id } = await newWebhook('Payloads')
  await console.ada.call(`/w/${console.place.workspaceId}/webhooks/${id}`, {
    method: 'PATCH',
    body: { events: ['template.status_changed'] },
  })
  await say('one that it does not get')
  const page = await console.open(`webhooks/${id}?tab=events`)
  await page.getByText('"template.status_changed"').first().waitFor()
  await page.getByRole('row', { name: /template\.status_changed.*Subscribed, none came.*0/ }).waitFor()
  const came = page.getByRole('row', { name: /message\.received.*Not subscribed.*[1-9]\d* (now|\d+ sec\. ago)/ })
  await came.click()
  await page.getByText('"message.received"').first().waitFor()
  expect(page.url()).toContain('event_type=message.received')
  await screenshot(page, 'webhook events')
  await came.getByRole('button', { name: 'Subscribe' }).click()
  await page.getByRole('tab', { name: 'Settings', selected: true }).waitFor()
})

test('a new webhook has a filter, an order, headers and past events; a replay has a preview and progress and is cancelled', async () => {
  const receiver = await newReceiver()
  const events = `/w/${console.place.workspaceId}/messages?phone=${phone}&direction=received&limit=100`
  // Enough for a replay at one per second to be cancelled on the way.
  for (let n = 1; n <= 10; n++) await say(`message ${n}`)
  const past = await until('all have arrived', async () => {
    const { data } = (await console.ada.call(events)).body
    return data.some(({ preview }: { preview: string }) => preview === 'message 10') && data.length
  })
  const page = await console.open('webhooks')
  await page.getByRole('button', { name: 'Create webhook' }).first().click()
  const form = page.getByRole('dialog', { name: 'Create webhook' })
  await form.getByLabel('Name').fill('Gateway')
  await form.getByLabel('URL').fill(receiver.url)
  await choose(page, form.getByRole('combobox', { name: 'Senders' }), /555-078-0001/)
  await form.getByLabel('Name').click()
  await form.getByLabel('Keep the order of each conversation').check({ force: true })
  await form.getByRole('button', { name: 'Add header' }).click()
  await form.getByRole('textbox', { name: 'Header 1' }).fill('Authorization')
  await form.getByLabel('Value 1').fill('Bearer never-shown')
  await choose(page, form.getByRole('combobox', { name: 'Past events' }), 'Also events of the last 7 days')
  await screenshot(page, 'webhook options')
  await form.getByRole('button', { name: 'Create webhook' }).click()
  const made = page.getByRole('dialog', { name: 'Your new webhook' })
  await made.getByRole('button', { name: 'Done' }).click()
  const asking = page.getByRole('dialog', { name: 'You won’t see this again' })
  await asking.getByRole('button', { name: 'Close without copying' }).click()
  await page.getByText('Left out (24 h)').waitFor()
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
  const saved = async () => (await console.ada.call(`/w/${console.place.workspaceId}/webhooks/${id}`)).body
  const { senders } = await saved()
  expect(senders).toHaveLength(1)
  expect(await saved()).toMatchObject({ ordering: 'conversation', headers: ['authorization'], left_out: 0 })
  await until('the past events have arrived', () => receiver.received.length === past)
  expect(new Set(receiver.received.map(({ headers }) => headers['service-replay'])).size).toBe(1)
  expect(new Set(receiver.received.map(({ headers }) => headers.authorization))).toEqual(
    new Set(['Bearer never-shown']),
  )

  await page.getByRole('tab', { name: 'Replays' }).click()
  const table = page.getByRole('table', { name: 'Replays' })
  await table.getByText(`${past} of ${past} delivered`).waitFor()
  await table.getByText('Completed').waitFor()
  await page.getByRole('button', { name: 'Replay events' }).click()
  const dialog = page.getByRole('dialog', { name: 'Replay events' })
  await dialog.getByText('It covers no events.').waitFor()
  await choose(page, dialog.getByRole('combobox', { name: 'Which events' }), 'All events, including delivered ones')
  await dialog.getByText(`It covers ${past} events.`).waitFor()
  await dialog.getByLabel('Pace').fill('1')
  await screenshot(page, 'replay dialog')
  await dialog.getByRole('button', { name: 'Start replay' }).click()
  await table.getByText('Running').waitFor()
  await table.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('dialog', { name: 'Cancel replay' }).getByRole('button', { name: 'Stop sending' }).click()
  await table.getByText('Cancelled').waitFor()
  await screenshot(page, 'replays')

  await page.getByRole('tab', { name: 'Settings' }).click()
  const header = page.getByRole('textbox', { name: 'Header 1' })
  await header.waitFor()
  await expect.poll(() => header.inputValue()).toBe('authorization')
  await expect.poll(() => page.getByLabel('Value 1').inputValue()).toBe('')
  await expect.poll(() => page.getByLabel('Keep the order of each conversation').isChecked()).toBe(true)
  expect(await page.content()).not.toContain('never-shown')
  // Another change leaves the headers alone.
  await page.getByLabel('Name').fill('Gateway 2')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Webhook saved').waitFor()
  expect(await saved()).toMatchObject({ name: 'Gateway 2', senders, headers: ['authorization'] })
  await page.getByRole('button', { name: 'Remove header 1' }).click()
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByRole('button', { name: 'Add header' }).waitFor()
  await expect.poll(async () => (await saved()).headers).toEqual([])
})

async function choose(page: Page, field: Locator, name: string | RegExp): Promise<void> {
  await field.click()
  await page.getByRole('option', { name }).click()
}

/** Puts the clock of the browser an hour ahead. */
const skew = `(() => {
  const Real = Date
  const now = () => Real.now() + 3_600_000
  globalThis.Date = class extends Real {
    constructor(...given) { given.length === 0 ? super(now()) : super(...given) }
    static now() { return now() }
  }
})()`

test('a failing webhook counts down to its next attempt, by the clock of the service', async () => {
  const { receiver, id } = await newWebhook('Countdown')
  receiver.behave(503)
  for (const text of ['Is anyone there?', 'Hello?']) await say(text)
  const webhook = async () => (await console.ada.call(`/w/${console.place.workspaceId}/webhooks/${id}`)).body
  // Each message has two attempts. Ten seconds later, the next one would change what is shown.
  await until('all have failed', async () => (await webhook()).failures === 4)
  await console.db.change(`update deliveries set due_at = due_at + interval '1 minute' where webhook_id = $1`, [
    id.replace('whk_', ''),
  ])
  const page = await console.open('webhooks')
  await page.evaluate(skew)
  await console.visit(page, `webhooks/${id}`)
  const notice = page.getByText(/^Failing 4 of 20\..* Next attempt in \d+ s\.$/)
  await notice.waitFor()
  const nextAt = Date.parse((await webhook()).next_attempt_at)
  /** The seconds that the page shows, once they are the seconds that there are. A busy browser may show them late. */
  const read = (what: string, isWanted: (shown: number) => boolean) =>
    until(what, async () => {
      const shown = Number(/in (\d+) s/.exec((await notice.textContent()) ?? '')?.[1])
      return Math.abs(shown - (nextAt - Date.now()) / 1000) < 2.5 && isWanted(shown) && shown
    })
  const first = await read('the time of the database counts', (shown) => shown > 5)
  await screenshot(page, 'webhook failing')
  await read('it counts down', (shown) => shown <= first - 2)

  await console.visit(page, 'webhooks')
  await page.getByRole('row', { name: /Countdown.*4 of 20, next in \d+ s/ }).waitFor()
  await console.visit(page, `deliveries?webhook=${id}&state=waiting`)
  await page
    .getByRole('row', { name: /message\.received.*due in \d+ s.*2 of 8/ })
    .first()
    .click()
  await page
    .getByRole('dialog')
    .getByText(/Attempt 3 of 8 in \d+ s\./)
    .waitFor()
  await page.goto('about:blank')
})
