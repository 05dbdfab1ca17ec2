import { createHmac } from 'node:crypto'
import { text } from 'node:stream/consumers'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { screenshot } from '../server/testing/browser.ts'
import { followLink, goodPassword, newBrowser, tokenOf } from '../server/testing/console.ts'
import { until } from '../server/testing/until.ts'
import { violations } from './axe.ts'
import { asksOnUnload } from './page-ready.ts'
import { ada, cookiesOf, useSignedIn } from './signed-in.ts'

/** The page of a contact: the conversation, writing to them, their files, exporting and erasing them. */
const console = useSignedIn()
const ana = '16505550123'
const to = '15550780001'
/** This number has never written, so its window is closed. */
const quiet = '16505550188'
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const webp = 'UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA'

let senderId = ''
const act = (phone: string, action: string, body: object = {}) =>
  console.place.control('POST', `/phones/${phone}/${action}`, body)
const send = (phone: string, body: object) =>
  console.place.api('/v1/messages', { sender_id: senderId, to: phone, ...body })
const rowsOf = async (phone: string) =>
  (await console.ada.call(`/w/${console.place.workspaceId}/contacts/${phone}/messages?limit=100`)).body.data

beforeAll(async () => {
  const { data: senders } = await console.place.api('/v1/senders')
  senderId = senders.find(({ phone_number: number }: { phone_number: string }) => number.endsWith('0001')).id
  await console.place.control('PATCH', `/phones/${ana}`, { name: 'Ana Prueba' })
  await act(ana, 'say', { to, text: 'Hi! Can I still come in this week?' })
  await send(ana, { type: 'text', text: { body: 'Of course, *Ana*. We kept a place for you.' } })
  await until('it is delivered', async () =>
    JSON.stringify(await console.place.control('GET', `/phones/${ana}/messages`)).includes('kept a place'),
  )
  await act(ana, 'react', { emoji: '🙏' })
  await send(ana, {
    type: 'template',
    template: { name: 'intake_form', language: 'en', variables: { 'body.1': 'Ana' } },
  })
  await until('the form has arrived', async () =>
    JSON.stringify(await console.place.control('GET', `/phones/${ana}/messages`)).includes('intake_form'),
  )
  await act(ana, 'fillForm', {
    values: { full_name: 'Ana Prueba', complaint: 'Sore throat' },
    files: { photos: [{ filename: 'throat.png' }] },
  })
  await act(ana, 'order', { items: [{ retailerId: 'SKU-1', quantity: 2 }], text: 'For pick-up, please' })
  await act(ana, 'image', { base64: png, mimeType: 'image/png', caption: 'This is how it looks' })
  await act(ana, 'voice')
  await act(ana, 'document', { text: 'a referral', mimeType: 'text/plain', filename: 'referral.txt' })
  await act(ana, 'sticker', { base64: webp })
  await send('15550131026', { type: 'template', template: { name: 'hello_world', language: 'en_US', variables: {} } })
  await send(quiet, { type: 'template', template: { name: 'hello_world', language: 'en_US', variables: {} } })
  await console.place.control('POST', '/settled')
  await until('the files are fetched', async () => {
    const rows: { type: string; file: { kind: string } | null }[] = await rowsOf(ana)
    const files = rows.filter(({ file }) => file !== null)
    return files.length === 4 && files.every(({ file }) => file?.kind === 'fetched')
  })
})

const chatOf = (page: Page) => page.getByRole('region', { name: 'Conversation' })

const conversationsOf = (page: Page) => page.getByRole('list', { name: 'Conversations' })

/** How far a conversation is from its end. */
const gapOf = (chat: Locator) =>
  chat.evaluate((log) => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = log as unknown as Record<string, number>
    return scrollHeight - scrollTop - clientHeight
  })

test('the page shows who the contact is, their window and the whole conversation, and a picture opens larger in a dialog', async () => {
  const page = await console.open(`contacts/${ana}`)
  await page.getByRole('heading', { level: 1, name: 'Ana Prueba' }).waitFor()
  await page.getByText('+1 650-555-0123').first().waitFor()
  await page
    .getByText(/Open until .* \(23 h 5\d min left\)/)
    .first()
    .waitFor()
  const chat = chatOf(page)
  await chat.getByText('Can I still come in this week?').waitFor()
  await chat.getByText('The contact reacted').waitFor({ state: 'attached' })
  await chat.getByText('full_name: Ana Prueba').waitFor()
  await chat.getByText('2 × SKU-1').waitFor()
  await chat.getByRole('img', { name: 'Received image: This is how it looks' }).waitFor()
  await chat.getByRole('img', { name: 'Received sticker' }).waitFor()
  await chat.locator('audio[controls]').waitFor()
  await chat.getByText('referral.txt').waitFor()
  await chat.getByRole('img', { name: 'Upload for photos: throat.png' }).waitFor()
  // It begins at the newest message.
  await until('it is at its end', async () => (await gapOf(chat)) < 2)
  await screenshot(page, 'contact')
  await chat.evaluate('document.querySelector("section[aria-label=Conversation]").scrollTop = 0')
  await screenshot(page, 'contact at the top')
  await page.emulateMedia({ colorScheme: 'dark' })
  await screenshot(page, 'contact dark')
  await page.emulateMedia({ colorScheme: 'light' })
  await chat.getByRole('button', { name: 'Open larger: Received image: This is how it looks' }).click()
  const dialog = page.getByRole('dialog', { name: 'Received image: This is how it looks' })
  await dialog.getByRole('img').waitFor()
  await screenshot(page, 'a picture in a dialog')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
})

test('a text is kept in this tab, over other pages and a reload, until it is sent; it arrives, and a reply appears by itself', async () => {
  const page = await console.open(`contacts/${ana}`)
  const text = page.getByRole('textbox', { name: 'Write a message' })
  await page.getByPlaceholder(/costs \d+ credit/).fill('We are closed on')
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Templates' }).click()
  await page.getByRole('heading', { level: 1, name: 'Templates' }).waitFor()
  await page.goBack()
  await expect.poll(() => text.inputValue()).toBe('We are closed on')
  expect(await asksOnUnload(page)).toBe(false)
  await page.reload()
  await expect.poll(() => text.inputValue()).toBe('We are closed on')
  // The other conversations say that it is there. No other tab has it.
  await page.getByRole('link', { name: 'Contacts', exact: true }).last().click()
  await conversationsOf(page).getByText('Draft: We are closed on').waitFor()
  expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('closed')
  await page.goBack()
  // What is typed while it is being sent stays.
  await page.route(/\/messages$/, async (route) => {
    await text.fill('We open again on Monday.')
    await route.continue()
    await page.unroute(/\/messages$/)
  })
  await text.fill('We are closed on Friday.')
  await text.press('Enter')
  await chatOf(page).getByText('We are closed on Friday.').waitFor()
  await page.getByRole('button', { name: 'Send', exact: true, disabled: false }).waitFor()
  expect(await text.inputValue()).toBe('We open again on Monday.')
  await text.press('Enter')
  await chatOf(page).getByText('We open again on Monday.').waitFor()
  await expect.poll(() => text.inputValue()).toBe('')
  expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('closed')
  await until('the phone has it', async () =>
    JSON.stringify(await console.place.control('GET', `/phones/${ana}/messages`)).includes('We are closed on Friday.'),
  )
  await act(ana, 'say', { text: 'Thank you!' })
  await chatOf(page).getByText('Thank you!').waitFor()
})

test('conversations are listed next to the open one: unread, by keyboard, live, with a search, and on a phone alone', async () => {
  const [cleo, dan] = ['16505550144', '16505550145']
  for (const [phone, name] of [
    [cleo, 'Cleo Marin'],
    [dan, 'Dan Weber'],
  ]) {
    await console.place.control('PATCH', `/phones/${phone}`, { name })
    await act(String(phone), 'say', { to, text: `The umbrella of ${name}` })
    await until('it has arrived', async () => (await rowsOf(String(phone))).length === 1)
  }
  const page = await console.open('contacts')
  const list = conversationsOf(page)
  const row = (name: string) => list.getByRole('link', { name: new RegExp(name) })
  await row('Dan Weber.*1 unread').waitFor()
  await screenshot(page, 'contacts')
  // By keyboard: the first is the newest.
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Dan Weber' }).waitFor()
  expect(page.url()).toContain(`/contacts/${dan}`)
  await chatOf(page).getByText('The umbrella of Dan Weber').waitFor()
  await until('it is read', async () => (await row('Dan Weber.*unread').count()) === 0)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Cleo Marin' }).waitFor()
  // Another conversation moves to the top, and the focus stays where it is.
  await act(dan, 'say', { to, text: 'Are you there?' })
  await row('Dan Weber.*Are you there.*1 unread').waitFor()
  expect(await list.getByRole('link').first().getAttribute('data-contact')).toBe(dan)
  expect(await page.evaluate('document.activeElement.dataset.contact')).toBe(cleo)
  await screenshot(page, 'contacts with an open one')
  const search = page.getByRole('searchbox', { name: 'Search by name, number or text' })
  await search.fill('umbrella')
  await until('the others are hidden', async () => (await row('Ana Prueba').count()) === 0)
  await row('Cleo Marin').waitFor()
  await search.fill('')
  await row('Ana Prueba').waitFor()
  await page.setViewportSize({ width: 390, height: 844 })
  await list.waitFor({ state: 'hidden' })
  await screenshot(page, 'an open contact on a phone')
  await page.getByRole('main').getByRole('link', { name: 'Contacts' }).click()
  await list.waitFor()
  expect(await chatOf(page).count()).toBe(0)
  await screenshot(page, 'contacts on a phone')
})

test('the conversation is saved as the scenario that the handset saves, redacted unless a person keeps what was written', async () => {
  const page = await console.open(`contacts/${ana}`)
  const saved = async (keepsContents: boolean) => {
    await page.getByRole('button', { name: 'Save as scenario' }).click()
    const dialog = page.getByRole('dialog', { name: 'Save as scenario' })
    const keeps = dialog.getByRole('switch', { name: 'Keep what was written' })
    expect(await keeps.isChecked()).toBe(false)
    await screenshot(page, 'saving a scenario')
    if (keepsContents) await keeps.click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Save' }).click(),
    ])
    await dialog.waitFor({ state: 'detached' })
    expect(download.suggestedFilename()).toBe(`scenario-${to}.json`)
    return JSON.parse(await text(await download.createReadStream())) as SavedScenario
  }
  for (const contents of [false, true]) {
    await console.place.control('POST', '/settled')
    const recorded = await console.place.control('GET', `/phones/${ana}/scenario?to=${to}&contents=${contents}`)
    expect(recorded.steps.length).toBeGreaterThan(10)
    expect(comparable(await saved(contents))).toEqual(comparable(recorded))
  }
})

test('a member saves a scenario only without what was written', async () => {
  const { url, workspaceId } = console.place
  const invitation = { method: 'POST', body: { email: 'bea@harbour.example', role: 'member' } }
  const { body } = await console.ada.call(`/w/${workspaceId}/team/invites`, invitation)
  const bea = newBrowser(url)
  await followLink(bea, tokenOf(body.url), { name: 'Bea', password: goodPassword })
  const page = await console.open(`contacts/${ana}`, { cookies: cookiesOf(bea, console.place) })
  await page.getByRole('button', { name: 'Save as scenario' }).click()
  const dialog = page.getByRole('dialog', { name: 'Save as scenario' })
  await dialog.getByRole('button', { name: 'Save' }).waitFor()
  expect(await dialog.getByRole('switch').count()).toBe(0)
})

interface SavedScenario {
  redacted?: true
  steps: { action?: string; input?: Record<string, unknown> }[]
}

/**
 * Without the times, which differ by milliseconds, and the bytes of files, which the console does not save. Sorted, because webhooks that
 * are posted at the same time are stored in any order.
 */
const comparable = ({ steps, ...file }: SavedScenario) => ({
  ...file,
  steps: steps
    .map((step) => JSON.stringify(step, (key, value) => (/^(after_ms|base64)$/.test(key) ? undefined : value)))
    .sort(),
})

test('outside the window a template is sent with its variables, and errors are shown at their fields', async () => {
  const page = await console.open(`contacts/${quiet}`, { expects: /400/ })
  await page.getByText('The contact has not written to this sender.').first().waitFor()
  expect(await page.getByLabel('Write a message').count()).toBe(0)
  await page.getByRole('button', { name: 'Send a template' }).click()
  const dialog = page.getByRole('dialog', { name: 'Send a template' })
  await dialog.getByPlaceholder('Choose a template').click()
  await page
    .getByRole('option', { name: /appointment_reminder/ })
    .first()
    .click()
  await dialog.getByText(/It costs \d+ credit/).waitFor()
  await dialog.getByRole('button', { name: 'Send', exact: true }).click()
  const first = dialog.getByLabel('body.1')
  await until('the field has an error', async () => (await first.getAttribute('aria-invalid')) === 'true')
  await screenshot(page, 'a template with an error')
  for (const field of await dialog.getByRole('textbox').all()) {
    if ((await field.getAttribute('aria-haspopup')) === null) await field.fill('Ana')
  }
  await dialog.getByRole('button', { name: 'Send', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  await chatOf(page).getByText('appointment_reminder').first().waitFor()
})

test('a failed message says why', async () => {
  const page = await console.open('contacts/15550131026')
  await chatOf(page)
    .getByText(/Not delivered:/)
    .waitFor()
  await screenshot(page, 'a contact with a failed message')
})

test('older messages are loaded when you scroll up, and the place is kept', async () => {
  const long = '16505550166'
  const timestamp = Math.floor(Date.now() / 1000) - 100
  const messages = Array.from({ length: 70 }, (_, index) => ({
    id: `wamid.long${index}`,
    from: long,
    timestamp: String(timestamp + index),
    type: 'text',
    text: { body: `Number ${index + 1} of many` },
  }))
  await post('messages', { contacts: [{ wa_id: long, profile: { name: 'Lou' } }], messages })
  await until('all have arrived', async () => (await rowsOf(long)).length === 70)
  const page = await console.open(`contacts/${long}`)
  const chat = chatOf(page)
  await chat.getByText('Number 70 of many').waitFor()
  expect(await chat.getByText('Number 1 of many', { exact: true }).count()).toBe(0)
  await chat.hover()
  await page.mouse.wheel(0, -20_000)
  await chat.getByText('Number 1 of many', { exact: true }).waitFor()
  const top = await chat.evaluate((log) => (log as unknown as { scrollTop: number }).scrollTop)
  expect(top).toBeGreaterThan(500)
})

test('the contact is linked from the lists of messages, orders and forms, and on a phone from their pages', async () => {
  const page = await console.open('settings')
  for (const path of ['messages', 'orders', 'forms']) {
    await page.setViewportSize({ width: 1440, height: 900 })
    await console.visit(page, `${path}?phone=${ana}`)
    const row = page.getByRole('row').filter({ hasText: '650-555-0123' }).first()
    expect(await row.getByRole('link', { name: /650-555-0123/ }).getAttribute('href')).toMatch(`/contacts/${ana}`)
    // There, the row opens the object.
    await page.setViewportSize({ width: 390, height: 844 })
    await screenshot(page, `${path} with contacts on a phone`)
    await row.click()
    const link = page.getByRole('definition').getByRole('link', { name: /650-555-0123/ })
    await link.waitFor()
    if (path !== 'forms') continue
    await link.click()
    await page.getByRole('heading', { level: 1, name: 'Ana Prueba' }).waitFor()
    await screenshot(page, 'contact on a phone')
  }
})

test('an unknown contact gets a page that says so', async () => {
  const page = await console.open('contacts/16505559999', { expects: /404/ })
  await page.getByRole('heading', { name: 'Contact not found' }).waitFor()
  await page.getByText('+1 650-555-9999').waitFor()
  await screenshot(page, 'no contact')
})

test('an admin exports a contact after confirming who they are, and erases it after typing the number', async () => {
  const gone = '16505550155'
  await act(gone, 'say', { to, text: 'Forget me' })
  const said = await until('it has arrived', async () => (await rowsOf(gone))[0])
  const page = await console.open(`contacts/${gone}`, { expects: /404|403/ })
  await console.db.change(`update sessions set confirmed_at = confirmed_at - interval '1 hour'`, [])
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export data' }).click()
  const prompt = page.getByRole('dialog', { name: /Confirm/ })
  await prompt.getByLabel('Password', { exact: true }).fill(ada.password)
  await prompt.getByRole('button', { name: 'Confirm' }).click()
  expect((await download).suggestedFilename()).toBe('contact.json')
  await page.getByRole('button', { name: 'Erase' }).click()
  const dialog = page.getByRole('dialog', { name: 'Erase this contact?' })
  const confirm = dialog.getByRole('button', { name: 'Erase contact' })
  await dialog.getByLabel(/to confirm/).fill(`+${ana}`)
  expect(await confirm.isDisabled()).toBe(true)
  await dialog.getByLabel(/to confirm/).fill(`+${gone}`)
  await screenshot(page, 'erase a contact')
  await confirm.click()
  await page.getByText('Erasing the contact').waitFor()
  await page.getByRole('heading', { name: /Contact (erased|not found)/ }).waitFor({ timeout: 60_000 })
  await screenshot(page, 'an erased contact')
  await console.visit(page, `messages/${said.id}`)
  await page.getByText('The contact was erased.').waitFor()
  expect(await page.getByText(gone).count()).toBe(0)
  await screenshot(page, 'a message of an erased contact')
  await console.visit(page, 'settings')
  await page.getByText('1 message').first().waitFor()
})

/** Posts a webhook that the simulated network could not send, such as one with many messages. */
async function post(field: string, value: object): Promise<void> {
  const [app] = await console.place.control('GET', '/apps')
  const { id, wabaId } = await numberOf()
  const metadata = { display_phone_number: to, phone_number_id: id }
  const changes = [{ field, value: { messaging_product: 'whatsapp', metadata, ...value } }]
  const body = JSON.stringify({ object: 'whatsapp_business_account', entry: [{ id: wabaId, changes }] })
  const signature = `sha256=${createHmac('sha256', app.secret).update(body).digest('hex')}`
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signature }
  expect((await fetch(app.callbackUrl, { method: 'POST', body, headers })).status).toBe(200)
}

const numberOf = async (): Promise<{ id: string; wabaId: string }> =>
  (await console.place.control('GET', '/numbers')).find(
    ({ phoneNumber }: { phoneNumber: string }) => phoneNumber === to,
  )

test('a shared conversation is shown as the person sees it: echoes, edits, deletions, standby and who handles it', async () => {
  const bea = '16505550177'
  let seconds = Math.floor(Date.now() / 1000) - 60
  const message = (id: string, content: object) => ({ id, from: bea, timestamp: String(++seconds), ...content })
  const contacts = [{ wa_id: bea, profile: { name: 'Bea' } }]
  const text = (body: string) => ({ type: 'text', text: { body } })
  const say = (id: string, content: object) => post('messages', { contacts, messages: [message(id, content)] })
  await say('wamid.b1', text('Is the *blue* one left?'))
  await say('wamid.b2', text('Wrong chat, sorry'))
  const echo = { ...message('wamid.b3', text('Yes, two of them.')), from: to, to: bea }
  await post('smb_message_echoes', { message_echoes: [echo] })
  const edited = { original_message_id: 'wamid.b1', message: text('Is the *red* one left?') }
  await say('wamid.b4', { type: 'edit', edit: edited })
  await say('wamid.b5', { type: 'revoke', revoke: { original_message_id: 'wamid.b2' } })
  const owners = { previous_owner_role: 'primary', new_owner_role: 'BUSINESS_AGENT' }
  await post('messaging_handovers', {
    sender: { phone_number: bea },
    recipient: { phone_number_id: (await numberOf()).id, display_phone_number: to },
    type: 'control_passed',
    timestamp: String(++seconds),
    control_passed: owners,
  })
  await post('standby', { standby: { contacts, messages: [message('wamid.b6', text('Which one is cheaper?'))] } })

  const page = await console.open(`contacts/${bea}`, { isDrawn: true, bypassCSP: true })
  const chat = chatOf(page)
  await chat.getByText('Is the red one left?').waitFor()
  await chat.getByText('This message was deleted.').waitFor()
  await chat.getByText('Yes, two of them.').waitFor()
  await chat.getByText('Business app').waitFor()
  await chat.getByText('standby', { exact: true }).waitFor()
  await page.getByText('Handled by').waitFor()
  expect(await chat.getByText('Wrong chat, sorry').isVisible()).toBe(false)
  await screenshot(page, 'shared conversation')
  const earlier = chat.getByText('Show the deleted text')
  await earlier.focus()
  await page.keyboard.press('Enter')
  await chat.getByText('Wrong chat, sorry').waitFor()
  await chat.getByText('Show the earlier text').click()
  await chat.getByText('Is the *blue* one left?').waitFor()
  expect(await violations(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  await screenshot(page, 'shared conversation, dark')
  await page.setViewportSize({ width: 390, height: 844 })
  await screenshot(page, 'shared conversation on a phone')
})
