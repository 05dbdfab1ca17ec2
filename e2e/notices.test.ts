import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { screenshot } from '../server/testing/browser.ts'
import { until } from '../server/testing/until.ts'
import { pageReady } from './page-ready.ts'
import { useSignedIn } from './signed-in.ts'

/** Templates, numbers and accounts: what people do with them, and what the network reports. */
const console = useSignedIn()
const wabaId = '102290000000001'
const marta = { name: 'Marta', number: '491700000007' }

test('a template with parts that are not supported says so, and cannot be sent', async () => {
  const { api, control } = console.place
  const buttons = { type: 'BUTTONS', buttons: [{ type: 'ORDER_DETAILS', text: 'Review and pay' }] }
  await control('POST', '/templates', {
    wabaId,
    name: 'pay_order',
    language: 'en',
    category: 'UTILITY',
    components: [{ type: 'BODY', text: 'Your order is ready.' }, buttons],
  })
  const page = await console.open('templates')
  await page.getByRole('button', { name: 'Sync now' }).first().click()
  const template = await until(
    'the template is synced',
    async () => (await api('/v1/templates?name=pay_order')).data[0],
  )
  await console.visit(page, `templates/${template.id}`)
  await page.getByText(template.not_sendable_reason).waitFor()
  await expect.poll(() => page.getByRole('button', { name: 'Send test message' }).isDisabled()).toBe(true)
  expect(await page.getByText('API request').count()).toBe(0)
  await screenshot(page, 'a template that cannot be sent')
})

test('an admin sets the PIN, requests a name and changes the profile of a number', async () => {
  const page = await console.open('senders', { expects: /400/ })
  const choose = async (item: string, dialog: string) => {
    await page.getByRole('button', { name: 'Actions for +1 555-078-0002' }).click()
    await page.getByRole('menuitem', { name: item }).click()
    return page.getByRole('dialog', { name: dialog })
  }
  const pin = await choose('Set two-step PIN…', 'Set two-step PIN')
  await pin.getByLabel('Two-step PIN', { exact: true }).fill('314159')
  await pin.getByRole('button', { name: 'Set two-step PIN' }).click()
  await pin.waitFor({ state: 'detached' })
  await console.place.control('PATCH', '/switches', { templateReviewMs: 3_600_000 })
  const name = await choose('Change display name…', 'Change display name')
  await name.getByLabel('Display name').fill('Harbour Lab')
  await name.getByRole('button', { name: 'Request name' }).click()
  await page.getByText('“Harbour Lab”: pending review').waitFor()
  const profile = await choose('Business profile…', 'Business profile')
  await profile.getByLabel('About').fill('Open 9 to 5')
  await profile.getByLabel('Websites').fill('clinic.example')
  await profile.getByRole('button', { name: 'Save profile' }).click()
  await profile.getByText('Enter websites as URLs').waitFor()
  await profile.getByLabel('Websites').fill('https://clinic.example')
  await profile.getByRole('button', { name: 'Save profile' }).click()
  await profile.waitFor({ state: 'detached' })
  const number = (await console.place.control('GET', '/numbers')).find(({ id }: { id: string }) => id.endsWith('2'))
  expect(number).toMatchObject({
    pin: '314159',
    profile: { about: 'Open 9 to 5', websites: ['https://clinic.example'] },
  })
  await screenshot(page, 'numbers with their limits')
})

test('two clicks show why a number is rated low, and who changed a key', async () => {
  const { place, ada } = console
  const { control, workspaceId } = place
  await control('POST', '/phones/16505550123/say', { to: '15550780001', text: 'Hello' })
  const [key] = (await ada.call(`/w/${workspaceId}/keys`)).body.data
  const change = { method: 'PATCH', body: { rate_limit_per_min: 77 } }
  expect((await ada.call(`/w/${workspaceId}/keys/${key.id}`, change)).status).toBe(200)
  await place.api('/v1/senders')

  const page = await console.open('senders')
  await page.getByRole('row', { name: /\+1 555-078-0001/ }).click()
  await page.getByRole('heading', { name: 'Harbour Clinic', level: 1 }).waitFor()
  await page.getByText('No change of the status or the quality is stored.').waitFor()
  await page.getByText(/^0 sent, 0 failed, 1 received$/).waitFor()
  // The page is updated while it is open.
  const value = { display_phone_number: '15550780001', event: 'FLAGGED' }
  await control('POST', `/wabas/${wabaId}/notify`, { field: 'phone_number_quality_update', value })
  const history = page.getByRole('list', { name: 'Changes' })
  await history.getByText('Quality changed to low').waitFor()
  await history.getByText('WhatsApp flagged the number for low quality.').waitFor()
  await screenshot(page, 'a sender')
  await page.getByRole('link', { name: 'View messages' }).click()
  await page.getByRole('row', { name: /Hello/ }).waitFor()

  await page.getByRole('link', { name: 'API keys' }).click()
  const row = page.getByRole('row', { name: new RegExp(`${key.name}.*77/min`) })
  await row.getByRole('img', { name: /^Last 7 days: OK [1-9]/ }).waitFor()
  await row.click()
  const drawer = page.getByRole('dialog', { name: key.name })
  await drawer.getByText('Ada changed the key').waitFor()
  await screenshot(page, 'a key')
  await drawer.getByRole('link', { name: /^OK: / }).click()
  await page
    .getByRole('row', { name: /GET\s*\/v1\/senders.*200/ })
    .first()
    .waitFor()
  expect(page.url()).toContain(`key=${key.id}`)
  await page.goBack()
  await drawer.getByRole('link', { name: 'View audit log' }).click()
  await page.getByRole('row', { name: /Ada changed the key/ }).waitFor()
})

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

  const numbers: { id: string }[] = await place.control('GET', '/numbers')
  const chats = () => numbers.map(({ id }) => place.control('GET', `/phones/${marta.number}/messages?to=${id}`))
  await until('it is on the phone', async () =>
    JSON.stringify(await Promise.all(chats())).includes('Hello Marta, please pay the invoice'),
  )
})

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

test('a banned account is shown with its reason, without a reload', async () => {
  const { control } = console.place
  const page = await console.open('senders')
  // The page has its data before live updates are connected, as on a slow connection.
  const { promise: changed, resolve: connect } = Promise.withResolvers<void>()
  await page.route('**/live', async (route) => {
    await changed
    await route.continue()
  })
  await page.reload()
  await page.getByRole('table', { name: 'Senders' }).waitFor()
  const ban = { waba_ban_state: 'DISABLE', waba_ban_date: 'April 17, 2025' }
  const value = { event: 'DISABLED_UPDATE', ban_info: ban }
  await control('POST', `/wabas/${wabaId}/notify`, { field: 'account_update', value })
  const { workspaceId } = console.place
  const read = `fetch('/console/api/w/${workspaceId}/senders').then((response) => response.text())`
  await until('the ban is stored', async () => (await page.evaluate<string>(read)).includes('April 17'))
  connect()
  await page.getByText(`Account ${wabaId} is banned.`).waitFor()
  await page.getByText('WhatsApp disabled the account on April 17, 2025.').first().waitFor()
  await screenshot(page, 'a banned account')
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
