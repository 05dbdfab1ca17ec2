import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { screenshot, useBrowser } from '../server/testing/browser.ts'
import { useTestServer } from '../server/testing/test-server.ts'

/** The documentation at /docs. Violations of the content security policy fail a test, as all errors in a page do. */
const server = useTestServer()
const browser = useBrowser()
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  id: string
  nodes: { html: string; failureSummary: string }[]
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const found = await page.evaluate<Violation[]>(
    `axe.run(document, { resultTypes: ['violations'] }).then((result) => result.violations)`,
  )
  return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`))
}

test.each(['', '/quickstart', '/receiving', '/errors', '/events', '/configuration', '/search?q=webhook'])(
  'axe finds no violations on /docs%s, light and dark, on a desktop and on a phone',
  async (path) => {
    // axe is added to the page, which the policy would block.
    const page = await browser.newPage({ bypassCSP: true })
    for (const [width, height] of [
      [1440, 900],
      [390, 844],
    ] as const) {
      await page.setViewportSize({ width, height })
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await page.goto(`${server.url}/docs${path}`)
        await page.getByRole('heading', { level: 1 }).waitFor()
        expect(await violations(page), `${width} ${colorScheme}`).toEqual([])
        await screenshot(page, `docs ${path.replaceAll(/\W/g, '') || 'index'} ${width} ${colorScheme}`)
        const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
        expect(overflow, 'the page is not wider than the screen').toBeLessThanOrEqual(0)
      }
    }
  },
  120_000,
)

test('the search shows sections while you type, and the keyboard opens one', async () => {
  const page = await browser.newPage()
  await page.goto(`${server.url}/docs`)
  await page.keyboard.press('/')
  const field = page.getByRole('searchbox', { name: 'Search the documentation' })
  await field.pressSequentially('verify the sign')
  await page.locator('.results a', { hasText: 'Verify the signature' }).first().waitFor()
  await screenshot(page, 'docs search')
  await field.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/docs\/\w+#verify-the-signature$/)
  await page.getByRole('searchbox').fill('zzqx')
  await page.getByText('No results for “zzqx”.').waitFor()
})

test('without JavaScript, tabs, navigation and search work', async () => {
  const page = await browser.newPage({ javaScriptEnabled: false })
  await page.goto(`${server.url}/docs/quickstart`)
  const python = page.locator('pre', { hasText: 'urllib.request' })
  await python.waitFor({ state: 'hidden' })
  await page.getByText('Python', { exact: true }).click()
  await python.waitFor()
  await page.locator('pre', { hasText: 'Hello from curl' }).waitFor({ state: 'hidden' })
  await page.getByRole('navigation', { name: 'Documentation' }).getByRole('link', { name: 'Receiving' }).click()
  await page.getByRole('heading', { level: 1, name: 'Receiving events' }).waitFor()
  await page.getByRole('searchbox').fill('idempotency')
  await page.getByRole('searchbox').press('Enter')
  await page.getByText('Results for “idempotency”').waitFor()
})

test('a chosen language is chosen everywhere, and code can be copied', async () => {
  const page = await browser.newPage({ permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto(`${server.url}/docs/quickstart`)
  await page.getByText('Go', { exact: true }).click()
  const block = page.locator('pre', { hasText: 'package main' })
  await block.getByRole('button', { name: 'Copy' }).click()
  await block.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.evaluate<string>('navigator.clipboard.readText()')).toMatch(/^package main\n/)
})
