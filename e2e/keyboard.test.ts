import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { useReceivers } from '../server/testing/receiver.ts'
import { until } from '../server/testing/until.ts'
import { useSignedIn } from './signed-in.ts'

/** Everything here is done by keyboard. */
const console = useSignedIn()
const newReceiver = useReceivers()

const openAt = (path: string) => console.open(path, { permissions: ['clipboard-read', 'clipboard-write'] })

test('a key can be created and copied by keyboard alone', async () => {
  const page = await openAt('keys')
  const open = page.getByRole('button', { name: 'Create key' })
  await tabTo(page, open)
  await page.keyboard.press('Enter')
  const form = page.getByRole('dialog', { name: 'Create key' })
  await hasFocus(page, form.getByLabel('Name'))
  await page.keyboard.press('Escape')
  await form.waitFor({ state: 'detached' })
  await hasFocus(page, open)

  await page.keyboard.press('Enter')
  await hasFocus(page, form.getByLabel('Name'))
  await page.keyboard.type('Order service')
  await tabTo(page, form.getByRole('button', { name: 'Read only' }))
  await page.keyboard.press('Enter')
  await tabTo(page, form.getByLabel('Rate limit per minute').first())
  await page.keyboard.press('ArrowUp')
  await tabTo(page, form.getByRole('button', { name: 'Create key' }))
  await page.keyboard.press('Enter')
  const made = page.getByRole('dialog', { name: 'Your new key' })
  await made.waitFor()
  // Esc must not close the dialog with the secret.
  await page.keyboard.press('Escape')
  await tabTo(page, made.getByRole('button', { name: 'Copy', exact: true }).first())
  await page.keyboard.press('Enter')
  await made.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^prl_live_\w+$/)
  await tabTo(page, made.getByRole('button', { name: 'Done' }))
  await page.keyboard.press('Enter')
  await made.waitFor({ state: 'detached' })
  await page.getByRole('row', { name: /Order service.*31\/min/ }).waitFor()
  await hasFocus(page, open)
})

test('a delivery can be opened and retried by keyboard alone', async () => {
  const { ada, place } = console
  const receiver = await newReceiver()
  const body = { name: 'Booking system', url: receiver.url, events: ['message.received'] }
  await ada.call(`/w/${place.workspaceId}/webhooks`, { method: 'POST', body })
  for (const text of ['first', 'second'])
    await place.control('POST', '/phones/16505550123/say', { to: '15550780001', text })
  await until('both arrive', () => receiver.received.length === 2)

  const page = await openAt('webhooks')
  await page.getByRole('row', { name: /Booking system/ }).waitFor()
  await page.keyboard.press('j')
  await hasFocus(page, page.getByRole('row', { name: /Booking system/ }))
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Booking system' }).waitFor()
  const rows = page.getByRole('row', { name: /message\.received.*Delivered/ })
  await rows.nth(1).waitFor()
  await page.keyboard.press('j')
  await hasFocus(page, rows.first())
  await page.keyboard.press('ArrowDown')
  await hasFocus(page, rows.nth(1))
  await page.keyboard.press('k')
  await hasFocus(page, rows.first())
  await page.keyboard.press('Enter')
  const drawer = page.getByRole('dialog', { name: 'message.received' })
  const retry = drawer.getByRole('button', { name: 'Retry', exact: true })
  await retry.waitFor()
  await tabTo(page, retry)
  await page.keyboard.press('Enter')
  const asking = page.getByRole('dialog', { name: 'Send a delivered event again' })
  await tabTo(page, asking.getByRole('button', { name: 'Send again' }))
  await page.keyboard.press('Enter')
  await page.getByText('Retry queued').first().waitFor()
  await until('it arrives again', () => receiver.received.length === 3)
  const ids = receiver.received.map(({ id }) => id)
  expect(ids.slice(0, 2)).toContain(ids[2])
  await drawer.getByText('Manual retry').waitFor()
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'detached' })
  await hasFocus(page, page.getByRole('row', { name: ids[2] ?? '' }))
})

/** Presses Tab until the target has the focus. Fails if Tab does not reach it. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press('Tab')
    if (await isFocused(page, target)) return
  }
  throw new Error(`Tab does not lead to ${target}`)
}

const isFocused = async (page: Page, target: Locator): Promise<boolean> =>
  (await page.locator(':focus').and(target).count()) > 0

const hasFocus = (page: Page, target: Locator) => until(`the focus is on ${target}`, () => isFocused(page, target))
