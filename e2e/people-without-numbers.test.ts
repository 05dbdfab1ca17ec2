import { beforeAll, expect, test } from 'vitest'
import { screenshot } from '../server/testing/browser.ts'
import { until } from '../server/testing/until.ts'
import { useSignedIn } from './signed-in.ts'

/** A person who hides their phone number: in the list, in a conversation and as a recipient. */
const console = useSignedIn()
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
