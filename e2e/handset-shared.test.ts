import { type Simulator, startSimulator } from '@parley/simulator/start'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useBrowser } from '../server/testing/browser.ts'
import { until } from '../server/testing/until.ts'
import { type Receiver, startReceiver } from '../simulator/src/testing/receiver.ts'
import { seriousViolations } from './axe.ts'

/** Edits, deletions and shared conversations on the handset. Its app is a receiver, so the payloads can be read. */
const browser = useBrowser()
const business = '15550780001'
let simulator: Simulator
let receiver: Receiver

beforeAll(async () => {
  simulator = await startSimulator({ port: 0 })
  const [app] = simulator.control.apps.list()
  receiver = await startReceiver(app?.verifyToken ?? '')
  await simulator.control.apps.setCallback(app?.id ?? '', { url: receiver.url })
})

afterAll(async () => {
  await simulator?.stop()
  receiver?.close()
})

let people = 0

async function openPhone(name: string, options: Parameters<typeof browser.newPage>[0] = {}) {
  const number = String(49_171_000_0000 + ++people)
  simulator.control.phones.change(number, { name })
  const page = await browser.newPage({ isDrawn: options.bypassCSP ?? false, ...options })
  await page.goto(`${simulator.url}/#from=${number}&to=${business}`)
  await page.getByRole('status').filter({ hasText: 'Live' }).waitFor()
  const log = page.getByRole('log')
  const bubble = (words: string) => log.locator('[data-id]').filter({ hasText: words })
  const say = async (words: string) => {
    await page.getByRole('textbox', { name: 'Message' }).fill(words)
    await page.keyboard.press('Enter')
    await bubble(words).getByRole('img', { name: 'Delivered' }).waitFor()
  }
  const open = async (words: string, action: string) => {
    await bubble(words).hover()
    await bubble(words).getByRole('button', { name: 'Message actions' }).click()
    await page.getByRole('dialog', { name: 'Message actions' }).getByRole('button', { name: action }).click()
  }
  return { number, page, log, bubble, say, open }
}

/** The value of the latest webhook with this field about a person. */
const posted = (field: string, number: string, words = '') =>
  until(`a webhook with ${field} ${words} of ${number}`, () =>
    receiver
      .changes()
      .findLast(
        (change) => change.field === field && [number, words].every((one) => JSON.stringify(change).includes(one)),
      ),
  )

const focused = (page: Page) => page.evaluate<string>("document.activeElement.getAttribute('aria-label') ?? ''")

test('a message is edited with the mouse, and shows its earlier text on request', async () => {
  const { number, page, bubble, say, open } = await openPhone('Edda Edits')
  await say('See you on Mnoday')
  await open('Mnoday', 'Edit')
  const input = page.getByRole('textbox', { name: 'Edit message' })
  expect(await input.inputValue()).toBe('See you on Mnoday')
  await input.fill('See you on Monday')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const edited = bubble('See you on Monday')
  await edited.getByRole('button', { name: 'Edited' }).waitFor()
  const id = await edited.getAttribute('data-id')
  expect((await posted('messages', number, 'Monday'))?.value.messages).toMatchObject([
    { type: 'edit', edit: { original_message_id: id, message: { type: 'text', text: { body: 'See you on Monday' } } } },
  ])
  // It is one message, which is no longer being edited.
  await expect.poll(() => page.getByRole('log').locator('[data-id]').count()).toBe(1)
  expect(await page.getByRole('textbox', { name: 'Message', exact: true }).inputValue()).toBe('')
  const earlier = edited.getByRole('list', { name: 'Earlier texts' })
  expect(await earlier.count()).toBe(0)
  await edited.getByRole('button', { name: 'Edited', expanded: false }).click()
  await earlier.getByText('See you on Mnoday').waitFor()
  await edited.getByRole('button', { name: 'Edited', expanded: true }).click()
  await expect.poll(() => earlier.count()).toBe(0)
  // A new text quotes the text that the message has now.
  await open('Monday', 'Reply')
  await say('or Tuesday')
  await bubble('or Tuesday').getByRole('button', { name: 'You See you on Monday' }).waitFor()
  await page.reload()
  await bubble('See you on Monday').getByRole('button', { name: 'Edited' }).waitFor()
})

test('a message is edited and deleted with the keyboard', async () => {
  const { number, page, log, bubble, say } = await openPhone('Kai Keys')
  await say('first')
  await say('secnod')
  await page.keyboard.type('unsent')
  await page.keyboard.press('ArrowUp')
  expect(await focused(page)).toBe('Message')
  await page.getByRole('textbox', { name: 'Message' }).fill('')
  await page.keyboard.press('ArrowUp')
  await expect.poll(() => focused(page)).toBe('Edit message')
  await page.keyboard.press('Escape')
  await expect.poll(() => focused(page)).toBe('Message')
  await page.keyboard.press('ArrowUp')
  await expect.poll(() => focused(page)).toBe('Edit message')
  await page.keyboard.press('Control+A')
  await page.keyboard.type('second')
  await page.keyboard.press('Enter')
  await bubble('second').getByRole('button', { name: 'Edited' }).waitFor()

  await bubble('first').getByRole('button', { name: 'Message actions' }).focus()
  await page.keyboard.press('Enter')
  for (const name of ['Reply', 'Edit', 'Delete']) {
    await page
      .getByRole('dialog', { name: 'Message actions' })
      .getByRole('button', { name })
      .and(page.locator(':focus'))
      .waitFor()
    if (name !== 'Delete') await page.keyboard.press('Tab')
  }
  await page.keyboard.press('Enter')
  const sheet = page.getByRole('dialog', { name: 'Delete this message?' })
  await sheet.locator(':focus').waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => focused(page)).toBe('Message actions')
  const id = await bubble('first').getAttribute('data-id')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Delete', exact: true }).press('Enter')
  await sheet.getByRole('button', { name: 'Delete for everyone' }).press('Enter')
  const deleted = log.locator(`[data-id="${id}"]`)
  await deleted.getByText('This message was deleted').waitFor()
  expect(await deleted.textContent()).not.toContain('first')
  await expect.poll(() => focused(page)).toBe('Message')
  expect((await posted('messages', number, 'revoke'))?.value.messages).toMatchObject([
    { type: 'revoke', revoke: { original_message_id: id } },
  ])
  await deleted.getByRole('button', { name: 'Message actions' }).press('Enter')
  const menu = page.getByRole('dialog', { name: 'Message actions' })
  expect(await menu.getByRole('button').allTextContents()).toEqual(['Show in network log', 'Copy message ID'])
})

test('the business writes, edits and deletes in the Business app; an agent takes the chat and hands it back, and the log says so', async () => {
  const { number, page, log, bubble, say, open } = await openPhone('Bo Business')
  await page.getByRole('button', { name: 'Write in the Business app' }).click()
  const sheet = page.getByRole('dialog', { name: 'Write in the Business app' })
  await sheet.getByRole('button', { name: 'Send' }).click()
  await sheet.getByText('Enter a text.').waitFor()
  await sheet.getByLabel('Text').fill('We close at six')
  await sheet.getByRole('button', { name: 'Send' }).click()
  await bubble('We close at six').getByText('Business app').waitFor()
  expect(await bubble('We close at six').getByRole('img').count()).toBe(0)
  expect(await posted('smb_message_echoes', number)).toMatchObject({
    value: { message_echoes: [{ from: business, to: number, text: { body: 'We close at six' } }] },
  })
  await open('We close at six', 'Edit')
  await page.getByRole('textbox', { name: 'Edit message' }).fill('We close at seven')
  await page.keyboard.press('Enter')
  await bubble('We close at seven').getByRole('button', { name: 'Edited' }).waitFor()
  expect((await posted('smb_message_echoes', number, 'seven'))?.value.message_echoes).toMatchObject([{ type: 'edit' }])
  await open('We close at seven', 'Delete')
  await page.getByRole('button', { name: 'Delete for everyone' }).click()
  await log.getByText('This message was deleted').waitFor()
  expect((await posted('smb_message_echoes', number, 'revoke'))?.value.message_echoes).toMatchObject([
    { type: 'revoke' },
  ])

  const agent = page.getByRole('switch', { name: 'Agent handles this chat' })
  expect(await page.getByRole('button', { name: 'Write as the agent' }).count()).toBe(0)
  await agent.click()
  await page.getByRole('switch', { name: 'Agent handles this chat', checked: true }).waitFor()
  expect(await posted('messaging_handovers', number)).toMatchObject({ value: { type: 'control_taken' } })
  await say('Are you open?')
  expect(await posted('standby', number)).toMatchObject({ value: { standby: { messages: [{ from: number }] } } })
  await page.getByRole('button', { name: 'Write as the agent' }).click()
  await page.getByRole('dialog', { name: 'Write as the agent' }).getByLabel('Text').fill('Until six')
  await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click()
  await bubble('Until six').getByText('Agent').waitFor()
  await bubble('Until six').getByRole('img', { name: 'Read' }).waitFor()
  const entries = page.getByRole('list', { name: 'Network log' }).getByRole('listitem')
  await entries.filter({ hasText: 'standby message · text' }).filter({ hasText: 'Are you open?' }).waitFor()
  await entries.filter({ hasText: 'standby echo · text' }).first().waitFor()
  await entries.filter({ hasText: 'messaging_handovers' }).filter({ hasText: 'control_taken' }).first().waitFor()
  await agent.click()
  expect(await posted('messaging_handovers', number, 'control_passed')).toBeDefined()
  await say('Thanks')
  expect(await posted('messages', number, 'Thanks')).toBeDefined()
})

test('a chat is opened without writing, calls are allowed, and history, contacts and any update are posted', async () => {
  const { number, page, bubble } = await openPhone('Cal Calls')
  await page.getByRole('button', { name: 'Open the chat without writing' }).click()
  await bubble('Opened the chat for the first time').waitFor()
  expect((await posted('messages', number))?.value.messages).toMatchObject([{ type: 'request_welcome' }])
  const [{ token } = { token: '' }] = simulator.control.tokens.list()
  const send = async (type: string, body: string) => {
    const interactive = { type, body: { text: body }, action: { name: type } }
    const sent = await fetch(`${simulator.url}/v25.0/106540000000001/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ messaging_product: 'whatsapp', to: number, type: 'interactive', interactive }),
    })
    expect(sent.status).toBe(200)
  }
  await send('call_permission_request', 'May we call you?')
  await bubble('May we call you?').getByRole('button', { name: 'Allow calls' }).click()
  await bubble('Calls allowed').waitFor()
  expect((await posted('messages', number, 'call_permission_reply'))?.value.messages).toMatchObject([
    { interactive: { call_permission_reply: { response: 'accept', expiration_timestamp: expect.any(Number) } } },
  ])
  await send('voice_call', 'Or call us')
  await bubble('Or call us').getByRole('button', { name: 'Call now' }).click()
  await page.getByText('A real phone would now call +1 555-078-0001.').waitFor()

  await page.getByRole('button', { name: 'Share history' }).click()
  await page.getByText('Sent a chunk of history.').waitFor()
  expect(await posted('history', 'media_placeholder')).toBeDefined()
  await page.getByRole('button', { name: 'Share contacts' }).click()
  expect(await posted('smb_app_state_sync', number)).toBeDefined()
  await page.getByRole('button', { name: 'Post any update' }).click()
  const sheet = page.getByRole('dialog', { name: 'Post any update' })
  await sheet.getByLabel('Field').fill('new_field')
  await sheet.getByLabel('Value (JSON)').fill('[1,')
  await sheet.getByRole('button', { name: 'Post' }).click()
  await sheet.getByText('This is not valid JSON.').waitFor()
  await sheet.getByLabel('Value (JSON)').fill(`["${number}", null]`)
  await sheet.getByRole('button', { name: 'Post' }).click()
  await page.getByText('Posted a webhook with the field new_field.').waitFor()
  expect((await posted('new_field', number))?.value).toEqual([number, null])
  // The other number is not in the Business app.
  await page.getByRole('button', { name: 'Harbour Pharmacy' }).click()
  await expect.poll(() => page.getByRole('button', { name: 'Share history' }).count()).toBe(0)
})

test('edited and deleted messages have no serious accessibility violations in light and dark', async () => {
  const { number, page, bubble, say } = await openPhone('Eva Eyes', { bypassCSP: true })
  const { phones, numbers } = simulator.control
  await say('tpyo')
  await say('to be deleted')
  await phones.delete(number, {})
  await phones.edit(number, { text: 'typo' })
  await numbers.echo(business, { phone: number, text: 'From the app' })
  await numbers.edit(business, { phone: number, text: 'From the Business app' })
  await numbers.echo(business, { phone: number, text: 'gone' })
  await numbers.delete(business, { phone: number })
  for (const words of ['typo', 'From the Business app'])
    await bubble(words).getByRole('button', { name: 'Edited' }).click()
  await expect.poll(() => page.getByText('This message was deleted').count()).toBe(2)
  await page.getByRole('textbox', { name: 'Message' }).press('ArrowUp')
  await page.getByRole('textbox', { name: 'Edit message' }).waitFor()
  expect(await seriousViolations(page, 'handset edits')).toEqual([])
})
