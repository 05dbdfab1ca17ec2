import { afterAll, beforeAll, expect, test } from 'vitest'
import { codeAt } from '../server/src/domain/people/sign-in/totp.ts'
import { useBrowser } from '../server/testing/browser.ts'
import { followLink, goodPassword, newBrowser, tokenOf } from '../server/testing/console.ts'
import type { Installation } from './installation.ts'
import { newInstallation } from './new-installation.ts'
import { choose } from './page-ready.ts'

/** An installation whose operators need two-factor authentication. */
let place: Installation

beforeAll(async () => {
  place = await newInstallation({ settings: { PARLEY_OPERATOR_TWO_FACTOR: 'required' } })
})
afterAll(() => place?.stop())
const browser = useBrowser()

test('an operator sets up two-factor authentication first, then disables and enables an account', async () => {
  const ada = newBrowser(place.url)
  const account = { name: 'Ada', email: 'ada@harbour.example', password: goodPassword }
  expect((await followLink(ada, tokenOf(place.setupUrl), account)).status).toBe(200)
  const page = await browser.newPage({ isDrawn: false, expects: /403|409/ })
  const cookies = () => [...ada.cookies].map(([name, value]) => ({ name, value, url: place.url }))
  await page.context().addCookies(cookies())
  const heading = page.getByRole('heading', { level: 1, name: 'Operators need two-factor authentication' })
  for (const path of ['/', '/operator/workspaces']) {
    await page.goto(place.url + path)
    await heading.waitFor()
  }
  await page.getByRole('link', { name: 'Set up an authenticator app' }).click()
  await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor()

  const { secret } = (await ada.call('/account/totp', { method: 'POST' })).body
  const verify = { method: 'POST', body: { code: codeAt(secret, new Date()) } }
  expect((await ada.call('/account/totp/verify', verify)).status).toBe(204)
  const invitation = { method: 'POST', body: { email: 'bea@harbour.example', role: 'member' } }
  const { body } = await ada.call(`/w/${place.workspaceId}/team/invites`, invitation)
  const bea = newBrowser(place.url)
  await followLink(bea, tokenOf(body.url), { name: 'Bea', password: goodPassword })

  await page.context().addCookies(cookies())
  await page.goto(`${place.url}/operator/workspaces?tab=people`)
  const row = page.getByRole('row', { name: /Bea/ })
  await row.getByRole('button', { name: 'Actions for Bea' }).click()
  await choose(page, 'Disable…')
  await page.getByRole('dialog').getByRole('button', { name: 'Disable', exact: true }).click()
  await row.getByText('Disabled').waitFor()
  expect((await bea.call('/session')).status).toBe(401)
  await row.getByRole('button', { name: 'Actions for Bea' }).click()
  await choose(page, 'Enable')
  await row.getByText('Disabled').waitFor({ state: 'detached' })
})
