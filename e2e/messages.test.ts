import { beforeAll, expect, test } from 'vitest'
import { screenshot } from '../server/testing/browser.ts'
import { until } from '../server/testing/until.ts'
import { useSignedIn } from './signed-in.ts'

/** The page of a message: what it contains, its 24-hour window, and what to do if the window has ended; people without numbers. */
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

test('a message that failed because the window had ended says why, and offers a template instead of sending it again', async () => {
  const [failed] = await rowsOf(`phone=${closed}`)
  const page = await console.open(`messages/${failed?.id}`)
  await page.getByRole('button', { name: 'Why?' }).click()
  const why = page.getByRole('dialog', { name: 'What happened' })
  await why.getByText('Send an approved template').first().waitFor()
  await why.getByRole('list', { name: 'Stations' }).getByText('Parley accepted the message').waitFor()
  await screenshot(page, 'why a message failed')
  await page.keyboard.press('Escape')
  await why.waitFor({ state: 'detached' })
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

test('“Why?” on a sender shows its stations', async () => {
  const page = await console.open('senders')
  await page.getByRole('button', { name: 'Why?' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'What happened' })
  await dialog.getByText('The access token is valid').waitFor()
  await dialog.getByText('The access token is valid').click()
  expect(page.url()).toContain('/senders')
})

test('a message shows when its 24-hour window ends, and the phone that a person marked it as read', async () => {
  const message = (await rowsOf(`phone=${ana}`)).find(({ preview }) => preview === 'In private')
  const page = await console.open(`messages/${message?.id}`)
  await page.getByText('Open until').waitFor()
  await page.getByText(/\(23 h 5\d min left\)/).waitFor()
  await page.getByRole('button', { name: 'Mark as read' }).click()
  await page.getByText('Marked as read').waitFor()
  await until('the phone shows that it was read', async () => {
    const messages: { receipt?: string }[] = await console.place.control('GET', `/phones/${ana}/messages`)
    return messages[0]?.receipt === 'seen'
  })
})

test('messages are searched by words, a recipient is found by name, and the send dialog shows their 24-hour window', async () => {
  const page = await console.open('messages?q=private&send=text')
  const to = page.getByRole('dialog', { name: 'Send message' }).getByRole('combobox', { name: 'To' })
  await to.fill('prueb')
  await page.getByRole('option', { name: /Ana Prueba/ }).click()
  expect(await to.inputValue()).toBe('+1 650-555-0123')
  await page.getByText('24-hour window of this number: Open until').waitFor()
  await to.fill('+1 650 555 0199')
  await page.getByText('The contact has not written to this sender.').waitFor()
  const rows = page.locator('tr', { hasText: 'Ana Prueba' })
  await expect.poll(() => rows.allTextContents()).toEqual([expect.stringContaining('In private')])
})

test('a received picture is shown, and a page is only downloaded', async () => {
  const { control } = console.place
  const grace = '16505550177'
  const to = '15550780001'
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const html = '<script>document.title = "it ran"</script>'
  await control('POST', `/phones/${grace}/image`, { to, base64: png, mimeType: 'image/png', caption: 'Look' })
  await control('POST', `/phones/${grace}/document`, { to, text: html, mimeType: 'text/html', filename: 'run.html' })
  const rows = await until('the files are fetched', async () => {
    const found = await rowsOf(`phone=${grace}`)
    return found.length === 2 && found.every(({ file }) => file?.kind === 'fetched') && found
  })
  const idOf = (wanted: string) => rows.find(({ type }) => type === wanted)?.id
  const page = await console.open(`messages/${idOf('image')}`)
  await page.getByRole('img', { name: 'Received image: Look' }).waitFor()
  const width = `document.querySelector('img[alt="Received image: Look"]').naturalWidth`
  await until('the picture is loaded', async () => (await page.evaluate(width)) === 1)
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

/** A person who hides their phone number: in the list, in a conversation and as a recipient. */
const hidden = '16505550134'
let userId = ''

beforeAll(async () => {
  const { control } = console.place
  await control('PATCH', `/phones/${hidden}`, { name: 'Bea', switches: { senderIdentity: 'user_id_only' } })
  await control('POST', `/phones/${hidden}/say`, { to: '15550780001', text: 'Do you have it in blue?' })
  userId = (await control('GET', `/phones/${hidden}`)).userId
})

const got = (text: string) =>
  until(`the phone has "${text}"`, async () => {
    const messages: { content: { body?: string } }[] = await console.place.control('GET', `/phones/${hidden}/messages`)
    return messages.some(({ content }) => content.body === text)
  })

test('a conversation with a person without a number can be opened and continued', async () => {
  const page = await console.open(`messages?user_id=${userId}`)
  await page
    .getByRole('row', { name: /Bea.*Do you have it in blue/ })
    .getByText('Do you have it in blue')
    .click()
  await page.getByRole('heading', { level: 1, name: 'From Bea' }).waitFor()
  await page.getByRole('link', { name: 'View contact' }).click()
  await page.getByRole('heading', { level: 1, name: 'Bea' }).waitFor()
  await page.getByLabel('Write a message').fill('Yes, we do.')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await got('Yes, we do.')
  await page.getByRole('region', { name: 'Conversation' }).getByText('Yes, we do.').waitFor()
  await screenshot(page, 'a conversation with a person without a number')
})

test('a message can be sent to a user ID', async () => {
  const page = await console.open(`messages?q=${userId}`)
  await page.getByRole('button', { name: 'Send message' }).first().click()
  const form = page.getByRole('dialog', { name: 'Send message' })
  await form.getByRole('combobox', { name: 'To' }).fill(userId)
  await form.getByLabel('Text', { exact: true }).last().fill('It has arrived.')
  await form.getByRole('button', { name: 'Send', exact: true }).click()
  await got('It has arrived.')
  await page.getByRole('heading', { level: 1, name: 'To Bea' }).waitFor()
  await expect.poll(() => page.getByText('User ID').count()).toBeGreaterThan(0)
})
