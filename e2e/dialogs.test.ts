import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { type PageOptions, screenshot } from '../server/testing/browser.ts'
import { goodPassword } from '../server/testing/console.ts'
import { until } from '../server/testing/until.ts'
import { animationsDone, asksOnUnload, choose, isOnTop } from './page-ready.ts'
import { useSignedIn } from './signed-in.ts'

/** Stacked dialogs and drawers: the last one opened is on top, has the focus, and is the only one that Esc closes. */
const console = useSignedIn()

/** The form of a new key, with values. */
async function openKeyForm(page: Page) {
  await page.getByRole('button', { name: 'Create key' }).first().click()
  const form = page.getByRole('dialog', { name: 'Create key' })
  const name = form.getByLabel('Name')
  await name.fill('Order service')
  await form.getByRole('button', { name: 'Read only' }).click()
  const isUnchanged = async () => (await name.inputValue()) === 'Order service'
  return { form, name, isUnchanged, submit: form.getByRole('button', { name: 'Create key' }) }
}

/** What all forms whose request needs a confirmation have in common. */
function confirmationOf(page: Page, form: Locator, submit: Locator, isUnchanged: () => Promise<boolean>) {
  const { prompt, password } = promptOf(page)
  return {
    async ask() {
      await submit.click()
      await prompt.waitFor()
      await isOnTop(password)
      await hasFocus(page, password)
    },
    async isUsableAgain() {
      await prompt.waitFor({ state: 'detached' })
      expect(await isUnchanged()).toBe(true)
      await form.getByText('Nothing was changed, because you did not confirm').waitFor()
      await until('the button no longer spins', async () => (await submit.getAttribute('aria-busy')) === null)
      await until('the focus is in the form', async () => (await form.locator(':focus').count()) === 1)
      await isOnTop(submit)
    },
  }
}

test('the password prompt is on top of a form, also on a phone, and cancelling it keeps the form; Back leaves a copied secret', async () => {
  const page = await open('team', { permissions: ['clipboard-read', 'clipboard-write'] })
  await page.getByRole('link', { name: 'API keys' }).click()
  const { form, submit, isUnchanged } = await openKeyForm(page)
  await expireConfirmation()
  const { prompt, password } = promptOf(page)
  const { ask, isUsableAgain } = confirmationOf(page, form, submit, isUnchanged)
  await ask()
  await screenshot(page, 'confirm create key')
  for (const cancel of [
    () => page.keyboard.press('Escape'),
    () => page.mouse.click(8, 8),
    () => prompt.getByRole('button', { name: 'Cancel' }).click(),
  ]) {
    await cancel()
    await isUsableAgain()
    await ask()
  }
  await password.fill('not the password at all')
  await page.keyboard.press('Enter')
  await prompt.getByText('Wrong password.').waitFor()
  await page.setViewportSize({ width: 390, height: 844 })
  await isOnTop(password)
  await screenshot(page, 'confirm on a phone')
  await prompt.getByRole('button', { name: 'Cancel' }).click()
  await isUsableAgain()
  await ask()
  await page.setViewportSize({ width: 1440, height: 900 })
  await password.fill(goodPassword)
  await page.keyboard.press('Enter')
  const shown = page.getByRole('dialog', { name: 'Your new key' })
  await prompt.waitFor({ state: 'detached' })
  await isOnTop(shown.getByRole('button').first())

  await shown.getByRole('button', { name: 'Copy', exact: true }).first().click()
  await page.goBack()
  await shown.waitFor({ state: 'detached' })
  expect(await askingOf(page).asking.count()).toBe(0)
})

test('over a drawer: the password prompt, and a secret that neither Esc nor Back nor the palette loses without asking', async () => {
  const page = await open('team')
  await page.getByRole('link', { name: 'API keys' }).click()
  await page.getByRole('row').nth(1).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  const form = page.getByRole('dialog', { name: 'Rotate key' })
  const choice = form.getByLabel('After 1 hour')
  await choice.check()
  const isUnchanged = async () => (await choice.isChecked()) && page.url().includes('open=')
  const submit = form.getByRole('button', { name: 'Rotate key' })
  await expireConfirmation()
  const { password } = promptOf(page)
  const { ask, isUsableAgain } = confirmationOf(page, form, submit, isUnchanged)
  await ask()
  await page.keyboard.press('Escape')
  await isUsableAgain()
  await ask()
  await password.fill(goodPassword)
  await page.keyboard.press('Enter')

  const done = page.getByRole('dialog', { name: 'Your new key' })
  const { asking, cancel, close } = askingOf(page)
  await done.getByRole('button', { name: 'Done' }).click()
  await isOnTop(close)
  // Esc closes one dialog at a time, and none while a dialog is open that Esc must not close.
  await page.keyboard.press('Escape')
  await asking.waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
  await isOnTop(done.getByRole('button', { name: 'Done' }))

  const address = page.url()
  await page.goBack()
  await isOnTop(cancel)
  await screenshot(page, 'back while a secret is shown')
  await cancel.click()
  await asking.waitFor({ state: 'detached' })
  await isOnTop(done.getByRole('button', { name: 'Reveal' }))
  expect(page.url()).toBe(address)

  // A page that is chosen in the palette does not replace the secret either.
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search or jump to' }).fill('webhooks')
  await isOnTop(page.getByRole('option', { name: /^Webhooks/ }))
  await page.keyboard.press('Enter')
  await isOnTop(close)
  expect(page.url()).toBe(address)
  await close.click()
  await done.waitFor({ state: 'detached' })
  // Nothing is left to lose: Back closes the drawer.
  await isOnTop(page.getByRole('dialog').getByRole('button', { name: 'Close' }))
  await page.goBack()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(page.url()).not.toContain('open=')
})

test('removing a passkey stacks the list, the confirmation and the password prompt', async () => {
  const { person } = (await console.ada.call('/session')).body
  await console.db.change(
    `insert into passkeys (id, person_id, name, credential_id, public_key, counter, transports, created_at)
     values (gen_random_uuid(), $1, 'Old phone', 'e2e', 'none', 0, '{}', now())`,
    [person.id],
  )
  const page = await open('/operator/workspaces?tab=people')
  await page.getByRole('button', { name: 'Actions for Ada' }).click()
  await choose(page, 'Passkeys…')
  const list = page.getByRole('dialog', { name: 'Passkeys' })
  await list.getByText(/^Added /).waitFor()
  await screenshot(page, 'passkeys of a person')
  await list.getByRole('button', { name: 'Remove Old phone' }).click()
  const question = page.getByRole('dialog', { name: 'Remove this passkey?' })
  await expireConfirmation()
  const remove = question.getByRole('button', { name: 'Remove passkey' })
  await isOnTop(remove)
  await remove.click()
  const { password } = promptOf(page)
  await isOnTop(password)
  await password.fill(goodPassword)
  await page.keyboard.press('Enter')
  await list.getByText('No passkeys.').waitFor()
  await question.waitFor({ state: 'detached' })
  await isOnTop(list.getByRole('button', { name: 'Close' }).first())
})

test('a dialog over a drawer is on top with the focus, which returns with each Esc to what opened it', async () => {
  const [key] = (await console.ada.call(`/w/${console.place.workspaceId}/keys`)).body.data
  const page = await open(`keys?open=${key.id}&add_ip=203.0.113.7`)
  const form = page.getByRole('dialog', { name: 'Edit key' })
  await form.waitFor()
  await animationsDone(page)
  await isOnTop(form.getByRole('button', { name: 'Save changes' }))
  await until('the focus is in the dialog', async () => (await form.locator(':focus').count()) === 1)
  await page.keyboard.press('Escape')
  await form.waitFor({ state: 'detached' })
  await isOnTop(page.getByRole('dialog').getByRole('button', { name: 'Close' }))
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })

  await page.getByRole('row').nth(1).focus()
  await page.keyboard.press('Enter')
  const edit = page.getByRole('dialog').getByRole('button', { name: 'Edit' })
  await isOnTop(edit)
  await edit.focus()
  await page.keyboard.press('Enter')
  await isOnTop(form.getByLabel('Name'))
  await page.keyboard.press('Escape')
  await form.waitFor({ state: 'detached' })
  await isOnTop(edit)
  await hasFocus(page, edit)
  await page.keyboard.press('Escape')
  await edit.waitFor({ state: 'detached' })
  await hasFocus(page, page.getByRole('row').nth(1))
})

test('on a phone, Esc closes the search but not the menu it was opened from', async () => {
  const page = await open('keys', { viewport: { width: 390, height: 844 } })
  await page.getByRole('button', { name: 'Menu' }).click()
  const menu = page.getByRole('dialog', { name: 'Menu' })
  await menu.getByRole('button', { name: /Search/ }).click()
  const search = page.getByRole('combobox', { name: 'Search or jump to' })
  await isOnTop(search)
  await page.keyboard.press('Escape')
  await search.waitFor({ state: 'detached' })
  expect(await menu.isVisible()).toBe(true)
})

test('Back asks before the link of an invitation is lost, which has the chosen role', async () => {
  await console.ada.call('/confirm', { method: 'POST', body: { password: goodPassword } })
  const page = await open('messages')
  await page.getByRole('link', { name: 'Team' }).click()
  await page.getByRole('button', { name: 'Invite teammate' }).first().click()
  await page.getByLabel('Email address').fill('cleo@harbour.example')
  await page.getByRole('radio', { name: 'Member' }).check()
  await page.getByRole('button', { name: 'Create link' }).click()
  const shared = page.getByRole('dialog', { name: 'Share this link' })
  await shared.getByText(/\/link#/).waitFor()
  await isOnTop(shared.getByRole('button', { name: 'Done' }))
  await page.goBack()
  const { cancel, close } = askingOf(page)
  await isOnTop(cancel)
  await close.click()
  await shared.waitFor({ state: 'detached' })
  await isOnTop(page.getByRole('heading', { name: 'Team', level: 1 }))
  await page
    .getByRole('row', { name: /cleo@harbour\.example/ })
    .getByText('Member')
    .waitFor()
})

test('the secret of a webhook is rotated after a confirmation, and by default the old one keeps signing', async () => {
  const webhook = { name: 'Payroll', url: 'http://127.0.0.1:9/', events: ['message.received'] }
  const { body } = await console.ada.call(`/w/${console.place.workspaceId}/webhooks`, { method: 'POST', body: webhook })
  const page = await open(`webhooks/${body.webhook.id}?tab=signing`)
  await page.getByRole('button', { name: 'Rotate secret' }).click()
  const form = page.getByRole('dialog', { name: 'Rotate signing secret' })
  expect(await form.getByRole('radio', { name: 'Sign with both' }).isChecked()).toBe(true)
  await expireConfirmation()
  await form.getByRole('button', { name: 'Create new secret' }).click()
  const { password } = promptOf(page)
  await isOnTop(password)
  await password.fill(goodPassword)
  await page.keyboard.press('Enter')
  const done = page.getByRole('dialog', { name: 'Your new signing secret' })
  await done.getByRole('button', { name: 'Reveal' }).click()
  const secret = await done.getByText(/^whsec_/).textContent()
  const after = await console.ada.call(`/w/${console.place.workspaceId}/webhooks/${body.webhook.id}`)
  expect(after.body).toMatchObject({
    secret_hint: body.webhook.secret_hint,
    staged_secret_hint: expect.stringMatching(/^whsec_/),
  })
  expect(after.body.staged_secret_hint.slice(-4)).toBe(secret?.slice(-4))
})

test('a form asks before edits are lost, however it is closed, and is kept below the palette', async () => {
  const page = await open('keys?new=1')
  const { question, keep, discard } = questionOf(page)
  // An edit that was undone is none.
  const first = page.getByRole('dialog', { name: 'Create key' })
  await first.getByLabel('Name').fill('Order service')
  await first.getByLabel('Name').fill('')
  await page.keyboard.press('Escape')
  await first.waitFor({ state: 'detached' })
  expect(await question.count()).toBe(0)

  const { form, name, isUnchanged } = await openKeyForm(page)
  await name.focus()
  await page.keyboard.press('Control+k')
  const search = page.getByRole('combobox', { name: 'Search or jump to' })
  await isOnTop(search)
  await hasFocus(page, search)
  await search.fill('team')
  await page.keyboard.press('Escape')
  await search.waitFor({ state: 'detached' })
  await isOnTop(name)
  await hasFocus(page, name)
  expect(await isUnchanged()).toBe(true)

  for (const close of [
    () => page.keyboard.press('Escape'),
    () => form.getByRole('button', { name: 'Cancel' }).click(),
    () => form.getByRole('button', { name: 'Close' }).click(),
    () => page.mouse.click(4, 4),
  ]) {
    await close()
    await isOnTop(keep)
    await keep.click()
    await question.waitFor({ state: 'detached' })
    expect(await isUnchanged()).toBe(true)
  }
  expect(await asksOnUnload(page)).toBe(true)
  await page.keyboard.press('Escape')
  await discard.click()
  await form.waitFor({ state: 'detached' })
  expect(await question.count()).toBe(0)
  await until('the browser does not ask', async () => !(await asksOnUnload(page)))
  await hasFocus(page, page.getByRole('button', { name: 'Create key' }).first())
})

test('links, tabs and Back ask before the edits of a webhook are lost', async () => {
  const { ada, place } = console
  const webhook = { name: 'Booking system', url: 'http://127.0.0.1:9/', events: ['message.received'] }
  await ada.call(`/w/${place.workspaceId}/webhooks`, { method: 'POST', body: webhook })
  const page = await open('webhooks')
  await page.getByRole('row', { name: /Booking system/ }).click()
  await page.getByRole('tab', { name: 'Settings' }).click()
  const name = page.getByRole('textbox', { name: 'Name' })
  await name.fill('Another name')
  const { question, keep, discard } = questionOf(page)
  const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Team' })
  const leavings = [
    () => link.click(),
    () => page.getByRole('tab', { name: 'Events' }).click(),
    () => page.evaluate('history.back()'),
  ]
  for (const leave of leavings) {
    await leave()
    await keep.click()
    await question.waitFor({ state: 'detached' })
    await until('the page is open again', () => page.url().endsWith('?tab=settings'))
    expect(await name.inputValue()).toBe('Another name')
  }
  expect(await asksOnUnload(page)).toBe(true)
  await link.click()
  await discard.click()
  await page.getByRole('heading', { level: 1, name: 'Team' }).waitFor()
  expect(await asksOnUnload(page)).toBe(false)

  await page.goBack()
  await name.waitFor()
  expect(await name.inputValue()).toBe('Booking system')
  await name.fill('Booking system 2')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await until('the browser does not ask', async () => !(await asksOnUnload(page)))
  await link.click()
  await page.getByRole('heading', { level: 1, name: 'Team' }).waitFor()
})

test('leaving a template asks before the values of its variables are lost', async () => {
  const { ada, place } = console
  const { body } = await ada.call(`/w/${place.workspaceId}/templates?q=appointment_reminder`)
  const page = await open(`templates/${body.data[0].id}`)
  await page.getByRole('textbox', { name: /body\.1/ }).fill('Friday')
  await page.getByRole('tab', { name: 'Components' }).click()
  await page.getByRole('tab', { name: 'Use' }).click()
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').first().click()
  await questionOf(page).discard.click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
})

/** The 401 and 403 responses that the tests cause are errors in the browser's console. */
const open = (path: string, options: PageOptions = {}) =>
  console.open(path, { expects: /status of 40[13]/, ...options })

/** Moves the last confirmation eleven minutes into the past, so that the next request needs a new one. */
const expireConfirmation = () => console.db.change(`update sessions set confirmed_at = now() - interval '11 minutes'`)

function promptOf(page: Page) {
  const prompt = page.getByRole('dialog', { name: 'Confirm your identity' })
  return { prompt, password: prompt.getByLabel('Password', { exact: true }) }
}

function questionOf(page: Page) {
  const question = page.getByRole('dialog', { name: 'Discard your changes?' })
  return {
    question,
    keep: question.getByRole('button', { name: 'Keep editing' }),
    discard: question.getByRole('button', { name: 'Discard changes' }),
  }
}

function askingOf(page: Page) {
  const asking = page.getByRole('dialog', { name: 'You won’t see this again' })
  return {
    asking,
    cancel: asking.getByRole('button', { name: 'Cancel' }),
    close: asking.getByRole('button', { name: 'Close without copying' }),
  }
}

const hasFocus = (page: Page, target: Locator) =>
  until(`the focus is on ${target}`, async () => (await page.locator(':focus').and(target).count()) > 0)
