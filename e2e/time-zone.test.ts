import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { screenshot } from '../server/testing/browser.ts'
import { until } from '../server/testing/until.ts'
import { useSignedIn } from './signed-in.ts'

/** The browser is in Berlin and the person has chosen New York: every time is in New York, also those that are entered. */
const console = useSignedIn()
const berlin = { timezoneId: 'Europe/Berlin', locale: 'en-US' }
const zone = 'America/New_York'
let messageId: string
let at: string
let webhookId: string

beforeAll(async () => {
  const { control, workspaceId } = console.place
  await control('POST', '/phones/16505550123/say', { to: '15550780001', text: 'What time is it?' })
  const rows = async () => (await console.ada.call(`/w/${workspaceId}/messages`)).body.data
  const [message] = await until('it has arrived', async () => ((await rows()).length > 0 ? rows() : undefined))
  messageId = message.id
  at = message.at
  const webhook = { name: 'Clock', url: 'http://127.0.0.1:9', events: ['message.received'] }
  const created = await console.ada.call(`/w/${workspaceId}/webhooks`, { method: 'POST', body: webhook })
  webhookId = created.body.webhook.id
})

/** The short time as the console shows it. */
const shown = (iso: string, timeZone: string) =>
  new Intl.DateTimeFormat('en-US', { hour: 'numeric', minute: '2-digit', timeZone }).format(new Date(iso))

const choose = async (page: Page, name: string) => {
  await page.getByRole('combobox', { name: 'Time zone' }).fill(name)
  await page.getByRole('option', { name }).click()
  await page.getByText('Time zone saved').first().waitFor()
}

test('times are in the zone of the browser until the person chooses another one', async () => {
  const page = await console.open('contacts/16505550123', berlin)
  await page.getByText(shown(at, 'Europe/Berlin')).first().waitFor()
  await console.visit(page, '/account')
  await page.getByText(/It is now .* GMT\+[12]\./).waitFor()
  await choose(page, 'America/New York')
  await page.getByText(/It is now .* (EST|EDT)\./).waitFor()
  await screenshot(page, 'account with a time zone')
  // After a load, too.
  await page.goto(`${console.place.url}/w/${console.place.workspaceId}/contacts/16505550123`)
  await page.getByText(shown(at, zone)).first().waitFor()
  expect(await page.getByText(shown(at, 'Europe/Berlin'), { exact: true }).count()).toBe(0)
  await console.visit(page, `messages/${messageId}`)
  await page
    .getByText(/(EST|EDT)/)
    .first()
    .waitFor()
})

test('the charts are in the chosen zone', async () => {
  const page = await console.open('', berlin)
  const { body } = await console.ada.call(`/w/${console.place.workspaceId}/overview?period=24h`)
  await page.getByText(shown(body.steps[0], zone), { exact: true }).first().waitFor()
})

test('a date filter is entered and shown in the chosen zone', async () => {
  const page = await console.open('messages', berlin)
  await page.getByRole('search').getByRole('button', { name: 'Time' }).click()
  await page.getByLabel('From').fill('2026-01-05T08:00')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.waitForURL(/from=2026-01-05T13:00:00\.000Z/)
  await page.getByText('since Jan 5, 8:00 AM').waitFor()
})

test('"since" of replays and of retries is in the chosen zone', async () => {
  const page = await console.open(`webhooks/${webhookId}`, berlin)
  const requests: string[] = []
  page.on('request', (request) => {
    requests.push(decodeURIComponent(`${request.url()} ${request.postData() ?? ''}`))
  })
  const enterTime = async (title: string) => {
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: title }).press('Enter')
    const dialog = page.getByRole('dialog', { name: title })
    await dialog.getByText('Since…').click()
    await dialog.getByLabel('Since', { exact: true }).fill('2026-11-16T08:00')
    await dialog.getByText(`Time zone: ${zone}`).waitFor()
    return dialog
  }
  const isSentTo = (path: string) =>
    until(`the time is sent to ${path}`, () =>
      requests.some((each) => each.includes(path) && each.includes('2026-11-16T13:00:00.000Z')),
    )
  const retries = await enterTime('Retry failed deliveries')
  await retries.getByRole('button', { name: 'Retry deliveries' }).click()
  await isSentTo('recover')
  await retries.waitFor({ state: 'detached' })
  await enterTime('Replay events')
  await isSentTo('replay_preview')
})
