import { expect, test } from 'vitest'
import { screenshot, useBrowser } from '../server/testing/browser.ts'
import { goodPassword } from '../server/testing/console.ts'
import { until } from '../server/testing/until.ts'
import { newInstallation } from './new-installation.ts'
import { isOnTop } from './page-ready.ts'
import { useSignedIn } from './signed-in.ts'

/** Pages that cannot be loaded, links that lead to the right place, and what people see who come for the first time. */
const console = useSignedIn()
const browser = useBrowser()

test('a page that cannot be loaded says so, and opens by itself when the connection is back', async () => {
  const page = await console.open('messages', {
    expects: /ERR_INTERNET_DISCONNECTED|ERR_NETWORK_CHANGED/,
    isNew: true,
  })
  await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor()
  await page.context().setOffline(true)
  await page.getByRole('link', { name: 'API keys' }).click()
  const says = page.getByRole('heading', { name: 'Parley cannot be reached' })
  await isOnTop(says)
  await isOnTop(page.getByText('This page opens when Parley responds again.'))
  await screenshot(page, 'page that cannot be loaded')
  await page.context().setOffline(false)
  await isOnTop(page.getByRole('heading', { name: 'API keys', level: 1 }))
  expect(await says.count()).toBe(0)
  expect(page.url()).toMatch(/\/keys$/)
})

test('after an update, a page whose file no longer exists opens by itself', async () => {
  const page = await console.open('messages', { expects: /404/, isNew: true })
  await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor()
  // The files of the version that is open are gone. A reload gets the page of the new version.
  const gone = /\/assets\/keys\.page-.*\.js$/
  let requests = 0
  await page.route(gone, (route) => {
    requests++
    return route.fulfill({ status: 404 })
  })
  await page.route(/\/healthz$/, async (route) => {
    await page.unroute(gone)
    await route.continue()
  })
  await page.getByRole('link', { name: 'API keys' }).click()
  await isOnTop(page.getByRole('heading', { name: 'API keys', level: 1 }))
  expect(requests).toBeGreaterThan(0)
})

test('a page that is still missing after a reload says so instead of reloading forever', async () => {
  const page = await console.open('messages', { expects: /404/, isNew: true })
  await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor()
  await page.route(/\/assets\/keys\.page-.*\.js$/, (route) => route.fulfill({ status: 404 }))
  let loads = 0
  page.on('load', () => loads++)
  await page.getByRole('link', { name: 'API keys' }).click()
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

test('an invitation leads a person who is signed in to its workspace, without a password', async () => {
  const second = await newWorkspace('Second')
  const page = await console.open('messages')
  await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor()
  await page.goto(await invite(second, 'ada@harbour.example'))
  await isOnTop(page.getByRole('heading', { name: 'Join Second' }))
  await screenshot(page, 'invitation while signed in')
  expect(await page.getByLabel('Password').count()).toBe(0)
  await page.getByRole('button', { name: 'Join' }).click()
  await isOnTop(page.getByRole('heading', { name: 'Overview', level: 1 }))
  expect(page.url()).toBe(`${console.place.url}/w/${second}`)
})

test('an invitation for another address says so, and can be accepted after signing out', async () => {
  const third = await newWorkspace('Third')
  const page = await console.open('messages', { expects: /401/ })
  // A session of its own, because it is signed out below.
  await page.context().clearCookies()
  await page.goto(`${console.place.url}/sign-in`)
  await page.getByLabel('Email address').fill('ada@harbour.example')
  await page.getByLabel('Password', { exact: true }).fill(goodPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  await page.goto(await invite(third, 'dora@harbour.example'))
  await isOnTop(page.getByText('You are signed in as ada@harbour.example.'))
  await screenshot(page, 'invitation for another address')
  await page.getByRole('button', { name: 'Sign out and continue' }).click()
  await page.getByLabel('Your name').fill('Dora')
  await page.getByLabel('Password', { exact: true }).fill(goodPassword)
  await page.getByRole('button', { name: 'Join' }).click()
  await isOnTop(page.getByRole('heading', { name: 'Overview', level: 1 }))
  expect(page.url()).toBe(`${console.place.url}/w/${third}`)
})

test('a passkey is offered only where it works', async () => {
  // This installation runs at an IP address.
  const page = await browser.newPage({ isDrawn: false, expects: /401/ })
  const signedIn = page.waitForResponse(/\/console\/api\/sign-in$/)
  await page.goto(`${console.place.url}/sign-in`)
  await signedIn
  await isOnTop(page.getByRole('button', { name: 'Sign in' }))
  expect(await page.getByText(/passkey/i).count()).toBe(0)
  const account = await console.open('/account')
  await isOnTop(account.getByText(/^Passkeys need a host name, and this console runs at 127\.0\.0\.1\./))
})

test('the first visit of an installation leads to the link in the terminal; elsewhere, passkeys have a link to their address', async () => {
  const place = await newInstallation({ host: 'localhost' })
  try {
    const page = await browser.newPage({ isDrawn: false, expects: /401/ })
    await page.goto(place.url)
    await isOnTop(page.getByRole('heading', { name: 'Open the link from your terminal' }))
    await screenshot(page, 'first visit')
    expect(await page.getByLabel('Email address').count()).toBe(0)
    await page.goto(place.setupUrl)
    await page.getByLabel('Your name').fill('Eve')
    await page.getByLabel('Email address').fill('eve@harbour.example')
    await page.getByLabel('Password', { exact: true }).fill(goodPassword)
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    // The same service under another name: the passkeys of this installation are for localhost.
    const right = await browser.newPage({ isDrawn: false, expects: /401/ })
    await right.goto(place.url)
    await isOnTop(right.getByRole('button', { name: 'Use a passkey' }))
    const other = await browser.newPage({ isDrawn: false, expects: /401/ })
    await other.goto(`${place.url.replace('localhost', '127.0.0.1')}/sign-in`)
    const link = other.getByRole('link', { name: `Use a passkey at ${place.url}` })
    await isOnTop(link)
    await screenshot(other, 'passkey elsewhere')
    expect(await link.getAttribute('href')).toBe(`${place.url}/sign-in`)
    expect(await other.getByRole('button', { name: 'Use a passkey' }).count()).toBe(0)
    // Open pages would log errors when its server stops.
    for (const each of [page, right, other]) await each.goto('about:blank')
  } finally {
    await place.stop()
  }
})

test('an empty workspace says what is missing, and its operator where to connect an account', async () => {
  const id = await newWorkspace('Empty')
  const page = await console.open('messages')
  await page.goto(await invite(id, 'ada@harbour.example'))
  await page.getByRole('button', { name: 'Join' }).click()
  await isOnTop(page.getByText('This workspace has no credits yet.'))
  expect(await page.getByText('You are out of credits.').count()).toBe(0)
  expect(await page.getByText('running low').count()).toBe(0)
  await screenshot(page, 'empty workspace')
  await page.getByRole('link', { name: 'Senders', exact: true }).click()
  const connect = page.getByRole('link', { name: 'Connect account' })
  await isOnTop(connect)
  await connect.click()
  const form = page.getByRole('dialog', { name: 'Connect account' })
  await isOnTop(form.getByRole('button', { name: 'Connect account' }))
  const chosen = form.getByLabel('Workspace').first()
  await until('the workspace is chosen', async () => (await chosen.inputValue()) === 'Empty')
})
