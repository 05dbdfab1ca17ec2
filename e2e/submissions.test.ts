import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { screenshot } from '../server/testing/browser.ts'
import { until } from '../server/testing/until.ts'
import { choose } from './page-ready.ts'
import { useSignedIn } from './signed-in.ts'

/** What customers send: form submissions with files, orders, and markup that must not run. */
const console = useSignedIn()
const ana = '16505550123'
const jorg = '491701234567'
const referral = Buffer.from('%PDF-1.4\n% a referral\n')

beforeAll(async () => {
  const { api, control } = console.place
  await control('POST', `/phones/${ana}/say`, { to: '15550780001', text: 'Hello' })
  const { data: senders } = await api('/v1/senders')
  const sender = senders.find(({ phone_number: number }: { phone_number: string }) => number.endsWith('0001'))
  const template = { name: 'intake_form', language: 'en', variables: { 'body.1': 'Ana' } }
  const { id } = await api('/v1/messages', { sender_id: sender.id, to: ana, type: 'template', template })
  await until('the form is delivered', async () => (await api(`/v1/messages/${id}`)).status === 'delivered')
  await control('POST', `/phones/${ana}/fillForm`, {
    values: { full_name: 'Ana Prueba', complaint: 'Sore throat' },
    files: {
      photos: [{ filename: 'throat.png' }],
      documents: [{ filename: '../referral.pdf', mimeType: 'application/pdf', base64: referral.toString('base64') }],
    },
  })
  const items = [{ retailerId: 'SKU-1', quantity: 2 }, { retailerId: 'SKU-2' }]
  await control('POST', `/phones/${ana}/order`, { items, text: 'For pick-up, please' })
})

test('a submission opens from the list, and its files can be viewed and downloaded', async () => {
  const page = await console.open('forms')
  await page
    .getByRole('row', { name: /\+1 650-555-0123.*Ana Prueba.*2 files.*intake_form/ })
    .getByRole('cell')
    .nth(1)
    .click()
  await page.getByRole('heading', { level: 1, name: 'Submission from Ana Prueba' }).waitFor()
  await page.getByRole('table', { name: 'Answers' }).getByRole('row', { name: 'complaint Sore throat' }).waitFor()

  const picture = page.getByRole('listitem').filter({ hasText: 'throat.png' })
  const image = picture.getByRole('img', { name: 'Upload for photos: throat.png' })
  await image.waitFor()
  const widthOf = () => image.evaluate((img) => (img as unknown as { naturalWidth: number }).naturalWidth)
  await until('the picture is loaded', async () => (await widthOf()) > 0)
  await picture.getByRole('button', { name: 'Open larger' }).click()
  const dialog = page.getByRole('dialog', { name: 'Upload for photos: throat.png' })
  await dialog.getByRole('img').waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await screenshot(page, 'a submission with files')

  const document = page.getByRole('listitem').filter({ hasText: 'referral.pdf' })
  // The name must not contain a path.
  await document.getByText('.._referral.pdf').waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    document.getByRole('button', { name: 'Download' }).click(),
  ])
  expect(download.suggestedFilename()).toMatch(/referral\.pdf$/)
  expect(readFileSync(await download.path())).toEqual(referral)

  await page.getByRole('tab', { name: 'JSON' }).click()
  await page.getByText('full_name').first().waitFor()
})

test('orders can be filtered by status and changed, and the history shows who changed them', async () => {
  const page = await console.open('orders?status=shipped')
  await page.getByText('No matching orders').waitFor()
  await console.visit(page, 'orders')
  await page.getByRole('row', { name: /2 items SKU-1, SKU-2.*For pick-up, please.*New/ }).click()
  await page
    .getByRole('table', { name: 'Items' })
    .getByRole('row', { name: /SKU-1 2/ })
    .waitFor()
  const history = page.getByRole('list', { name: 'History' })
  for (const [button, status] of [
    ['Confirm', 'Confirmed'],
    ['Mark as shipped', 'Shipped'],
    ['Mark as done', 'Done'],
  ] as const) {
    await page.getByRole('button', { name: button }).click()
    await history
      .getByRole('listitem')
      .filter({ hasText: `${status}` })
      .getByText('by Ada')
      .waitFor()
  }
  expect(await page.getByRole('button', { name: 'Mark as done' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Change status' }).click()
  await choose(page, 'Cancelled')
  await history.getByText('Cancelled').waitFor()
  await screenshot(page, 'an order that was cancelled')
  await page.reload()
  await until('the history has all entries', async () => (await history.getByRole('listitem').count()) === 5)

  await page.getByRole('link', { name: 'Orders' }).first().click()
  await page.getByRole('row', { name: /SKU-1.*Cancelled/ }).waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ])
  const [head, line] = readFileSync(await download.path(), 'utf8').split('\r\n')
  expect(head).toContain('status')
  expect(line).toContain('cancelled')
})

test('markup in names and messages of customers is shown as text and never runs', async () => {
  const name = '<img src=x onerror="globalThis.stolen=1">'
  const text = `<script>globalThis.stolen = 1</script> javascript:alert(1) \u202etxt.exe ${name}`
  const { control } = console.place
  await control('PATCH', `/phones/${jorg}`, { name })
  await control('POST', `/phones/${jorg}/say`, { to: '15550780001', text })
  await control('POST', `/phones/${jorg}/location`, {
    to: '15550780001',
    latitude: 1,
    longitude: 2,
    name,
    address: text,
  })
  const messages = () => console.ada.call(`/w/${console.place.workspaceId}/messages?phone=${jorg}`)
  const rows: { id: string; type: string }[] = await until('both have arrived', async () => {
    const { data } = (await messages()).body
    return data.length === 2 && data
  })
  const page = await console.open('messages')
  await page.getByText('<script>globalThis.stolen').first().waitFor()
  const expectOnlyText = async () => {
    expect(await page.locator('img[src="x"], a[href^="javascript:"]').count()).toBe(0)
    expect(await page.evaluate<string>('typeof globalThis.stolen')).toBe('undefined')
  }
  await expectOnlyText()
  for (const { id } of rows) {
    await console.visit(page, `messages/${id}`)
    await page.getByRole('heading', { level: 1, name: /^From/ }).waitFor()
    await page.getByText('globalThis.stolen').first().waitFor()
    await expectOnlyText()
  }
})
