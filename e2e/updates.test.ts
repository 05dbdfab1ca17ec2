import { createHmac } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { screenshot } from '../server/testing/browser.ts'
import { violations } from './axe.ts'
import { layoutProblems } from './layout-problems.ts'
import { animationsDone, pageReady } from './page-ready.ts'
import { useSignedIn } from './signed-in.ts'
import { smallTargets } from './touch-targets.ts'

/** The page of what the network sent and was not understood completely. */
const console = useSignedIn()

beforeAll(async () => {
  const [app] = await console.place.control('GET', '/apps')
  const [number] = await console.place.control('GET', '/numbers')
  const metadata = { display_phone_number: number.phoneNumber, phone_number_id: number.id }
  const post = async (field: string, value: object) => {
    const change = { field, value: { messaging_product: 'whatsapp', metadata, ...value } }
    const body = JSON.stringify({
      object: 'whatsapp_business_account',
      entry: [{ id: number.wabaId, changes: [change] }],
    })
    const signature = `sha256=${createHmac('sha256', app.secret).update(body).digest('hex')}`
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signature }
    expect((await fetch(app.callbackUrl, { method: 'POST', body, headers })).status).toBe(200)
  }
  for (const id of ['wacid.1', 'wacid.2', 'wacid.3']) {
    await post('calls', { calls: [{ id, from: '16505550123', event: 'connect', direction: 'USER_INITIATED' }] })
  }
  const timestamp = String(Math.floor(Date.now() / 1000))
  const message = { from: '16505550123', id: 'wamid.odd', timestamp, type: 'text', text: { body: 'Hi', colour: 'red' } }
  await post('messages', { messages: [message] })
})

test('an operator finds an update by its field, sees which members were not read, with the keyboard alone, and also on a phone', async () => {
  const page = await console.open('/operator/updates', { isDrawn: true, bypassCSP: true })
  const counts = page.getByRole('table', { name: 'Updates by field' })
  await counts.getByRole('row', { name: /calls Unknown field 3/ }).waitFor()
  await counts.getByRole('row', { name: /messages Partly understood 1/ }).waitFor()
  await pageReady(page)
  await screenshot(page, 'network updates')
  expect(await violations(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  await animationsDone(page)
  await screenshot(page, 'network updates, dark')
  expect(await violations(page, { rules: ['color-contrast'] })).toEqual([])

  const list = page.getByRole('table', { name: 'Network updates' })
  await counts.getByRole('row', { name: /messages Partly understood/ }).focus()
  await page.keyboard.press('Enter')
  await list.getByText('calls').first().waitFor({ state: 'detached' })
  await list.getByRole('row', { name: /text\.colour/ }).focus()
  await page.keyboard.press('Enter')
  const drawer = page.getByRole('dialog')
  await drawer.getByText('messages.0.text.colour').waitFor()
  await drawer.getByText('"red"').waitFor()
  await animationsDone(page)
  await screenshot(page, 'network update, dark')
  expect(await violations(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'light' })
  await animationsDone(page)
  await screenshot(page, 'network update')
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'detached' })

  // A filter begins at the newest update again.
  const { data } = (await console.ada.call('/operator/updates')).body
  await console.visit(page, `/operator/updates?before=${data[0].id}`)
  await page.getByRole('button', { name: 'Newest updates' }).waitFor()
  await page.getByRole('search').getByRole('button', { name: 'Field' }).click()
  await page.getByRole('option', { name: 'messages' }).click()
  await list.getByRole('row', { name: /text\.colour/ }).waitFor()
  await page.keyboard.press('Escape')

  // On a phone.
  await page.setViewportSize({ width: 390, height: 844 })
  await pageReady(page)
  await screenshot(page, 'network updates on a phone')
  expect(await layoutProblems(page)).toEqual([])
  expect(await smallTargets(page)).toEqual([])
  await page.getByText('Partly understood').last().click()
  await page.getByRole('dialog').getByText('Not read').first().waitFor()
  await animationsDone(page)
  await screenshot(page, 'network update on a phone')
  expect(await layoutProblems(page)).toEqual([])
})
