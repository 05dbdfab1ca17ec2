import { expect, test } from 'vitest'
import { screenshot } from '../server/testing/browser.ts'
import { pageReady } from './page-ready.ts'
import { useSignedIn } from './signed-in.ts'

/** "Connect WhatsApp": an operator sets up a Meta app and an account in the browser. The simulator is in place of Meta. */
const console = useSignedIn()

test('an operator connects an empty app, and a message arrives', async () => {
  const { place } = console
  const app = await place.control('POST', '/apps', { name: 'Shop app' })
  const waba = await place.control('POST', '/wabas', { name: 'Shop', appIds: [] })
  await place.control('POST', '/numbers', { wabaId: waba.id, phoneNumber: '15553300001', verifiedName: 'Shop' })
  const { token } = await place.control('POST', '/tokens', { appId: app.id, wabaIds: [waba.id] })
  const other = 'http://127.0.0.1:9/other'
  await place.control('PUT', `/apps/${app.id}/callback`, { url: other, verify: false })
  const callback = async () => {
    const apps: { id: string; callbackUrl: string }[] = await place.control('GET', '/apps')
    return apps.find(({ id }) => id === app.id)?.callbackUrl
  }

  const page = await console.open('/operator/apps', { expects: /400|422/ })
  await page.getByRole('button', { name: 'Connect WhatsApp' }).click()
  const form = page.getByRole('dialog', { name: 'Connect WhatsApp' })
  await form.getByLabel('App ID').fill(app.id)
  await form.getByLabel('App secret').fill('wrong')
  await form.getByLabel('Access token').fill(token)
  await form.getByLabel('Graph API URL').fill(place.simulatorUrl)
  await form.getByRole('button', { name: 'Check' }).click()
  await form.getByText(`The app secret is not that of app ${app.id}.`).waitFor()
  expect(await form.getByLabel('App secret').getAttribute('aria-invalid')).toBe('true')
  await form.getByLabel('App secret').fill(app.secret)
  await form.getByRole('button', { name: 'Check' }).click()

  const step = (name: string) =>
    page.getByRole('list', { name: 'Steps' }).getByRole('listitem').filter({ hasText: name })
  await step('Webhook').getByText('Conflict').waitFor()
  await step('Webhook').getByText(other).first().waitFor()
  await step('Subscription').getByText('Would change').waitFor()
  await pageReady(page)
  await screenshot(page, 'connecting WhatsApp')
  expect(await callback()).toBe(other)
  await page.getByRole('button', { name: 'Back', exact: true }).click()
  expect(await form.getByLabel('App ID').inputValue()).toBe(app.id)
  await form.getByRole('button', { name: 'Check' }).click()
  await page.getByRole('button', { name: 'Replace the callback' }).click()
  await step('Webhook').getByText('Changed').waitFor()
  await page.getByText('Everything is set up. Write to one of the numbers').waitFor()
  await screenshot(page, 'connected WhatsApp')
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('table', { name: 'Connections' }).getByText(waba.id).first().waitFor()
  expect(await callback()).toContain(`${place.url}/network/whatsapp/`)

  await place.control('POST', '/phones/16505550123/say', { to: '15553300001', text: 'Are you open?' })
  await console.visit(page, 'messages')
  await page.getByText('Are you open?').first().waitFor()
})
