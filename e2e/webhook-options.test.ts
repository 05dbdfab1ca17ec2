import { expect, test } from 'vitest'
import { screenshot } from '../server/testing/browser.ts'
import { useSignedIn } from './signed-in.ts'

const console = useSignedIn()

test('a webhook can have a filter, keep the order and have headers, whose values are not shown again', async () => {
  const page = await console.open('webhooks')
  await page.getByRole('button', { name: 'Create webhook' }).first().click()
  const form = page.getByRole('dialog', { name: 'Create webhook' })
  await form.getByLabel('Name').fill('Gateway')
  await form.getByLabel('URL').fill('http://127.0.0.1:9/gateway')
  await form.getByRole('combobox', { name: 'Senders' }).click()
  await page.getByRole('option').first().click()
  await form.getByLabel('Name').click()
  await form.getByLabel('Keep the order of each conversation').check({ force: true })
  await form.getByRole('button', { name: 'Add header' }).click()
  await form.getByRole('textbox', { name: 'Header 1' }).fill('Authorization')
  await form.getByLabel('Value 1').fill('Bearer never-shown')
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
