import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useBrowser } from '../server/testing/browser.ts'
import { type BusyInstallation, makeBusy } from './busy-installation.ts'
import { consolePages } from './console-pages.ts'
import { type Installation, startInstallation } from './installation.ts'
import { animationsDone, pageReady } from './page-ready.ts'

/** axe must not find serious or critical violations on any page, in the light and the dark theme. */
const browser = useBrowser()
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
let place: Installation
let busy: BusyInstallation

beforeAll(async () => {
  place = await startInstallation()
  busy = await makeBusy(place)
})
afterAll(async () => {
  await busy?.close()
  await place?.stop()
})

test('no page has serious accessibility violations', async () => {
  const remaining = (await consolePages(busy.console, place.workspaceId)).values()
  const found: Record<string, string[]> = {}
  const checkPages = async (page: Page) => {
    for (const { name, path } of remaining) {
      await page.goto(place.url + path)
      const violations = await violationsOf(page)
      if (violations.length > 0) found[name] = violations
    }
  }
  await Promise.all([checkPages(await openPage()), checkPages(await openPage())])
  expect(found).toEqual({})
}, 240_000)

test.each([
  ['keys?new=1', 'Create key'],
  ['webhooks?new=1', 'Create webhook'],
])('the dialog of %s has no serious accessibility violations', async (path, name) => {
  const page = await openPage()
  await page.goto(`${place.url}/w/${place.workspaceId}/${path}`)
  await page.getByRole('dialog', { name }).waitFor()
  expect(await violationsOf(page)).toEqual([])
  // The same with validation errors shown.
  await page.getByRole('dialog', { name }).getByRole('button', { name }).click()
  await page.getByRole('dialog', { name }).locator('[aria-invalid="true"]').first().waitFor()
  expect(await violationsOf(page)).toEqual([])
})

test('the drawer of a delivery has no serious accessibility violations', async () => {
  const page = await openPage()
  await page.goto(`${place.url}/w/${place.workspaceId}/deliveries`)
  await page
    .getByRole('row', { name: /Old CRM.*500/ })
    .first()
    .click()
  await page.getByRole('dialog').getByRole('list', { name: 'Attempts' }).waitFor()
  expect(await violationsOf(page)).toEqual([])
})

test('the sign-in page has no serious accessibility violations', async () => {
  const page = await browser.newPage({ bypassCSP: true, reducedMotion: 'reduce', expects: /401/ })
  await page.goto(`${place.url}/sign-in`)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await violationsOf(page)).toEqual([])
})

/** A page of a signed-in person. It bypasses the content security policy, which would block axe. */
async function openPage(): Promise<Page> {
  const page = await browser.newPage({ bypassCSP: true, reducedMotion: 'reduce' })
  const cookies = [...busy.console.cookies].map(([name, value]) => ({ name, value, url: place.url }))
  await page.context().addCookies(cookies)
  return page
}

interface Violation {
  id: string
  impact: string
  nodes: { html: string; failureSummary: string }[]
}

/** Runs all rules in both themes on the loaded page, starting with the theme that is on. */
async function violationsOf(page: Page): Promise<string[]> {
  await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' })
  await pageReady(page)
  await page.evaluate(axe)
  const now = await page.locator('html').getAttribute('data-mantine-color-scheme')
  const messages: string[] = []
  for (const scheme of now === 'dark' ? (['dark', 'light'] as const) : (['light', 'dark'] as const)) {
    await page.emulateMedia({ colorScheme: scheme })
    await page.waitForSelector(`html[data-mantine-color-scheme="${scheme}"]`)
    await animationsDone(page)
    // The handset, in a frame of the overview, has a test of its own.
    const found = await page.evaluate<Violation[]>(
      `axe.run(document, { resultTypes: ['violations'], iframes: false }).then((result) => result.violations)`,
    )
    const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    for (const { id, nodes } of serious)
      messages.push(...nodes.map(({ html, failureSummary }) => `${scheme}: ${id}: ${html} ${failureSummary}`))
  }
  return messages
}
