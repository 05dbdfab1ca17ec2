import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { screenshot, useBrowser } from '../server/testing/browser.ts'
import { until } from '../server/testing/until.ts'
import { useSignedIn } from './signed-in.ts'

/** A template from the first letter in the editor to a phone. */
const console = useSignedIn()
const browser = useBrowser()
const marta = { name: 'Marta', number: '491700000007' }

test('a template is written, rejected with a reason at its part, edited, approved and sent to a phone', async () => {
  const { place } = console
  // The test decides when the review ends.
  await place.control('PATCH', '/switches', { templateReviewMs: 3_600_000 })
  await place.control('PATCH', `/phones/${marta.number}`, { name: marta.name })
  const page = await console.open('templates')
  await page.getByRole('link', { name: 'Create template' }).click()

  // The rules are checked while the person types, and the list leads to what is missing.
  const name = page.getByLabel('Name', { exact: true })
  const missing = page.getByRole('button', { name: 'Enter the text of the body.' })
  await missing.waitFor()
  await name.fill('Payment Reminder')
  await expect.poll(() => descriptionOf(name)).toContain('Use only lower-case letters')
  await name.fill('payment_reminder')
  await expect.poll(() => descriptionOf(name)).not.toContain('Use only')
  await missing.click()
  await page.keyboard.type('Hello ')
  await page.getByRole('button', { name: 'Add variable' }).click()
  await page.keyboard.press('End')
  await page.keyboard.type(', pay the invoice today or we take legal action.')
  const preview = page.getByRole('region', { name: 'Preview' })
  await preview.getByText('Hello {{1}}, pay the invoice').waitFor()
  await page.getByLabel('Example for {{1}}').fill('Ana')
  await preview.getByText('Hello Ana, pay the invoice today').waitFor()
  await page.getByText('Ready.').waitFor()
  await page.getByRole('button', { name: 'Submit for review' }).click()
  await page.getByText('In review').waitFor()

  // The decision appears on the open page.
  const { data } = (await console.ada.call(`/w/${place.workspaceId}/templates?q=payment_reminder`)).body
  expect(data).toMatchObject([{ status: 'PENDING', category: 'UTILITY' }])
  await decide('payment_reminder', { status: 'REJECTED', reason: 'ABUSIVE_CONTENT' })
  const card = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Rejected by WhatsApp' }) })
  await card.getByText('Body', { exact: true }).waitFor()
  await card.getByText('The body threatens the customer.').waitFor()
  await screenshot(page, 'a rejected template')
  await page.getByRole('link', { name: 'Edit and submit again' }).click()
  const body = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Body' }) })
  await body.getByText('The body threatens the customer.').waitFor()
  await screenshot(page, 'the editor of a rejected template')
  await place.control('PATCH', '/switches', { templateReviewMs: 0 })
  await body.getByLabel('Text', { exact: true }).fill('Hello {{1}}, please pay the invoice when you can.')
  await page.getByRole('button', { name: 'Submit for review' }).click()
  await page.getByText('Approved', { exact: true }).waitFor()

  await page.getByLabel('body.1').fill('Marta')
  await page.getByRole('button', { name: 'Send test message' }).click()
  const dialog = page.getByRole('dialog', { name: 'Send test message' })
  await dialog.getByLabel('To', { exact: true }).fill(`+${marta.number}`)
  await dialog.getByRole('button', { name: 'Send', exact: true }).click()
  await page.waitForURL(/\/messages\/msg_/)

  const handset = await browser.newPage()
  await handset.goto(place.simulatorUrl)
  await handset.getByRole('button', { name: `${marta.name} +49` }).click()
  const bubble = handset
    .getByRole('log')
    .locator('[data-id]')
    .filter({ hasText: 'Hello Marta, please pay the invoice' })
  await bubble.waitFor()
})

/** The texts that a screen reader reads with the field. */
async function descriptionOf(field: Locator): Promise<string> {
  const ids = ((await field.getAttribute('aria-describedby')) ?? '').split(' ').filter(Boolean)
  const texts = await Promise.all(ids.map((id) => field.page().locator(`[id="${id}"]`).textContent()))
  return texts.join(' ')
}

/** Ends the review of a template at the simulated network. */
async function decide(name: string, review: object): Promise<void> {
  const { control } = console.place
  const found = await until('the network has the template', async () =>
    ((await control('GET', '/templates')) as { id: string; name: string }[]).find((each) => each.name === name),
  )
  await control('PATCH', `/templates/${found.id}`, review)
}
