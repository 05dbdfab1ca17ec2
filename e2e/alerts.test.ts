import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { screenshot } from '../server/testing/browser.ts'
import { useReceivers } from '../server/testing/receiver.ts'
import { until } from '../server/testing/until.ts'
import { animationsDone, pageReady } from './page-ready.ts'
import { useSignedIn } from './signed-in.ts'

const console = useSignedIn()
const newReceiver = useReceivers()
const call = (path: string, body?: object) =>
  console.ada.call(`/w/${console.place.workspaceId}/${path}`, body ? { method: 'POST', body } : {})

async function newWebhook(name: string): Promise<string> {
  const { url } = await newReceiver()
  const { body } = await call('webhooks', { name, url, events: ['credits.low', 'webhook.disabled'] })
  return body.webhook.id
}

const bellOf = (page: Page, name: RegExp | string) => page.getByRole('button', { name })

test('the bell counts open problems, and closes after a link to the page that is open', async () => {
  const page = await console.open('webhooks')
  await bellOf(page, 'No open problems').click()
  const panel = page.getByRole('dialog', { name: 'Open problems' })
  await panel.getByText('No open problems').waitFor()
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'hidden' })

  const id = await newWebhook('Watchtower')
  await call(`webhooks/${id}/disable`, { reason: 'Moving to another host.' })
  await bellOf(page, '1 open problem').click()
  await panel.getByText('Watchtower is disabled').waitFor()
  await animationsDone(page)
  await screenshot(page, 'bell')
  await panel.getByRole('link', { name: /Watchtower is disabled/ }).click()
  await page.getByRole('heading', { level: 1, name: 'Watchtower' }).waitFor()
  await panel.waitFor({ state: 'hidden' })
  // Once more, from the page that the link leads to.
  await bellOf(page, '1 open problem').click()
  await panel.getByRole('link', { name: /Watchtower is disabled/ }).click()
  await panel.waitFor({ state: 'hidden' })
  await call(`webhooks/${id}/enable`, {})
  await bellOf(page, 'No open problems').waitFor()
})

test('a bell that could not load the problems does not say that there are none', async () => {
  const page = await console.open('senders', { expects: /problems/ })
  await page.route('**/problems', (route) => route.fulfill({ status: 500, body: '{}' }))
  await page.reload()
  const bell = bellOf(page, 'Open problems could not be loaded')
  await bell.waitFor()
  expect(await bellOf(page, 'No open problems').count()).toBe(0)
  await bell.click()
  const dialog = page.getByRole('dialog', { name: 'Open problems' })
  await dialog.getByText('could not be loaded').waitFor()
  const again = page.getByRole('button', { name: 'Try again' })
  const requested = page.waitForRequest('**/problems')
  await again.click()
  await requested
  await page.unroute('**/problems')
  // A change in the workspace loads them too, and then there is no button any more.
  await until('they are loaded', async () => {
    await again.click({ timeout: 1_000 }).catch(() => {})
    return dialog.getByText('No open problems').isVisible()
  })
})

test('the page of alerts shows channels, subscribers and when each last happened, without a mail server', async () => {
  await newWebhook('Bookkeeping')
  const { balance } = (await call('credits')).body
  await console.ada.call(`/operator/workspaces/${console.place.workspaceId}/credits`, {
    method: 'POST',
    body: { amount: 50 - balance, note: 'test' },
  })
  await until('it is recorded', async () => {
    const alerts: { kind: string; last_at: string | null }[] = (await call('alerts')).body.data
    return alerts.some(({ kind, last_at: at }) => kind === 'credits_low' && at !== null)
  })
  const page = await console.open('alerts')
  const row = (name: RegExp) => page.getByRole('row', { name })
  await row(/Credits are low.*credits\.low.*Bookkeeping.*50 left/).waitFor()
  await page.getByText('This installation sends no emails yet.').waitFor()
  await row(/An API key expires soon.*No event.*Not yet/).waitFor()
  await pageReady(page)
  await screenshot(page, 'alerts')

  const email = page.getByRole('switch', { name: 'Email to you: Credits are low' })
  await expect.poll(() => email.isChecked()).toBe(true)
  await email.click({ force: true })
  await page.getByText('You will not get this email again').first().waitFor()
  await until('the choice is saved', async () => {
    const { choices } = (await console.ada.call('/account/notifications')).body
    return choices.some(({ kind, wanted }: { kind: string; wanted: boolean }) => kind === 'credits_low' && !wanted)
  })
  await row(/Credits are low/)
    .getByRole('link', { name: 'Bookkeeping' })
    .click()
  await page.getByRole('heading', { level: 1, name: 'Bookkeeping' }).waitFor()
})

test('the bell and the alerts fit on a phone', async () => {
  const page = await console.open('alerts', { viewport: { width: 390, height: 800 }, colorScheme: 'dark' })
  await page.getByText('Credits are low').first().waitFor()
  await pageReady(page)
  await screenshot(page, 'alerts phone')
  const bell = bellOf(page, /open problem/)
  const { width = 0, height = 0 } = (await bell.boundingBox()) ?? {}
  expect(Math.min(width, height)).toBeGreaterThanOrEqual(44)
  await bell.click()
  await page.getByRole('dialog', { name: 'Open problems' }).waitFor()
  await animationsDone(page)
  await screenshot(page, 'bell phone')
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
})
