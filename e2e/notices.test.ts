import { expect, test } from 'vitest'
import { screenshot } from '../server/testing/browser.ts'
import { until } from '../server/testing/until.ts'
import { useSignedIn } from './signed-in.ts'

/** What the network reports about templates and accounts, and what an admin does to a number. */
const console = useSignedIn()
const wabaId = '102290000000001'

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
  const change = { method: 'PATCH', body: { rate_limit_per_min: 7 } }
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
  const row = page.getByRole('row', { name: new RegExp(`${key.name}.*7/min`) })
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
