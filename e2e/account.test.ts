import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { screenshot } from '../server/testing/browser.ts'
import { newBrowser } from '../server/testing/console.ts'
import { until } from '../server/testing/until.ts'
import { choose, isOnTop } from './page-ready.ts'
import { ada, useSignedIn } from './signed-in.ts'

/** Account and workspace settings: they are saved, are there after a reload, and errors are shown at the field. */
const console = useSignedIn('localhost')

test('a passkey can be added and used to sign in and to confirm until it is removed; elsewhere, there is a link to its address', async () => {
  const page = await console.open('/account', { expects: /401|403/, isNew: true })
  const authenticator = await page.context().newCDPSession(page)
  await authenticator.send('WebAuthn.enable')
  await authenticator.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  const passkeys = section(page, 'Passkeys')
  await passkeys.getByText('No passkeys yet.').waitFor()
  const add = async (name: string) => {
    await passkeys.getByRole('button', { name: 'Add passkey' }).click()
    const form = page.getByRole('dialog', { name: 'Add passkey' })
    await form.getByLabel('Name').fill(name)
    await form.getByRole('button', { name: 'Continue' }).click()
    return form
  }
  const unnamed = await add('')
  await unnamed.getByText('Enter a name.').waitFor()
  await unnamed.getByLabel('Name').fill('Laptop')
  await unnamed.getByRole('button', { name: 'Continue' }).click()
  await passkeys.getByText('Laptop').waitFor()
  // The authenticator reports that it already has a passkey for this account.
  const second = await add('Laptop again')
  await second.getByRole('alert').getByText('This device already has a passkey for your account.').waitFor()
  await screenshot(page, 'a passkey that exists already')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Discard changes' }).click()

  await signOut(page)
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()

  // Later, an action that needs a recent confirmation asks for the passkey, even if there is no password.
  const { db } = console
  const hash = await db.first<{ password_hash: string }>('select password_hash from people where email = $1', [
    ada.email,
  ])
  for (const hasPassword of [true, false]) {
    if (!hasPassword) await db.change('update people set password_hash = null where email = $1', [ada.email])
    await db.change(`update sessions set confirmed_at = confirmed_at - interval '1 hour'`)
    // The page knows from its load on whether there is a password.
    if (hasPassword) await console.visit(page, 'audit')
    else await page.reload()
    await page.getByRole('button', { name: 'Export CSV' }).click()
    const prompt = page.getByRole('dialog', { name: 'Confirm your identity' })
    await prompt.getByText('Confirm with your fingerprint, face or device PIN.').waitFor()
    await expect
      .poll(() => prompt.getByRole('button', { name: 'Use your password instead' }).count())
      .toBe(hasPassword ? 1 : 0)
    if (hasPassword) await screenshot(page, 'confirming with a passkey')
    const download = page.waitForEvent('download')
    await prompt.getByRole('button', { name: 'Use passkey' }).click()
    expect((await download).suggestedFilename()).toBe('audit.csv')
    await prompt.waitFor({ state: 'hidden' })
  }
  await db.change('update people set password_hash = $2 where email = $1', [ada.email, hash?.password_hash])

  await console.visit(page, '/account')
  await passkeys.getByRole('button', { name: 'Remove Laptop' }).click()
  const question = page.getByRole('dialog', { name: 'Remove this passkey?' })
  await question.getByText('You can no longer sign in with Laptop.').waitFor()
  await question.getByRole('button', { name: 'Remove passkey' }).click()
  await passkeys.getByText('No passkeys yet.').waitFor()
  await signOut(page)
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await page.getByRole('alert').getByText('This passkey is not registered. Sign in with your password.').waitFor()
  await signInAgain(ada.password)

  // The same service under another name: the passkeys of this installation are for localhost.
  await page.goto(`${console.place.url.replace('localhost', '127.0.0.1')}/sign-in`)
  const link = page.getByRole('link', { name: `Use a passkey at ${console.place.url}` })
  await isOnTop(link)
  await screenshot(page, 'passkey elsewhere')
  expect(await link.getAttribute('href')).toBe(`${console.place.url}/sign-in`)
  expect(await page.getByRole('button', { name: 'Use a passkey' }).count()).toBe(0)
})

test('an operator finds a failed sign-in in the audit log of the installation, by its action', async () => {
  const signInWith = async (password: string) => {
    const body = { email: ada.email, password }
    return (await newBrowser(console.place.url).call('/sign-in', { method: 'POST', body })).status
  }
  expect([await signInWith(ada.password), await signInWith('not the password at all')]).toEqual([200, 401])
  const page = await console.open('/operator/workspaces?tab=log')
  const log = page.getByRole('table', { name: 'Installation audit log' })
  await log.getByText('signed in (password)').first().waitFor()
  await page.getByRole('button', { name: 'Action' }).click()
  await page.getByRole('option', { name: 'Sign-in failed' }).click()
  await log.getByText('failed to sign in (wrong password)').waitFor()
  await log.getByText('signed in (password)').first().waitFor({ state: 'detached' })
  await screenshot(page, 'a failed sign-in')
})

test('a name and a notification are saved, and errors are shown at the field', async () => {
  const page = await openAccount()
  const name = page.getByLabel('Name', { exact: true })
  const save = page.getByRole('button', { name: 'Save name' })
  await expect.poll(() => save.isDisabled()).toBe(true)
  await name.fill('  ')
  await save.click()
  await hasError(page, 'Name', 'Enter your name.')
  await name.fill('x'.repeat(300))
  await save.click()
  await until('the API error is shown at the field', async () => (await errorAt(page, 'Name'))?.includes('100'))
  await name.fill('Ada Nilsson')
  await save.click()
  await page.getByText('Name saved').waitFor()

  const notifications = section(page, 'Email notifications')
  await notifications.getByText('This installation sends no emails yet.').waitFor()
  const toggle = notifications.getByRole('switch', { name: 'Credits are low' })
  await expect.poll(() => toggle.isChecked()).toBe(true)
  await toggle.click()
  await until('the choice is saved', async () => {
    const { body } = await console.ada.call('/account/notifications')
    return body.choices.some((each: { kind: string; wanted: boolean }) => each.kind === 'credits_low' && !each.wanted)
  })
  await page.reload()
  await page.getByRole('button', { name: 'Ada Nilsson' }).waitFor()
  await expect.poll(() => name.inputValue()).toBe('Ada Nilsson')
  await toggle.waitFor()
  await expect.poll(() => toggle.isChecked()).toBe(false)
  await screenshot(page, 'email notifications')
})

test('changing the password needs the current one; a forgotten one leads to the operator without emails', async () => {
  const page = await openAccount()
  const next = 'nine patient herons'
  const change = page.getByRole('button', { name: 'Change password' })
  await change.click()
  await page.getByLabel('Current password').fill('not the password at all')
  await page.getByLabel('New password').fill('short')
  await change.click()
  await until('the field shows that it is too short', async () =>
    (await errorAt(page, 'New password'))?.includes('Too short'),
  )
  await page.getByLabel('New password').fill(next)
  await change.click()
  await hasError(page, 'Current password', 'Wrong password.')
  await page.getByLabel('Current password').fill(ada.password)
  await page.getByLabel('New password').fill('parley parley parley')
  await change.click()
  await until('the API error is shown', async () => (await errorAt(page, 'New password')) !== undefined)
  await screenshot(page, 'a refused password')
  await page.getByLabel('New password').fill(next)
  await change.click()
  await page.getByText('Password changed.').waitFor()
  await signOut(page)

  await page.getByRole('button', { name: 'Forgot your password?' }).click()
  // It promises no email, and needs no address to say so.
  await page.getByText('./parley user reset --email').waitFor()
  await page.getByText('This installation sends no emails.').waitFor()
  expect(await page.getByLabel('Email address').count()).toBe(0)
  expect(await page.getByText('link by email').count()).toBe(0)
  await screenshot(page, 'a forgotten password without emails')
  await page.getByRole('button', { name: 'Back to sign-in' }).click()
  await page.getByLabel('Email address').fill(ada.email)
  await page.getByLabel('Password', { exact: true }).fill(next)
  await page.getByLabel('Password', { exact: true }).press('Enter')
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  await signInAgain(next)
})

test('workspace settings are saved, and errors are shown at the field', async () => {
  const page = await console.open('settings')
  const name = page.getByLabel('Name', { exact: true })
  const workspace = section(page, 'Workspace')
  await name.fill('')
  await workspace.getByRole('button', { name: 'Save' }).click()
  await hasError(page, 'Name', 'Enter a name.')
  await name.fill('Harbour clinic')
  await workspace.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Name saved').waitFor()

  const credits = section(page, 'Credits')
  const threshold = credits.getByLabel('Warn when the balance is at or below')
  await threshold.fill('')
  await credits.getByRole('button', { name: 'Save' }).click()
  await hasError(page, 'Warn when the balance is at or below', 'Enter a whole number, or 0 to turn the warning off.')
  await threshold.fill('1250')
  await credits.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Low-credit warning saved').waitFor()
  await screenshot(page, 'settings that were saved')

  await page.reload()
  await threshold.waitFor()
  await expect.poll(() => name.inputValue()).toBe('Harbour clinic')
  await expect.poll(() => threshold.inputValue()).toBe('1,250')
  await page.getByRole('button', { name: /Harbour clinic/ }).waitFor()
  // Without a second factor of their own, the admin would lock themselves out.
  await expect.poll(() => page.getByLabel('Require two-factor authentication').isDisabled()).toBe(true)
  await page.getByRole('link', { name: 'Set up' }).waitFor()
})

const section = (page: Page, title: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) })

/** The error message that aria-describedby links to a field. */
async function errorAt(page: Page, label: string): Promise<string | undefined> {
  const field = page.getByLabel(label, { exact: true })
  if ((await field.getAttribute('aria-invalid')) !== 'true') return undefined
  const ids = ((await field.getAttribute('aria-describedby')) ?? '').split(' ')
  const texts = await Promise.all(ids.map((id) => page.locator(`[id="${id}"]`).allTextContents()))
  return texts.flat().join(' ')
}

const hasError = (page: Page, label: string, message: string) =>
  until(`${label}: ${message}`, async () => (await errorAt(page, label))?.includes(message))

async function openAccount(): Promise<Page> {
  const page = await console.open('/account', { expects: /40[01]|422/ })
  await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor()
  return page
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /account and settings/ }).click()
  await choose(page, 'Sign out')
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
}

/** For the other tests, whose session has ended. */
const signInAgain = (password: string) =>
  console.ada.call('/sign-in', { method: 'POST', body: { email: ada.email, password } })
