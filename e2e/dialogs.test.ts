import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { type PageOptions, screenshot } from '../server/testing/browser.ts'
import { goodPassword } from '../server/testing/console.ts'
import { until } from '../server/testing/until.ts'
import { animationsDone, asksOnUnload, choose, isOnTop } from './page-ready.ts'
import { useSignedIn } from './signed-in.ts'

/** Stacked dialogs and drawers: the last one opened is on top, has the focus, and is the only one that Esc closes. */
const console = useSignedIn()
let webhookId = ''

beforeAll(async () => {
  const { ada, place } = console
  const webhook = { name: 'Booking system', url: 'http://127.0.0.1:9/', events: ['message.received'] }
  webhookId = (await ada.call(`/w/${place.workspaceId}/webhooks`, { method: 'POST', body: webhook })).body.webhook.id
})

interface Confirmation {
  page: Page
  /** The dialog below the prompt. */
  form: Locator
  submit: Locator
  /** Whether the entered values are still there. */
  isUnchanged(): Promise<boolean>
  /** Shown once the action is done. */
  done: Locator
}

const confirmations = {
  async 'create key'(options?: PageOptions) {
    const page = await open('keys', options)
    await page.getByRole('button', { name: 'Create key' }).first().click()
    const form = page.getByRole('dialog', { name: 'Create key' })
    await form.getByLabel('Name').fill('Order service')
    await form.getByRole('button', { name: 'Read only' }).click()
    return {
      page,
      form,
      submit: form.getByRole('button', { name: 'Create key' }),
      isUnchanged: async () => (await form.getByLabel('Name').inputValue()) === 'Order service',
      done: page.getByRole('dialog', { name: 'Your new key' }),
    }
  },
  async 'rotate key, from a drawer'(options?: PageOptions) {
    const page = await open('keys', options)
    await page.getByRole('row').nth(1).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByRole('button', { name: 'Rotate' }).click()
    const form = page.getByRole('dialog', { name: 'Rotate key' })
    await form.getByLabel('After 1 hour').check()
    return {
      page,
      form,
      submit: form.getByRole('button', { name: 'Rotate key' }),
      isUnchanged: async () => (await form.getByLabel('After 1 hour').isChecked()) && page.url().includes('open='),
      done: page.getByRole('dialog', { name: 'Your new key' }),
    }
  },
  async 'create webhook'(options?: PageOptions) {
    const page = await open('webhooks', options)
    await page.getByRole('button', { name: 'Create webhook' }).first().click()
    const form = page.getByRole('dialog', { name: 'Create webhook' })
    await form.getByLabel('Name').fill('Billing')
    await form.getByLabel('URL').fill('http://127.0.0.1:9/billing')
    return {
      page,
      form,
      submit: form.getByRole('button', { name: 'Create webhook' }),
      isUnchanged: async () => (await form.getByLabel('URL').inputValue()) === 'http://127.0.0.1:9/billing',
      done: page.getByRole('dialog', { name: 'Your new webhook' }),
    }
  },
  async 'rotate webhook secret'(options?: PageOptions) {
    const page = await open(`webhooks/${webhookId}?tab=signing`, options)
    await page.getByRole('button', { name: 'Rotate secret' }).click()
    const form = page.getByRole('dialog', { name: 'Rotate signing secret' })
    return {
      page,
      form,
      // Without a choice, the old secret keeps signing until the new one is activated.
      submit: form.getByRole('button', { name: 'Create new secret' }),
      isUnchanged: () => form.getByRole('radio', { name: 'Sign with both' }).isChecked(),
      done: page.getByRole('dialog', { name: 'Your new signing secret' }),
    }
  },
  async invite(options?: PageOptions) {
    const page = await open('team', options)
    await page
      .getByRole('button', { name: /^Invite/ })
      .first()
      .click()
    const form = page.getByRole('dialog', { name: 'Invite a teammate' })
    await form.getByLabel('Email address').fill('ben@harbour.example')
    return {
      page,
      form,
      submit: form.getByRole('button', { name: 'Create link' }),
      isUnchanged: async () => (await form.getByLabel('Email address').inputValue()) === 'ben@harbour.example',
      done: page.getByRole('dialog', { name: 'Share this link' }),
    }
  },
} satisfies Record<string, (options?: PageOptions) => Promise<Confirmation>>

test.each(Object.entries(confirmations))(
  '%s: the password prompt is on top, and cancelling it keeps the form',
  async (name, begin) => {
    const { page, form, submit, isUnchanged, done } = await begin({ colorScheme: 'light' })
    await expireConfirmation()
    const { prompt, password } = promptOf(page)

    const ask = async () => {
      await submit.click()
      await prompt.waitFor()
      await isOnTop(password)
      await hasFocus(page, password)
    }
    const isUsableAgain = async () => {
      await prompt.waitFor({ state: 'detached' })
      expect(await isUnchanged()).toBe(true)
      await form.getByText('Nothing was changed, because you did not confirm').waitFor()
      await until('the button no longer spins', async () => (await submit.getAttribute('aria-busy')) === null)
      await until('the focus is in the form', async () => (await form.locator(':focus').count()) === 1)
      await isOnTop(submit)
    }
    await ask()
    await screenshot(page, `confirm ${name}`)
    await page.keyboard.press('Escape')
    await isUsableAgain()
    await ask()
    // The prompt is the same everywhere.
    if (name === 'create key') {
      await page.mouse.click(8, 8)
      await isUsableAgain()
      await ask()
      await prompt.getByRole('button', { name: 'Cancel' }).click()
      await isUsableAgain()
      await ask()
      await password.fill('not the password at all')
      await page.keyboard.press('Enter')
      await prompt.getByText('Wrong password.').waitFor()
    }
    await password.fill(goodPassword)
    await page.keyboard.press('Enter')
    await done.waitFor()
    await prompt.waitFor({ state: 'detached' })
    await isOnTop(done.getByRole('button').first())
  },
)

test('the password prompt is on top on a phone', async () => {
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
  const { page, submit, isUnchanged } = await confirmations['create key'](phone)
  await expireConfirmation()
  await submit.click()
  const { prompt, password } = promptOf(page)
  await isOnTop(password)
  await screenshot(page, 'confirm on a phone')
  await prompt.getByRole('button', { name: 'Cancel' }).click()
  await prompt.waitFor({ state: 'detached' })
  expect(await isUnchanged()).toBe(true)
})

test('Esc closes one dialog at a time, and none while a dialog is open that Esc must not close', async () => {
  await console.ada.call('/confirm', { method: 'POST', body: { password: goodPassword } })
  const { page, submit, done } = await confirmations['rotate key, from a drawer']()
  await submit.click()
  await done.getByRole('button', { name: 'Done' }).click()
  const asking = page.getByRole('dialog', { name: 'You won’t see this again' })
  await isOnTop(asking.getByRole('button', { name: 'Close without copying' }))
  await page.keyboard.press('Escape')
  await asking.waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
  await isOnTop(done.getByRole('button', { name: 'Done' }))
  await done.getByRole('button', { name: 'Done' }).click()
  await asking.getByRole('button', { name: 'Close without copying' }).click()
  await done.waitFor({ state: 'detached' })
  // Only the drawer is left.
  const drawer = page.getByRole('dialog')
  await isOnTop(drawer.getByRole('button', { name: 'Close' }))
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'detached' })
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
  const { prompt, password } = promptOf(page)
  await isOnTop(password)
  await page.keyboard.press('Escape')
  await prompt.waitFor({ state: 'detached' })
  await remove.click()
  await isOnTop(password)
  await password.fill(goodPassword)
  await page.keyboard.press('Enter')
  await list.getByText('No passkeys.').waitFor()
  await question.waitFor({ state: 'detached' })
  await isOnTop(list.getByRole('button', { name: 'Close' }).first())
})

test('a link that opens a drawer and a dialog puts the dialog on top, with the focus', async () => {
  const [key] = (await console.ada.call(`/w/${console.place.workspaceId}/keys`)).body.data
  const page = await open(`keys?open=${key.id}&add_ip=203.0.113.7`)
  const edit = page.getByRole('dialog', { name: 'Edit key' })
  await edit.waitFor()
  await animationsDone(page)
  await isOnTop(edit.getByRole('button', { name: 'Save changes' }))
  await until('the focus is in the dialog', async () => (await edit.locator(':focus').count()) === 1)
  await page.keyboard.press('Escape')
  await edit.waitFor({ state: 'detached' })
  await isOnTop(page.getByRole('dialog').getByRole('button', { name: 'Close' }))
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

test('Back asks before a secret is lost, even when it is shown over a drawer', async () => {
  await console.ada.call('/confirm', { method: 'POST', body: { password: goodPassword } })
  const { page, submit, done } = await confirmations['rotate key, from a drawer']()
  await submit.click()
  await isOnTop(done.getByRole('button', { name: 'Reveal' }))
  const address = page.url()
  const asking = page.getByRole('dialog', { name: 'You won’t see this again' })
  await page.goBack()
  await isOnTop(asking.getByRole('button', { name: 'Cancel' }))
  await screenshot(page, 'back while a secret is shown')
  await asking.getByRole('button', { name: 'Cancel' }).click()
  await asking.waitFor({ state: 'detached' })
  await isOnTop(done.getByRole('button', { name: 'Reveal' }))
  expect(page.url()).toBe(address)

  // A page that is chosen in the palette does not replace the secret either.
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search or jump to' }).fill('webhooks')
  await isOnTop(page.getByRole('option', { name: /^Webhooks/ }))
  await page.keyboard.press('Enter')
  await isOnTop(asking.getByRole('button', { name: 'Close without copying' }))
  expect(page.url()).toBe(address)
  await asking.getByRole('button', { name: 'Close without copying' }).click()
  await done.waitFor({ state: 'detached' })
  // Nothing is left to lose: Back closes the drawer.
  await isOnTop(page.getByRole('dialog').getByRole('button', { name: 'Close' }))
  await page.goBack()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

test('Back asks before a link is lost, and leaves after a secret was copied', async () => {
  await console.ada.call('/confirm', { method: 'POST', body: { password: goodPassword } })
  const page = await open('messages', { permissions: ['clipboard-read', 'clipboard-write'] })
  await page.getByRole('link', { name: 'Team' }).click()
  await page.getByRole('button', { name: 'Invite teammate' }).first().click()
  await page.getByLabel('Email address').fill('cleo@harbour.example')
  await page.getByRole('button', { name: 'Create link' }).click()
  const shared = page.getByRole('dialog', { name: 'Share this link' })
  await isOnTop(shared.getByRole('button', { name: 'Done' }))
  await page.goBack()
  const asking = page.getByRole('dialog', { name: 'You won’t see this again' })
  await isOnTop(asking.getByRole('button', { name: 'Cancel' }))
  await asking.getByRole('button', { name: 'Close without copying' }).click()
  await shared.waitFor({ state: 'detached' })
  await isOnTop(page.getByRole('heading', { name: 'Team', level: 1 }))

  await page.getByRole('link', { name: 'API keys' }).click()
  await page.getByRole('button', { name: 'Create key' }).first().click()
  const form = page.getByRole('dialog', { name: 'Create key' })
  await form.getByLabel('Name').fill('Copied')
  await form.getByRole('button', { name: 'Read only' }).click()
  await form.getByRole('button', { name: 'Create key' }).click()
  const shown = page.getByRole('dialog', { name: 'Your new key' })
  await shown.getByRole('button', { name: 'Copy', exact: true }).first().click()
  await page.goBack()
  await shown.waitFor({ state: 'detached' })
  expect(await asking.count()).toBe(0)
})

test('Esc closes the palette over a dialog, and the focus and the typed text stay in the dialog', async () => {
  const { page, form, isUnchanged } = await confirmations['create key']()
  const name = form.getByLabel('Name')
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
  await page.keyboard.press('Escape')
  await questionOf(page).discard.click()
  await form.waitFor({ state: 'detached' })
  await hasFocus(page, page.getByRole('button', { name: 'Create key' }).first())
})

test.each(['create key', 'create webhook', 'invite'] as const)(
  '%s: closing asks before edits are lost',
  async (name) => {
    const { page, form, isUnchanged } = await confirmations[name]()
    const { question, keep, discard } = questionOf(page)
    const closings = [
      () => page.keyboard.press('Escape'),
      () => form.getByRole('button', { name: 'Cancel' }).click(),
      () => form.getByRole('button', { name: 'Close' }).click(),
      () => page.mouse.click(4, 4),
    ]
    // All dialogs with a form share the ways to close them.
    for (const close of name === 'create key' ? closings : closings.slice(0, 1)) {
      await close()
      await isOnTop(keep)
      await keep.click()
      await question.waitFor({ state: 'detached' })
      expect(await isUnchanged()).toBe(true)
    }
    expect(await asksOnUnload(page)).toBe(true)
    await form.getByRole('button', { name: 'Cancel' }).click()
    await discard.click()
    await form.waitFor({ state: 'detached' })
    expect(await question.count()).toBe(0)
    await until('the browser does not ask', async () => !(await asksOnUnload(page)))
  },
)

test('a dialog without edits closes without asking, even after an edit was undone', async () => {
  const page = await open('keys?new=1')
  const form = page.getByRole('dialog', { name: 'Create key' })
  await form.getByLabel('Name').fill('Order service')
  await form.getByLabel('Name').fill('')
  await page.keyboard.press('Escape')
  await form.waitFor({ state: 'detached' })
  expect(await questionOf(page).question.count()).toBe(0)
})

test('links, tabs and Back ask before the edits of a webhook are lost', async () => {
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

test.each(['settings', '/account'])('leaving %s asks before edits are lost', async (path) => {
  const page = await open(path)
  await page.getByRole('textbox', { name: 'Name' }).first().fill('Changed')
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').first().click()
  await questionOf(page).discard.click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
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

test('Esc closes a dialog over a drawer, then the drawer, and the focus returns to what opened each', async () => {
  const page = await open('keys')
  await page.getByRole('row').nth(1).focus()
  await page.keyboard.press('Enter')
  const edit = page.getByRole('dialog').getByRole('button', { name: 'Edit' })
  await isOnTop(edit)
  await edit.focus()
  await page.keyboard.press('Enter')
  const form = page.getByRole('dialog', { name: 'Edit key' })
  await isOnTop(form.getByLabel('Name'))
  await page.keyboard.press('Escape')
  await form.waitFor({ state: 'detached' })
  await isOnTop(edit)
  await hasFocus(page, edit)
  await page.keyboard.press('Escape')
  await edit.waitFor({ state: 'detached' })
  await hasFocus(page, page.getByRole('row').nth(1))
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

const hasFocus = (page: Page, target: Locator) =>
  until(`the focus is on ${target}`, async () => (await page.locator(':focus').and(target).count()) > 0)
