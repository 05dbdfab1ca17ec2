import { expect, test } from 'vitest'
import { screenshot, useBrowser } from '../server/testing/browser.ts'
import { useTestServer } from '../server/testing/test-server.ts'
import { isOnTop } from './page-ready.ts'

const server = useTestServer()
// Violations of the content security policy fail a test, as all errors in a page do.
const browser = useBrowser()

test('the page of errors and the API reference render under a policy without inline scripts and styles', async () => {
  const page = await browser.newPage({ isDrawn: false })
  const response = await page.goto(`${server.url}/docs/errors`)
  expect(await response?.headerValue('content-security-policy')).not.toContain('unsafe')
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(await page.evaluate<string>('getComputedStyle(document.querySelector("main")).maxWidth')).not.toBe('none')
  // Texts of the catalogue are not markup.
  await isOnTop(page.getByText('Send one header "Authorization: Bearer <key>" with a valid key.'))
  await screenshot(page, 'errors')
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')).toBe('rgb(20, 19, 16)')
  await screenshot(page, 'errors dark')
  await page.emulateMedia({ colorScheme: 'light' })
  await isOnTop(page.getByRole('link', { name: 'Back to the console' }).last())

  await page.getByRole('link', { name: 'API reference' }).click()
  await page.getByRole('heading', { level: 1, name: 'API reference' }).waitFor()
  await page.getByRole('link', { name: 'POST /v1/messages', exact: true }).click()
  await isOnTop(page.getByRole('heading', { level: 2, name: 'Send a message' }))
  await screenshot(page, 'API reference')
  const back = page.getByRole('link', { name: 'Back to the console' })
  await isOnTop(back)
  expect(await back.getAttribute('href')).toBe('/')
  expect(await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')).toBe('rgb(250, 249, 246)')
})

test('without JavaScript, the fields of objects and the variants of a message unfold, and examples have tabs', async () => {
  const page = await browser.newPage({ javaScriptEnabled: false, isDrawn: false })
  await page.goto(`${server.url}/docs/api/messages`)
  const buttons = page.getByText('array of objects, 1 to 3 items').first()
  await buttons.waitFor({ state: 'hidden' })
  for (const title of [/^16 variants/, /^button$/, /^1 field\s+of action/])
    await page.locator('summary', { hasText: title }).first().click()
  await buttons.waitFor()
  await page.getByText('Python', { exact: true }).first().click()
  await page.getByText('message = parley.messages.send({').waitFor()
})
