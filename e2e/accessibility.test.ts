import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useBrowser } from '../server/testing/browser.ts'
import { type BusyInstallation, makeBusy } from './busy-installation.ts'
import { consolePages } from './console-pages.ts'
import { type Installation, startInstallation } from './installation.ts'
import { animationsDone, pageReady } from './page-ready.ts'

/** Nothing that axe calls serious or critical, on any page, in light and in dark. */
const browser = useBrowser()
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
let place: Installation
let lively: BusyInstallation

beforeAll(async () => {
  place = await startInstallation()
  lively = await makeBusy(place)
})
afterAll(async () => {
  await lively?.close()
  await place?.stop()
})

test('everybody can use every page', async () => {
  const left = (await consolePages(lively.console, place.workspaceId)).values()
  const found: Record<string, string[]> = {}
  const lookThrough = async (page: Page) => {
    for (const { name, path } of left) {
      await page.goto(place.url + path)
      const faults = await faultsOf(page)
      if (faults.length > 0) found[name] = faults
    }
  }
  await Promise.all([lookThrough(await openPage()), lookThrough(await openPage())])
  expect(found).toEqual({})
}, 150_000)

test.each([
  ['keys?new=1', 'Create key'],
  ['webhooks?new=1', 'Create webhook'],
])('everybody can use what %s opens', async (path, name) => {
  const page = await openPage()
  await page.goto(`${place.url}/w/${place.workspaceId}/${path}`)
  await page.getByRole('dialog', { name }).waitFor()
  expect(await faultsOf(page)).toEqual([])
  // What is wrong with the form is said so that everybody hears it.
  await page.getByRole('dialog', { name }).getByRole('button', { name }).click()
  await page.getByRole('dialog', { name }).locator('[aria-invalid="true"]').first().waitFor()
  expect(await faultsOf(page)).toEqual([])
})

test('everybody can use the drawer of a delivery', async () => {
  const page = await openPage()
  await page.goto(`${place.url}/w/${place.workspaceId}/deliveries`)
  await page
    .getByRole('row', { name: /Old CRM.*500/ })
    .first()
    .click()
  await page.getByRole('dialog').getByRole('list', { name: 'Attempts' }).waitFor()
  expect(await faultsOf(page)).toEqual([])
})

test('everybody can sign in', async () => {
  const page = await browser.newPage({ bypassCSP: true, reducedMotion: 'reduce', expects: /401/ })
  await page.goto(`${place.url}/sign-in`)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await faultsOf(page)).toEqual([])
})

/** A page of somebody who is signed in. Its policy would not let axe in. */
async function openPage(): Promise<Page> {
  const page = await browser.newPage({ bypassCSP: true, reducedMotion: 'reduce' })
  const cookies = [...lively.console.cookies].map(([name, value]) => ({ name, value, url: place.url }))
  await page.context().addCookies(cookies)
  return page
}

interface Fault {
  id: string
  impact: string
  nodes: { html: string; failureSummary: string }[]
}

/** Everything is looked at in light; in dark only what can differ there, the contrast. First as the page is, then the other. */
async function faultsOf(page: Page): Promise<string[]> {
  await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' })
  await pageReady(page)
  await page.evaluate(axe)
  const now = await page.locator('html').getAttribute('data-mantine-color-scheme')
  const faults: string[] = []
  for (const scheme of now === 'dark' ? (['dark', 'light'] as const) : (['light', 'dark'] as const)) {
    await page.emulateMedia({ colorScheme: scheme })
    await page.waitForSelector(`html[data-mantine-color-scheme="${scheme}"]`)
    await animationsDone(page)
    const rules = scheme === 'light' ? {} : { runOnly: ['color-contrast'] }
    const found = await page.evaluate<Fault[]>(
      `axe.run(document, ${JSON.stringify({ resultTypes: ['violations'], ...rules })}).then((found) => found.violations)`,
    )
    const grave = found.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    for (const { id, nodes } of grave)
      faults.push(...nodes.map(({ html, failureSummary }) => `${scheme}: ${id}: ${html} ${failureSummary}`))
  }
  return faults
}
