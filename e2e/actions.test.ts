import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { screenshot } from '../server/testing/browser.ts'
import { until } from '../server/testing/until.ts'
import { ada, useSignedIn } from './signed-in.ts'

/** Actions behave the same on every page: see console/src/lib/use-action.ts. */
const console = useSignedIn()

/** A dialog with what a person has entered. */
async function enterKey(page: Page): Promise<{ form: Locator; submit: Locator }> {
  await page.getByRole('button', { name: 'Create key' }).first().click()
  const form = page.getByRole('dialog', { name: 'Create key' })
  await form.getByLabel('Name').fill('Order service')
  await form.getByRole('button', { name: 'Read only' }).click()
  return { form, submit: form.getByRole('button', { name: 'Create key' }) }
}

const byButtons = [
  { path: 'senders', request: 'sync', name: 'Sync now' },
  { path: 'audit', request: 'audit.csv', name: 'Export CSV' },
]

test('an error of a dialog is shown in it; a second click while the next request is pending does nothing', async () => {
  const page = await console.open('keys', { expects: /500/ })
  await failing(page, 'keys')
  const { form, submit } = await enterKey(page)
  await submit.click()
  await form.getByRole('alert').getByText('The database is down.').waitFor()
  await screenshot(page, 'failed keys')
  await page.unroute('**/console/api/**')
  const held = Promise.withResolvers<void>()
  const posts: unknown[] = []
  await page.route('**/keys', async (route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    posts.push(route.request().postDataJSON())
    await held.promise
    return route.fallback()
  })
  // The entered values are still there.
  await submit.click()
  await until('the button is busy', async () => (await submit.getAttribute('aria-busy')) === 'true')
  await submit.click({ force: true })
  await form.getByLabel('Name').press('Enter')
  held.resolve()
  await form.waitFor({ state: 'detached' })
  expect(posts).toEqual([expect.objectContaining({ name: 'Order service' })])
})

test('an error of a button is shown in a toast', async () => {
  const page = await console.open('settings', { expects: /500/ })
  for (const change of byButtons) {
    await console.visit(page, change.path)
    await failing(page, change.request)
    await page.getByRole('button', { name: change.name }).first().click()
    await page.getByRole('status').getByText('The database is down.').waitFor()
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await page.getByText('The database is down.').waitFor({ state: 'detached' })
    await page.unroute('**/console/api/**')
  }
})

test('an expired session leads to the sign-in page and back', async () => {
  const page = await console.open('keys?state=active', { expects: /401/ })
  const before = page.url()
  const { submit } = await enterKey(page)
  await console.db.change('delete from sessions')
  await submit.click()
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
  await page.getByLabel('Email address').fill(ada.email)
  await page.getByLabel('Password', { exact: true }).fill(ada.password)
  await page.getByLabel('Password', { exact: true }).press('Enter')
  await until('the page is back', () => page.url().startsWith(before))
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
})

/** Makes one path of the API return an error. */
const failing = (page: Page, path: string) =>
  page.route('**/console/api/**', (route) => {
    const request = route.request()
    const isIt = new URL(request.url()).pathname === `/console/api/w/${console.place.workspaceId}/${path}`
    if (!isIt || (request.method() === 'GET' && !path.endsWith('.csv'))) return route.fallback()
    return route.fulfill({ status: 500, json: { error: { code: 'internal_error', message: 'The database is down.' } } })
  })
