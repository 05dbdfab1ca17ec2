import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { until } from '../server/testing/until.ts'
import { consolePages } from './console-pages.ts'
import { layoutProblems } from './layout-problems.ts'
import { animationsDone, pageReady } from './page-ready.ts'
import { useBusy } from './use-busy.ts'

/**
 * axe must not find serious or critical violations on any page, in the light and the dark theme. Pages bypass the content
 * security policy, which would block axe. The window is that of a small laptop: everything is in reach there too.
 */
const busy = useBusy({ bypassCSP: true, reducedMotion: 'reduce', viewport: { width: 1280, height: 800 } })
const colorRules = ['color-contrast', 'link-in-text-block']
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

test('no page has serious accessibility violations, and at 1280 × 800 everything is in reach', async () => {
  const remaining = (await consolePages(busy.console, busy.place.workspaceId)).values()
  const found: Record<string, string[]> = {}
  const checkPages = async (page: Page) => {
    for (const { name, path } of remaining) {
      await page.goto(busy.place.url + path)
      const problems = [...(await violationsOf(page)), ...(await layoutProblems(page))]
      if (problems.length > 0) found[name] = problems
    }
  }
  await Promise.all([checkPages(await busy.openPage()), checkPages(await busy.openPage())])
  expect(found).toEqual({})
}, 480_000)

test.each([
  ['keys?new=1', 'Create key'],
  ['webhooks?new=1', 'Create webhook'],
])('the dialog of %s has no serious accessibility violations', async (path, name) => {
  const page = await busy.openPage()
  await page.goto(`${busy.place.url}/w/${busy.place.workspaceId}/${path}`)
  await page.getByRole('dialog', { name }).waitFor()
  expect(await violationsOf(page)).toEqual([])
  // The same with validation errors shown.
  await page.getByRole('dialog', { name }).getByRole('button', { name }).click()
  await page.getByRole('dialog', { name }).locator('[aria-invalid="true"]').first().waitFor()
  expect(await violationsOf(page)).toEqual([])
})

test('the navigation scrolls to the link of the page and to the focused link', async () => {
  const page = await busy.openPage()
  await page.goto(`${busy.place.url}/operator/health`)
  await page.getByRole('heading', { level: 1, name: 'Health' }).waitFor()
  const nav = page.getByRole('navigation', { name: 'Pages' })
  const isInView = (name: string) =>
    until(`the link "${name}" is in view`, async () => {
      const [frame, box] = await Promise.all([nav.boundingBox(), nav.getByRole('link', { name }).boundingBox()])
      return frame && box && box.y >= frame.y && box.y + box.height <= frame.y + frame.height
    })
  await isInView('Health')
  await nav.getByRole('link', { name: 'Overview' }).focus()
  await isInView('Overview')
})

test('the drawer of a delivery has no serious accessibility violations', async () => {
  const page = await busy.openPage()
  await page.goto(`${busy.place.url}/w/${busy.place.workspaceId}/deliveries`)
  await page
    .getByRole('row', { name: /Old CRM.*500/ })
    .first()
    .click()
  await page.getByRole('dialog').getByRole('list', { name: 'Attempts' }).waitFor()
  expect(await violationsOf(page)).toEqual([])
})

test('the sign-in page has no serious accessibility violations', async () => {
  const page = await busy.browser.newPage({ bypassCSP: true, reducedMotion: 'reduce', expects: /401/ })
  await page.goto(`${busy.place.url}/sign-in`)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await violationsOf(page)).toEqual([])
})

interface Violation {
  id: string
  impact: string
  nodes: { html: string; failureSummary: string }[]
}

/**
 * Runs all rules on the loaded page in the theme that is on, and those about colors in the other theme: nothing else differs.
 */
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
    const options = {
      resultTypes: ['violations'],
      // The handset, in a frame of the overview, has a test of its own.
      iframes: false,
      ...(scheme === now ? {} : { runOnly: colorRules }),
    }
    const found = await page.evaluate<Violation[]>(
      `axe.run(document, ${JSON.stringify(options)}).then((result) => result.violations)`,
    )
    const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    for (const { id, nodes } of serious)
      messages.push(...nodes.map(({ html, failureSummary }) => `${scheme}: ${id}: ${html} ${failureSummary}`))
  }
  return messages
}
