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

  const [reference] = await Promise.all([
    page.waitForResponse(`${server.url}/docs/api`),
    page.getByRole('link', { name: 'API reference' }).click(),
  ])
  const policy = (await reference.headerValue('content-security-policy')) ?? ''
  expect(policy).toMatch(/script-src 'self' 'nonce-[\w-]{22}'/)
  expect(policy).not.toContain('unsafe')
  await page.getByRole('heading', { name: 'Parley', exact: true }).waitFor()
  // The style sheet that the script adds is in effect, and so is an attribute that it sets as text.
  expect(await page.evaluate<string>('getComputedStyle(document.querySelector(".scalar-app")).fontFamily')).toContain(
    'Inter',
  )
  await page.locator('code.hljs').first().waitFor()
  const lines = 'document.querySelector("code.hljs").style.getPropertyValue("--line-count")'
  expect(await page.evaluate<string>(lines)).toBe('2')
  for (const name of ['Messages', 'Webhooks', 'Models'])
    await page.locator('nav a, aside a').filter({ hasText: name }).first().click()
  // The search of the documentation links to operations by these addresses.
  await page.locator('[id="parley-api/tag/messages/POST/v1/messages"]').waitFor({ state: 'attached' })
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').fill('templates')
  await page.getByRole('option').first().waitFor()
  await page.keyboard.press('Escape')
  await screenshot(page, 'API reference')
  const back = page.getByRole('link', { name: 'Back to the console' }).last()
  await isOnTop(back)
  expect(await back.getAttribute('href')).toBe('/')
  expect(await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')).toBe('rgb(250, 249, 246)')
})

test('every response of the API reference has its own nonce, in the policy and in the page', async () => {
  const nonces = await Promise.all(
    [1, 2].map(async () => {
      const response = await fetch(`${server.url}/docs/api/`)
      const nonce = /script-src 'self' 'nonce-([\w-]+)'/.exec(
        response.headers.get('content-security-policy') ?? '',
      )?.[1]
      const used = [...(await response.text()).matchAll(/(?:nonce|content)="([\w-]{22})"/g)].map((match) => match[1])
      expect(used.length).toBeGreaterThanOrEqual(3)
      expect(new Set(used)).toEqual(new Set([nonce]))
      return nonce
    }),
  )
  expect(nonces[0]).not.toBe(nonces[1])
})
