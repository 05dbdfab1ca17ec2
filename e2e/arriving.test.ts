import { expect, test } from 'vitest'
import { screenshot, useBrowser } from '../server/testing/browser.ts'
import { goodPassword, newBrowser } from '../server/testing/console.ts'
import { until } from '../server/testing/until.ts'
import { isOnTop } from './page-ready.ts'
import { ada, cookiesOf, useSignedIn } from './signed-in.ts'

/** Pages that cannot be loaded, links that lead to the right place, and what people see who come for the first time. */
const console = useSignedIn()
const browser = useBrowser()

test('a page that cannot be loaded says so, opens by itself when the connection is back, and is not reloaded forever', async () => {
  const page = await console.open('messages', {
    expects: /ERR_INTERNET_DISCONNECTED|ERR_NETWORK_CHANGED|404/,
    isNew: true,
  })
  const title = (name: string) => page.getByRole('heading', { name, level: 1 })
  await title('Messages').waitFor()
  await page.context().setOffline(true)
  await page.getByRole('link', { name: 'API keys' }).click()
  const says = page.getByRole('heading', { name: 'Parley cannot be reached' })
  await isOnTop(says)
  await isOnTop(page.getByText('This page opens when Parley responds again.'))
  await screenshot(page, 'page that cannot be loaded')
  await page.context().setOffline(false)
  await isOnTop(title('API keys'))
  expect(await says.count()).toBe(0)
  expect(page.url()).toMatch(/\/keys$/)

  // The files of the version that is open are gone, and a reload, at most one every half a minute, does not help.
  await page.evaluate("sessionStorage.removeItem('parley.reloaded-at')")
  await page.route(/\/assets\/audit\.page-.*\.js$/, (route) => route.fulfill({ status: 404 }))
  let loads = 0
  page.on('load', () => loads++)
  await page.getByRole('link', { name: 'Audit log' }).click()
  await isOnTop(page.getByRole('heading', { name: 'This could not be loaded' }))
  expect(loads).toBe(1)
})

/** A workspace that is not the first of anyone who is invited to it. */
async function newWorkspace(name: string): Promise<string> {
  const { status, body } = await console.ada.call('/operator/workspaces', { method: 'POST', body: { name } })
  expect(status, JSON.stringify(body)).toBe(201)
  return body.workspace?.id ?? body.id
}

async function invite(workspaceId: string, email: string): Promise<string> {
  await console.ada.call('/confirm', { method: 'POST', body: { password: goodPassword } })
  const path = `/operator/workspaces/${workspaceId}/invites`
  const { status, body } = await console.ada.call(path, { method: 'POST', body: { email } })
  expect(status, JSON.stringify(body)).toBeLessThan(300)
  return body.url
}

test('an invitation leads a person who is signed in to its workspace, which says what is missing and where to connect an account', async () => {
  const second = await newWorkspace('Second')
  const page = await console.open('/account')
  await page.goto(await invite(second, 'ada@harbour.example'))
  await isOnTop(page.getByRole('heading', { name: 'Join Second' }))
  await screenshot(page, 'invitation while signed in')
  expect(await page.getByLabel('Password').count()).toBe(0)
  await page.getByRole('button', { name: 'Join' }).click()
  await isOnTop(page.getByRole('heading', { name: 'Overview', level: 1 }))
  expect(page.url()).toBe(`${console.place.url}/w/${second}`)

  await isOnTop(page.getByText('This workspace has no credits yet.'))
  expect(await page.getByText('You are out of credits.').count()).toBe(0)
  expect(await page.getByText('running low').count()).toBe(0)
  await page.getByRole('main').getByRole('link', { name: 'Connect account' }).waitFor()
  await screenshot(page, 'empty workspace')
  await page.getByRole('link', { name: 'Senders', exact: true }).click()
  const connect = page.getByRole('link', { name: 'Connect account' })
  await isOnTop(connect)
  await connect.click()
  const form = page.getByRole('dialog', { name: 'Connect account' })
  await isOnTop(form.getByRole('button', { name: 'Connect account' }))
  const chosen = form.getByLabel('Workspace').first()
  await until('the workspace is chosen', async () => (await chosen.inputValue()) === 'Second')
})

test('an invitation for another address says so, and can be accepted after signing out', async () => {
  const third = await newWorkspace('Third')
  // A session of its own, because it is signed out below.
  const own = newBrowser(console.place.url)
  await own.call('/sign-in', { method: 'POST', body: { email: ada.email, password: ada.password } })
  const cookies = cookiesOf(own, console.place)
  const page = await browser.newPage({ cookies, isDrawn: false, expects: /401/ })
  await page.goto(await invite(third, 'dora@harbour.example'))
  await isOnTop(page.getByText('You are signed in as ada@harbour.example.'))
  await screenshot(page, 'invitation for another address')
  await page.getByRole('button', { name: 'Sign out and continue' }).click()
  await page.getByLabel('Your name').fill('Dora')
  await page.getByLabel('Password', { exact: true }).fill(goodPassword)
  await page.getByRole('button', { name: 'Join' }).click()
  await isOnTop(page.getByRole('heading', { name: 'Overview', level: 1 }))
  expect(page.url()).toBe(`${console.place.url}/w/${third}`)
  // Only operators connect accounts.
  await page.getByRole('main').getByRole('link', { name: 'View senders' }).waitFor()
  expect(await page.getByRole('link', { name: 'Connect account' }).count()).toBe(0)
})

test('a passkey is offered only where it works', async () => {
  // This installation runs at an IP address.
  const page = await browser.newPage({ isDrawn: false, expects: /401/ })
  const signedIn = page.waitForResponse(/\/console\/api\/sign-in$/)
  await page.goto(`${console.place.url}/sign-in`)
  await signedIn
  await isOnTop(page.getByRole('button', { name: 'Sign in' }))
  expect(await page.getByText(/passkey/i).count()).toBe(0)
  await page.context().addCookies(cookiesOf(console.ada, console.place))
  await page.goto(`${console.place.url}/account`)
  await isOnTop(page.getByText(/^Passkeys need a host name, and this console runs at 127\.0\.0\.1\./))
})
