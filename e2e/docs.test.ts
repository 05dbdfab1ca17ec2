import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { docsPages } from '../server/src/http/docs/catalogue.ts'
import { screenshot, useBrowser } from '../server/testing/browser.ts'
import { useTestServer } from '../server/testing/test-server.ts'
import { until } from '../server/testing/until.ts'
import { removeSeen, violations } from './axe.ts'

/** The documentation at /docs. Violations of the content security policy fail a test, as all errors in a page do. */
const server = useTestServer()
const browser = useBrowser()

/** Every page, and those that are not in the navigation. */
const paths = [
  '/docs',
  ...docsPages.map(({ name }) => `/docs/${name}`),
  '/docs/project/decisions/tracing',
  '/docs/search?q=webhook',
  '/docs/search?q=zzqx',
  '/docs/nothing-about-webhooks',
]

/** What differs on a phone and in the dark. */
const rules = ['color-contrast', 'target-size']

/** Runs in the page, and looks at what differs between pages that have the same kinds of elements. */
const checkShape = `(() => {
  const tooWide = document.documentElement.scrollWidth - innerWidth
  const problems = tooWide > 0 ? [tooWide + ' px too wide'] : []
  const headings = [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].filter((each) => each.checkVisibility())
  headings.reduce((before, { localName, textContent }) => {
    const level = Number(localName[1])
    if (level > before + 1) problems.push('the heading "' + textContent + '" skips a level')
    return level
  }, 0)
  return problems
})()`

/** Shows another page in place of this one, with its script. It takes a tenth of the time of loading it. */
const show = (page: Page, path: string) =>
  page.evaluate(`(async (path) => {
    const response = await fetch(path, { headers: { accept: 'text/html' } })
    const { title, body } = new DOMParser().parseFromString(await response.text(), 'text/html')
    document.title = title
    document.body.replaceWith(body)
    await import('/docs/assets/docs.mjs?for=' + path)
  })(${JSON.stringify(path)})`)

test('axe finds no violations on any page, light, and dark on a phone, and none is wider than a small phone', async () => {
  // axe is added to the page, which the policy would block. One of the pages is a 404.
  const page = await browser.newPage({ bypassCSP: true, expects: /status of 404/ })
  await page.goto(`${server.url}/docs`)
  const seen: string[] = []
  const found: Record<string, string[]> = {}
  for (const path of paths) {
    const name = path.slice(1).replaceAll(/\W+/g, '-')
    const shown = async (width: number, height: number, colorScheme: 'light' | 'dark') => {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height })
      await screenshot(page, `${name} ${width} ${colorScheme}`)
    }
    await show(page, path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await shown(360, 740, 'dark')
    const problems = await page.evaluate<string[]>(checkShape)
    const kinds = await removeSeen(page, seen)
    if (kinds.length > 0) {
      seen.push(...kinds)
      problems.push(...(await violations(page, { rules })))
      await shown(1440, 900, 'light')
      problems.push(...(await violations(page)))
    }
    if (problems.length > 0) found[path] = problems
  }
  expect(found).toEqual({})
})

test('a page on paper has the text without navigation, in black on white', async () => {
  const page = await browser.newPage({ colorScheme: 'dark', isNew: true })
  await page.goto(`${server.url}/docs/events/webhooks`)
  await page.emulateMedia({ media: 'print' })
  for (const hidden of [page.getByRole('banner'), page.getByRole('navigation'), page.getByRole('button')])
    expect(await hidden.count()).toBe(0)
  expect(await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')).toBe('rgb(250, 249, 246)')
  expect(await page.evaluate<string>('getComputedStyle(document.querySelector("pre")).whiteSpace')).toContain('wrap')
  await screenshot(page, 'docs print')
})

test('the search shows sections while you type, and the keyboard opens one', async () => {
  const page = await browser.newPage({ isDrawn: false })
  await page.goto(`${server.url}/docs`)
  await page.keyboard.press('/')
  const field = page.getByRole('searchbox', { name: 'Search the documentation' })
  await field.pressSequentially('verify the sign')
  await page.locator('.results a', { hasText: 'Verify the signature' }).first().waitFor()
  await screenshot(page, 'docs search')
  await field.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/docs\/events\/verify$/)
  await page.getByRole('searchbox').fill('zzqx')
  await page.getByText('No results for “zzqx”.').waitFor()
  await page.getByRole('status').filter({ hasText: 'No results' }).waitFor()
  await field.press('Escape')
  await page.locator('.results').waitFor({ state: 'hidden' })
  expect(await field.inputValue()).toBe('zzqx')
  // A mistyped word, from anywhere on the page; the arrows go back to the field too.
  await page.getByRole('heading', { level: 1 }).click()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('idempotancy')
  const first = page.locator('.results a').first()
  await first.filter({ hasText: 'Idempotency' }).waitFor()
  // A result that has the focus keeps it when the results of the last letter replace it.
  const released = Promise.withResolvers<void>()
  await page.route('**/docs/search.json?q=idempotency', async (route) => {
    await released.promise
    await route.continue()
  })
  await field.fill('')
  await field.fill('idempotenc')
  const replaced = await first.filter({ hasText: 'Idempotency' }).elementHandle()
  await page.keyboard.type('y')
  await page.keyboard.press('ArrowDown')
  released.resolve()
  await until('the results are replaced', () => replaced?.evaluate((link) => !link.isConnected) ?? false)
  expect(await page.evaluate<string>('document.activeElement.textContent')).toContain('Idempotency')
  await page.keyboard.press('ArrowUp')
  await expect.poll(() => page.evaluate<string>('document.activeElement.id')).toBe('search')
  await page
    .locator('main p')
    .first()
    .click({ position: { x: 5, y: 5 } })
  await first.waitFor({ state: 'hidden' })
  await field.fill('POST /v1/messages')
  await first.filter({ hasText: 'Send a message' }).waitFor()
  await field.press('Enter')
  await page.getByText('Results for “POST /v1/messages”').waitFor()
})

test('if the search fails, the page says so', async () => {
  const page = await browser.newPage({ isDrawn: false, expects: /status of 500/ })
  await page.goto(`${server.url}/docs`)
  await page.route('**/docs/search.json*', (route) => route.fulfill({ status: 500, body: '' }))
  await page.getByRole('searchbox').fill('key')
  await page.getByText('The search is not available. Try again.').waitFor()
})

test('a page lists its sections, folded on a phone, and links to the next page', async () => {
  const page = await browser.newPage({ javaScriptEnabled: false })
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto(`${server.url}/docs/events/webhooks`)
  const contents = page.getByRole('navigation', { name: 'On this page' })
  const section = contents.getByRole('link', { name: 'Test events' })
  await section.waitFor()
  await page.setViewportSize({ width: 360, height: 740 })
  await section.waitFor({ state: 'hidden' })
  await contents.getByText('On this page').click()
  await section.click()
  await page.waitForURL(/\/docs\/events\/webhooks#test-events$/)
  await page.getByRole('link', { name: 'Next Verifying signatures' }).click()
  await page.getByRole('heading', { level: 1, name: 'Verifying signatures' }).waitFor()
})

test('without JavaScript, tabs, navigation and search work', async () => {
  const page = await browser.newPage({ javaScriptEnabled: false })
  await page.goto(`${server.url}/docs/start/quickstart`)
  const python = page.locator('pre', { hasText: 'urllib.request' })
  await python.waitFor({ state: 'hidden' })
  await page.getByText('Python', { exact: true }).click()
  await python.waitFor()
  await page.locator('pre', { hasText: 'Hello from curl' }).waitFor({ state: 'hidden' })
  await page.getByRole('navigation', { name: 'Documentation' }).getByRole('link', { name: 'Polling' }).click()
  await page.getByRole('heading', { level: 1, name: 'Polling' }).waitFor()
  await page.getByRole('searchbox').fill('idempotency')
  await page.getByRole('searchbox').press('Enter')
  await page.getByText('Results for “idempotency”').waitFor()
})

test('a chosen language is chosen everywhere, and code can be copied', async () => {
  const page = await browser.newPage({ isDrawn: false, permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto(`${server.url}/docs/start/quickstart`)
  await page.getByText('Go', { exact: true }).click()
  const block = page.locator('pre', { hasText: 'package main' })
  await block.getByRole('button', { name: 'Copy' }).click()
  await block.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.evaluate<string>('navigator.clipboard.readText()')).toMatch(/^package main$/m)
  // Also on the next page, and later.
  await page.goto(`${server.url}/docs/messages/sending`)
  await page.goto(`${server.url}/docs/start/quickstart`)
  await page.getByRole('radio', { name: 'Go', checked: true }).waitFor({ state: 'attached' })
  await block.waitFor()
})

test('where a page may not write to the clipboard, the code is selected', async () => {
  const page = await browser.newPage({ isDrawn: false, isNew: true })
  await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
  await page.goto(`${server.url}/docs/start/quickstart`)
  const block = page.locator('pre', { hasText: 'npm start' }).first()
  await block.getByRole('button', { name: 'Copy' }).click()
  await block.getByRole('button', { name: 'Press Ctrl+C' }).waitFor()
  expect(await page.evaluate<string>('String(getSelection())')).toBe('npm start')
})

test('the entry of a page is visible in the navigation', async () => {
  const page = await browser.newPage({ isDrawn: false, viewport: { width: 1440, height: 500 } })
  await page.goto(`${server.url}/docs/project/changelog`)
  const entry = page.getByRole('navigation', { name: 'Documentation' }).getByRole('link', { name: 'Changelog' })
  await expect.poll(async () => (await entry.boundingBox())?.y ?? 1000).toBeLessThan(480)
  expect(await page.evaluate<number>('scrollY')).toBe(0)
})
