import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { screenshot } from '../server/testing/browser.ts'
import { type Receiver, useReceivers } from '../server/testing/receiver.ts'
import { until } from '../server/testing/until.ts'
import { pageReady } from './page-ready.ts'
import { ada, useSignedIn } from './signed-in.ts'

/** The first steps on the overview: each is done in the list, with the handset next to it, and ticked when it is done. */
const console = useSignedIn()
const newReceiver = useReceivers()

const step = (page: Page, title: string) =>
  page
    .getByRole('main')
    .getByRole('listitem')
    .filter({ has: page.locator('strong', { hasText: title }) })

const isDone = async (page: Page, title: string) => (await step(page, title).getByText('(done)').count()) === 1

const ticked = (page: Page, title: string) => step(page, title).getByText('(done)').waitFor({ state: 'attached' })

const phone = (page: Page) => page.frameLocator('iframe[title="Handset"]')

test('send, receive, reply and verifying a webhook are done in the list and ticked live', async () => {
  const page = await console.open('')
  const handset = phone(page)
  await handset.getByRole('textbox', { name: 'Message' }).waitFor()
  await pageReady(page)
  await screenshot(page, 'onboarding')
  for (const title of ['Send a message', 'Receive a message', 'Reply to a message', 'Verify a webhook'])
    expect(await isDone(page, title), title).toBe(false)

  const sending = step(page, 'Send a message')
  await sending.getByRole('button', { name: 'Send message' }).click()
  await expect.poll(() => sending.getByRole('combobox', { name: 'To' }).inputValue()).toBe('+1 650-555-0123')
  await expect.poll(() => sending.getByLabel('From', { exact: true }).inputValue()).toContain('+1 555-078-0001')
  await expect.poll(() => sending.getByLabel('Template', { exact: true }).inputValue()).toBe('hello_world · en_US')
  await screenshot(page, 'onboarding, sending')
  await sending.getByRole('button', { name: 'Send', exact: true }).click()
  await ticked(page, 'Send a message')
  await handset.getByRole('log').getByText('Hello World').first().waitFor()
  await sending.getByRole('link', { name: 'View message' }).waitFor()
  await sending.getByRole('button', { name: 'Close' }).click()

  const receiving = step(page, 'Receive a message')
  await receiving.getByRole('button', { name: 'Receive message' }).click()
  await receiving.getByText('Waiting for a message…').waitFor()
  await handset.getByRole('textbox', { name: 'Message' }).fill('Is my order ready?')
  await handset.getByRole('textbox', { name: 'Message' }).press('Enter')
  await receiving.getByText('Is my order ready?').waitFor()
  await ticked(page, 'Receive a message')
  expect(await isDone(page, 'Reply to a message')).toBe(false)

  const replying = step(page, 'Reply to a message')
  await replying.getByRole('button', { name: 'Reply' }).click()
  await replying.getByText('Is my order ready?').waitFor()
  await replying.getByLabel('Your reply').fill('Yes, since this morning.')
  await replying.getByRole('button', { name: 'Send reply' }).click()
  await ticked(page, 'Reply to a message')
  await handset.getByRole('log').getByText('Yes, since this morning.').first().waitFor()
  await screenshot(page, 'onboarding, replied')

  const receiver = await createWebhook(page)
  const verifying = step(page, 'Verify a webhook')
  receiver.behave(500)
  await verifying.getByRole('button', { name: 'Send test event' }).click()
  await verifying.getByRole('button', { name: 'Send test event' }).click()
  await verifying.getByText('The endpoint returned 500.').waitFor()
  expect(await isDone(page, 'Verify a webhook')).toBe(false)
  receiver.behave(200)
  await verifying.getByRole('button', { name: 'Send another' }).click()
  await verifying.getByText('The endpoint accepted the event.').waitFor()
  await ticked(page, 'Verify a webhook')
  await screenshot(page, 'onboarding, verified')
})

async function createWebhook(page: Page): Promise<Receiver> {
  const receiver = await newReceiver()
  const creating = step(page, 'Create a webhook')
  await creating.getByRole('button', { name: 'Create webhook' }).click()
  await creating.getByLabel('URL').fill('nowhere')
  await creating.getByRole('button', { name: 'Create webhook' }).click()
  await creating.getByText('Enter a full URL').waitFor()
  await creating.getByLabel('URL').fill(receiver.url)
  await creating.getByRole('button', { name: 'Create webhook' }).click()
  const confirming = page.getByRole('dialog', { name: 'Confirm' })
  const secret = page.getByRole('dialog', { name: 'Your new webhook' })
  await confirming.or(secret).first().waitFor()
  if (await confirming.isVisible()) {
    await confirming.getByLabel('Password').fill(ada.password)
    await confirming.getByRole('button', { name: 'Confirm' }).click()
  }
  await secret.getByText('./parley listen --port').waitFor()
  await secret.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Close without copying' }).click()
  await ticked(page, 'Create a webhook')
  return receiver
}

test('the handset follows the theme of the console, is a link on a narrow screen, and links to the conversation', async () => {
  const page = await console.open('')
  const theme = () => phone(page).locator('html').getAttribute('data-theme')
  await phone(page).getByRole('textbox', { name: 'Message' }).waitFor()
  expect(await theme()).toBe('light')
  await page.emulateMedia({ colorScheme: 'dark' })
  await expect.poll(theme).toBe('dark')
  await screenshot(page, 'onboarding, dark')
  await page.setViewportSize({ width: 900, height: 800 })
  await page.getByRole('link', { name: 'Open the handset' }).waitFor()
  expect(await page.locator('iframe').count()).toBe(0)
  await page.setViewportSize({ width: 1440, height: 900 })
  await phone(page).getByRole('link', { name: 'Open in the console' }).click()
  await page.waitForURL(/\/contacts\/16505550123$/)
})

test('without a simulator there is no frame, and the list can be hidden', async () => {
  const page = await console.open('/account')
  await page.route('**/console/api/session', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), simulator_url: null, simulator_phone: null } })
  })
  await page.goto(`${console.place.url}/w/${console.place.workspaceId}`)
  await step(page, 'Secure your account').waitFor()
  await pageReady(page)
  expect(await page.locator('iframe').count()).toBe(0)
  expect(await page.getByText('handset').count()).toBe(0)
  await page.getByRole('button', { name: 'Hide', exact: true }).click()
  await step(page, 'Secure your account').waitFor({ state: 'detached' })
})

test('a message links to its conversation on the handset, and the handset links back', async () => {
  const { control, workspaceId, url } = console.place
  await control('POST', '/phones/491701234567/say', { to: '15550780002', text: 'From Jörg' })
  const rows = async () => (await console.ada.call(`/w/${workspaceId}/messages?phone=491701234567`)).body.data
  const [message] = await until('it has arrived', async () => ((await rows()).length > 0 ? rows() : undefined))
  const page = await console.open(`messages/${message.id}`)
  const [handset] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('link', { name: 'Open on the handset' }).click(),
  ])
  await handset.getByRole('log').getByText('From Jörg').waitFor()
  await handset.getByText('+1 555-078-0002').first().waitFor()
  const back = handset.getByRole('link', { name: 'Open in the console' })
  expect(await back.getAttribute('target')).toBe('parley-console')
  // It leads from there to the contact, as the frame on the overview does.
  const address = (await back.getAttribute('href')) ?? ''
  await console.visit(page, address.replace(url, ''))
  await page.waitForURL(`${url}/w/${workspaceId}/contacts/491701234567`)
  await page.getByText('From Jörg').first().waitFor()

  await console.visit(page, '/conversation?phone=491701234567&sender=49999')
  await page.getByRole('heading', { name: 'Conversation not found' }).waitFor()
})

test('with traffic, what is wrong comes first, then figures, then one line of steps; live updates move nothing', async () => {
  const { control, workspaceId, db } = console.place
  for (let turn = 0; turn < 20; turn++) await control('POST', '/phones/16505550123/say', { text: `Question ${turn}` })
  const isNew = async () => (await console.ada.call(`/w/${workspaceId}/onboarding`)).body.is_new
  await until('the workspace is in use', async () => !(await isNew()))
  const page = await console.open('', { viewport: { width: 1280, height: 800 }, isDrawn: true })
  await page.evaluate(watchShifts)
  const topOf = async (name: string) => (await page.getByRole('region', { name }).boundingBox())?.y ?? Number.NaN
  await page.getByRole('region', { name: 'Messages' }).getByRole('link', { name: 'Received' }).waitFor()
  expect(await topOf('Needs attention')).toBeLessThan(await topOf('Messages'))
  expect(await topOf('Webhook response time')).toBeLessThan(800)
  expect(await topOf('Messages')).toBeLessThan(await topOf('Get started'))
  expect(await page.locator('iframe').count()).toBe(0)

  await db.change("update webhooks set enabled = false, disabled_reason = 'Down.' where workspace_id = $1", [
    workspaceId,
  ])
  db.notify(workspaceId, 'webhooks')
  const attention = page.getByRole('region', { name: 'Needs attention' })
  await attention.getByText('New:').waitFor()
  await page.getByRole('link', { name: '1 disabled' }).waitFor()
  expect(await page.evaluate<number>('window.shifted')).toBeLessThan(0.02)
  await attention.getByRole('button', { name: 'Show' }).click()
  await attention.getByRole('link', { name: 'Fix and enable' }).first().waitFor()

  await page.getByRole('region', { name: 'Get started' }).getByRole('button', { name: 'Show steps' }).click()
  await phone(page).getByRole('textbox', { name: 'Message' }).waitFor()
  await page.getByRole('button', { name: 'Fold' }).click()
  await page.getByRole('button', { name: 'Show steps' }).waitFor()
})

// Text, because the end-to-end tests have no DOM types.
const watchShifts = `window.shifted = 0
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shifted += value
  }).observe({ type: 'layout-shift', buffered: true })`
