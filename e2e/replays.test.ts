import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { screenshot } from '../server/testing/browser.ts'
import { useReceivers } from '../server/testing/receiver.ts'
import { until } from '../server/testing/until.ts'
import { useSignedIn } from './signed-in.ts'

const console = useSignedIn()
const newReceiver = useReceivers()

const write = (text: string) => console.place.control('POST', '/phones/16505550123/say', { to: '15550780001', text })

async function choose(page: Page, field: Locator, name: string): Promise<void> {
  await field.click()
  await page.getByRole('option', { name }).click()
}

test('a new webhook gets past events too; a replay is started with a preview, shows its progress and can be cancelled', async () => {
  const receiver = await newReceiver()
  // Enough for a replay at one per second to be cancelled on the way.
  for (let n = 1; n <= 20; n++) await write(`message ${n}`)
  const page = await console.open('webhooks')
  await page.getByRole('button', { name: 'Create webhook' }).first().click()
  const form = page.getByRole('dialog', { name: 'Create webhook' })
  await form.getByLabel('Name').fill('Booking system')
  await form.getByLabel('URL').fill(receiver.url)
  await choose(page, form.getByRole('combobox', { name: 'Past events' }), 'Also events of the last 7 days')
  await form.getByRole('button', { name: 'Create webhook' }).click()
  await page.getByRole('dialog', { name: 'Your new webhook' }).waitFor()
  await until('the past events have arrived', () => receiver.received.length === 20)
  expect(new Set(receiver.received.map(({ headers }) => headers['service-replay'])).size).toBe(1)

  const [webhook] = (await console.ada.call(`/w/${console.place.workspaceId}/webhooks`)).body.data
  await console.visit(page, `webhooks/${webhook.id}?tab=replays`)
  const table = page.getByRole('table', { name: 'Replays' })
  await table.getByText('20 of 20 delivered').waitFor()
  await table.getByText('Completed').waitFor()

  await page.getByRole('button', { name: 'Replay events' }).click()
  const dialog = page.getByRole('dialog', { name: 'Replay events' })
  await dialog.getByText('It covers no events.').waitFor()
  await choose(page, dialog.getByRole('combobox', { name: 'Which events' }), 'All events, including delivered ones')
  await dialog.getByText('It covers 20 events.').waitFor()
  await dialog.getByLabel('Pace').fill('1')
  await screenshot(page, 'replay dialog')
  await dialog.getByRole('button', { name: 'Start replay' }).click()
  await table.getByText('Running').waitFor()
  await table.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('dialog', { name: 'Cancel replay' }).getByRole('button', { name: 'Stop sending' }).click()
  await table.getByText('Cancelled').waitFor()
  await screenshot(page, 'replays')
})
