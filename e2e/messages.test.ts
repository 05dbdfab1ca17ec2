import { beforeAll, expect, test } from 'vitest'
import { screenshot } from '../server/testing/browser.ts'
import { until } from '../server/testing/until.ts'
import { useSignedIn } from './signed-in.ts'

/** The page of a message: what it contains, its 24-hour window, and what to do if the window has ended. */
const console = useSignedIn()
const ana = '16505550123'
/** The simulated network fails every message to this number, because the window has ended. */
const closed = '15550131047'

interface Row {
  id: string
  status: string
  type: string
  preview: string | null
  file: { kind: string } | null
}

const rowsOf = async (query: string): Promise<Row[]> =>
  (await console.ada.call(`/w/${console.place.workspaceId}/messages?${query}`)).body.data

let senderId: string

beforeAll(async () => {
  const { api, control } = console.place
  const { data: senders } = await api('/v1/senders')
  senderId = senders.find(({ phone_number: number }: { phone_number: string }) => number.endsWith('0001')).id
  await control('POST', `/phones/${ana}/say`, { to: '15550780001', text: 'In private' })
  await control('POST', `/phones/${ana}/say`, { to: '15550780001', text: 'In a group' })
  await until('both have arrived', async () => (await rowsOf(`phone=${ana}`)).length === 2)
  // The simulated phones cannot write in groups.
  await console.db.change(
    `update inbound_messages set content = (content::jsonb || '{"groupId":"group-1"}')::json
     where content ->> 'text' = 'In a group'`,
    [],
  )
  await api('/v1/messages', { sender_id: senderId, to: closed, type: 'text', text: { body: 'Hello' } })
  await until('it has failed', async () => (await rowsOf(`phone=${closed}`))[0]?.status === 'failed')
})

test('a message that failed because the window had ended offers a template instead of sending it again', async () => {
  const [failed] = await rowsOf(`phone=${closed}`)
  const page = await console.open(`messages/${failed?.id}`)
  await page.getByText('more than 24 hours old').waitFor()
  expect(await page.getByRole('button', { name: 'Send again' }).count()).toBe(0)
  await screenshot(page, 'a message that failed for its window')
  await page.getByRole('link', { name: 'Send a template' }).click()
  const dialog = page.getByRole('dialog', { name: 'Send message' })
  await expect.poll(() => dialog.getByRole('combobox', { name: 'To' }).inputValue()).toBe(closed)
  await dialog.getByPlaceholder('Choose a template').click()
  await page
    .getByRole('option', { name: /order_update/ })
    .first()
    .click()
  await dialog.getByRole('button', { name: 'Continue' }).click()
  const send = page.getByRole('dialog', { name: 'Send test message' })
  await expect.poll(() => send.getByRole('combobox', { name: 'To' }).inputValue()).toBe(closed)
})

test('“Why?” on a message and on a sender shows its stations, and what is wrong', async () => {
  const [failed] = await rowsOf(`phone=${closed}`)
  const page = await console.open(`messages/${failed?.id}`)
  await page.getByRole('button', { name: 'Why?' }).click()
  const dialog = page.getByRole('dialog', { name: 'What happened' })
  await dialog.getByText('Send an approved template').first().waitFor()
  await dialog.getByRole('list', { name: 'Stations' }).getByText('Parley accepted the message').waitFor()
  await screenshot(page, 'why a message failed')
  await console.visit(page, 'senders')
  await page.getByRole('button', { name: 'Why?' }).first().click()
  await dialog.getByText('The access token is valid').waitFor()
  await dialog.getByText('The access token is valid').click()
  expect(page.url()).toContain('/senders')
})

test('the page, the reply field and the send dialog show when the 24-hour window ends', async () => {
  const message = (await rowsOf(`phone=${ana}`)).find(({ preview }) => preview === 'In private')
  const page = await console.open(`messages/${message?.id}`)
  await page.getByText('Open until').waitFor()
  await page.getByText(/\(23 h 5\d min left\)/).waitFor()
  await console.visit(page, 'messages?send=text')
  await page.getByRole('combobox', { name: 'To' }).fill('+1 650 555 0123')
  await page.getByText('24-hour window of this number: Open until').waitFor()
  await page.getByRole('combobox', { name: 'To' }).fill('+1 650 555 0199')
  await page.getByText('The contact has not written to this sender.').waitFor()
})

test('a person marks a message as read, and the phone shows it', async () => {
  const message = (await rowsOf(`phone=${ana}`)).find(({ preview }) => preview === 'In private')
  const page = await console.open(`messages/${message?.id}`)
  await page.getByRole('button', { name: 'Mark as read' }).click()
  await page.getByText('Marked as read').waitFor()
  await until('the phone shows that it was read', async () => {
    const messages: { receipt?: string }[] = await console.place.control('GET', `/phones/${ana}/messages`)
    return messages[0]?.receipt === 'seen'
  })
})

test('a received picture is shown, a recording is played, and a page is only downloaded', async () => {
  const { control } = console.place
  const grace = '16505550177'
  const to = '15550780001'
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const html = '<script>document.title = "it ran"</script>'
  await control('POST', `/phones/${grace}/image`, { to, base64: png, mimeType: 'image/png', caption: 'Look' })
  await control('POST', `/phones/${grace}/voice`, { to })
  await control('POST', `/phones/${grace}/document`, { to, text: html, mimeType: 'text/html', filename: 'run.html' })
  const rows = await until('the files are fetched', async () => {
    const found = await rowsOf(`phone=${grace}`)
    return found.length === 3 && found.every(({ file }) => file?.kind === 'fetched') && found
  })
  const idOf = (wanted: string) => rows.find(({ type }) => type === wanted)?.id
  const page = await console.open(`messages/${idOf('image')}`)
  await page.getByRole('img', { name: 'Received image: Look' }).waitFor()
  const width = `document.querySelector('img[alt="Received image: Look"]').naturalWidth`
  await until('the picture is loaded', async () => (await page.evaluate(width)) === 1)
  await console.visit(page, `messages/${idOf('audio')}`)
  await page.locator('audio[controls]').waitFor()
  await console.visit(page, `messages/${idOf('document')}`)
  await page.getByText('run.html').first().waitFor()
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click(),
  ])
  expect(saved.suggestedFilename()).toBe('run.html')
  expect(await page.title()).not.toContain('it ran')
  expect(await page.locator('iframe, object, embed').count()).toBe(0)
})

test('a message in a group is marked, and has no 24-hour window', async () => {
  const message = (await rowsOf(`phone=${ana}`)).find(({ preview }) => preview === 'In a group')
  const page = await console.open(`messages/${message?.id}`)
  await page.getByText('Written in a group.').waitFor()
  await page.getByText('group-1').first().waitFor()
  expect(await page.getByText('24-hour window').count()).toBe(0)
  await screenshot(page, 'a message in a group')
})

test('the health page opens the connect dialog for an account whose messages no workspace receives', async () => {
  await console.db.change(
    `insert into unknown_numbers (app_id, waba_id, phone_number_id, updates, first_seen_at, last_seen_at)
     select id, '102290000000777', '106549000000777', 3, now(), now() from apps`,
    [],
  )
  const page = await console.open('/operator/health')
  await page.getByText('Messages arrive for a number that no workspace has.').waitFor()
  await screenshot(page, 'a number that no workspace has')
  await page.getByRole('link', { name: 'Connect account' }).click()
  const dialog = page.getByRole('dialog', { name: 'Connect account' })
  await expect.poll(() => dialog.getByLabel('WhatsApp Business account ID').inputValue()).toBe('102290000000777')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
})

test('an admin erases a contact after typing the number, and the pages say so', async () => {
  const [failed] = await rowsOf(`phone=${closed}`)
  const page = await console.open(`messages/${failed?.id}`, { expects: /404/ })
  await page.getByRole('link', { name: 'View contact' }).click()
  await page.getByRole('button', { name: 'Erase' }).click()
  const dialog = page.getByRole('dialog', { name: 'Erase this contact?' })
  const confirm = dialog.getByRole('button', { name: 'Erase contact' })
  await dialog.getByLabel(/to confirm/).fill(`+${ana}`)
  expect(await confirm.isDisabled()).toBe(true)
  await dialog.getByLabel(/to confirm/).fill(`+${closed}`)
  await screenshot(page, 'erasing a contact')
  await confirm.click()
  await page.getByText('Erasing the contact').waitFor()
  await until('the contact is erased', async () => (await rowsOf(`phone=${closed}`)).length === 0)
  await page.goto(`${console.place.url}/w/${console.place.workspaceId}/messages/${failed?.id}`)
  await page.getByText('The contact was erased.').waitFor()
  expect(await page.getByText(closed).count()).toBe(0)
  await screenshot(page, 'a message of an erased contact')
  await console.visit(page, 'settings')
  await page.getByText('1 message').first().waitFor()
})
