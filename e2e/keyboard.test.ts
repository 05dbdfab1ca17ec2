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

test('a list stays in use next to its drawer, and has the focus back when the drawer closes', async () => {
  const { ada, place } = console
  const keys = `/w/${place.workspaceId}/keys`
  const create = async (name: string): Promise<string> => {
    const body = { name, scopes: ['messages:read'], rate_limit_per_min: 10, ip_allow_list: [], expires_at: null }
    return (await ada.call(keys, { method: 'POST', body })).body.key.id
  }
  const [first, second, third] = [await create('One'), await create('Two'), await create('Three')]
  const page = await openAt('team')
  // While rows are loading, nothing looks like a row that could be clicked.
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  await page.route(/\/keys(\?|$)/, async (route) => {
    await released
    await route.continue()
  })
  await console.visit(page, 'keys')
  await page.locator('tbody[data-rows] tr').first().waitFor()
  expect(await page.getByRole('row').count()).toBe(1)
  release()

  const row = (name: string) => page.getByRole('row', { name: new RegExp(`^${name} prl_`) })
  const drawer = (name: string) => page.getByRole('dialog', { name })
  const isAt = (id: string) =>
    until(`the address names ${id}`, () => new URL(page.url()).searchParams.get('open') === id)
  await row('Two').click()
  await drawer('Two').waitFor()
  await isAt(second)
  // Rows are newest first. A click shows another row, and the arrow keys and letters continue from there.
  await row('One').click()
  await drawer('One').waitFor()
  await isAt(first)
  await page.keyboard.press('ArrowUp')
  await drawer('Two').waitFor()
  await page.keyboard.press('k')
  await drawer('Three').waitFor()
  await isAt(third)
  await hasFocus(page, row('Three'))
  // Enter goes into the drawer, where j and k still move through the list.
  await page.keyboard.press('Enter')
  await hasFocus(page, drawer('Three'))
  await tabTo(page, drawer('Three').getByRole('button', { name: 'Next (j)' }))
  await page.keyboard.press('Enter')
  await drawer('Two').waitFor()
  // The list has changed in the meantime: the focus still returns to the row.
  await create('Four')
  await row('Four').waitFor()
  await page.keyboard.press('Escape')
  await drawer('Two').waitFor({ state: 'detached' })
  await hasFocus(page, row('Two'))
  expect(page.url()).not.toContain('open=')

  // Back closes it, however many rows were opened, and Forward opens it again.
  await page.keyboard.press('Enter')
  await page.keyboard.press('j')
  await drawer('One').waitFor()
  await page.goBack()
  await drawer('One').waitFor({ state: 'detached' })
  await hasFocus(page, row('One'))
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'Team' }).waitFor()
  await page.goForward()
  await page.goForward()
  await drawer('One').waitFor()

  // On a phone it covers the page, and j and k work there too.
  await page.setViewportSize({ width: 390, height: 844 })
  await page.locator('[aria-modal="true"]').getByRole('heading', { name: 'One' }).waitFor()
  await page.keyboard.press('k')
  await drawer('Two').waitFor()
  await page.keyboard.press('Escape')
  await drawer('Two').waitFor({ state: 'detached' })
  await hasFocus(page, page.getByRole('row', { name: /^Two prl_/ }))
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
