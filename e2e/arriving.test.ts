import { expect, test } from 'vitest'
import { screenshot } from '../server/testing/browser.ts'
import { isOnTop } from './page-ready.ts'
import { useSignedIn } from './signed-in.ts'

/** Pages that cannot be loaded, links that lead to the right place, and what people see who come for the first time. */
const console = useSignedIn()

test('a page that cannot be loaded says so, and opens by itself when the connection is back', async () => {
  const page = await console.open('messages', { expects: /ERR_INTERNET_DISCONNECTED|ERR_NETWORK_CHANGED/ })
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
  const page = await console.open('messages', { expects: /404/ })
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
  const page = await console.open('messages', { expects: /404/ })
  await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor()
  await page.route(/\/assets\/keys\.page-.*\.js$/, (route) => route.fulfill({ status: 404 }))
  let loads = 0
  page.on('load', () => loads++)
  await page.getByRole('link', { name: 'API keys' }).click()
  await isOnTop(page.getByRole('heading', { name: 'This could not be loaded' }))
  expect(loads).toBe(1)
})
