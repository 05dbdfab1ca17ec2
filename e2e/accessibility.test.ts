import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { screenshot, visit } from '../server/testing/browser.ts'
import { until } from '../server/testing/until.ts'
import { consolePages } from './console-pages.ts'
import { dailyQuestions } from './daily-questions.ts'
import { layoutProblems } from './layout-problems.ts'
import { watchShifts } from './layout-shift.ts'
import { animationsDone, pageReady } from './page-ready.ts'
import { useBusy } from './use-busy.ts'

/**
 * axe must not find serious or critical violations on any page, in the light and the dark theme. Pages bypass the content
 * security policy, which would block axe. The window is that of a small laptop: everything is in reach there too.
 */
const busy = useBusy({ bypassCSP: true, viewport: { width: 1280, height: 800 } })
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

test('no page, dialog or drawer has serious accessibility violations, and at 1280 × 800 all is in reach and stays in place', async () => {
  const { url, workspaceId } = busy.place
  const page = await busy.openPage()
  const found: Record<string, string[]> = {}
  const check = async (name: string, others: string[] = []) => {
    const problems = [...others, ...(await violationsOf(page))]
    if (problems.length > 0) found[name] = problems
  }
  const shifts = await watchShifts(page)
  for (const { name, path } of await consolePages(busy.console, workspaceId)) {
    const moved = await shifts.visit(url + path)
    await check(name, [...moved, ...(await layoutProblems(page))])
  }
  await shifts.stop()
  for (const [path, name] of [
    ['keys?new=1', 'Create key'],
    ['webhooks?new=1', 'Create webhook'],
  ] as const) {
    await visit(page, `${url}/w/${workspaceId}/${path}`)
    const dialog = page.getByRole('dialog', { name })
    await dialog.waitFor()
    await check(name)
    await dialog.getByRole('button', { name }).click()
    await dialog.locator('[aria-invalid="true"]').first().waitFor()
    await check(`${name}, with validation errors`)
  }
  await visit(page, `${url}/w/${workspaceId}/deliveries`)
  const failed = page.getByRole('row', { name: /Old CRM.*500/ })
  await failed.first().click()
  await page.getByRole('dialog').getByRole('list', { name: 'Attempts' }).waitFor()
  await check('the drawer of a delivery')
  expect(found).toEqual({})
})

test('from the overview, every daily question takes at most two clicks', async () => {
  const page = await busy.openPage()
  const clicks: Record<string, number> = {}
  for (const { question, find } of dailyQuestions) {
    await visit(page, `${busy.place.url}/w/${busy.place.workspaceId}`)
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    let count = 0
    const click = async (target: Locator) => {
      await target.click()
      count++
    }
    const shown = await find(page, {
      click,
      go: (name) => click(page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true })),
      async search(text) {
        await page.keyboard.press('Control+k')
        await page.getByRole('combobox', { name: 'Search or jump to' }).fill(text)
        count++
      },
    })
    await shown.waitFor()
    clicks[question] = count
    await screenshot(page, question)
  }
  expect(Object.entries(clicks).filter(([, count]) => count > 2)).toEqual([])
  expect(Object.keys(clicks).length).toBeGreaterThanOrEqual(10)
})

test('violations are found, also in rows like others, and in the other theme', async () => {
  const page = await busy.openPage()
  await visit(page, `${busy.place.url}/w/${busy.place.workspaceId}/team`)
  await page.getByRole('heading', { level: 1, name: 'Team' }).waitFor()
  await page.evaluate(`document.querySelector('main').insertAdjacentHTML('beforeend',
    '<style>[data-mantine-color-scheme="dark"] .pale { color: #333; background: #222 }</style>' +
    '<button></button><ul><li>Fine</li><li>Fine</li><li class="pale">Pale</li></ul>')`)
  const rules = (await violationsOf(page)).map((each) => each.split(': ').slice(0, 2).join(' '))
  expect(rules).toEqual(['light button-name', 'dark color-contrast'])
})

test('the navigation scrolls to the link of the page and to the focused link', async () => {
  const page = await busy.openPage()
  await visit(page, `${busy.place.url}/operator/health`)
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

test('the sign-in page has no serious accessibility violations, and has the theme that the person prefers', async () => {
  const page = await busy.browser.newPage({ bypassCSP: true, expects: /401/ })
  await page.goto(`${busy.place.url}/sign-in`)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await violationsOf(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.waitForSelector('html[data-mantine-color-scheme="dark"]')
})

interface Violation {
  id: string
  nodes: { html: string; failureSummary: string }[]
}

/** Runs the rules about colors in both themes, and all others in one: nothing else differs. The theme is an attribute. */
async function violationsOf(page: Page): Promise<string[]> {
  await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' })
  await pageReady(page)
  if (!(await page.evaluate(`'axe' in self`))) await page.evaluate(`${axe};${checks}`)
  await animationsDone(page)
  const found = await page.evaluate<[string, Violation[]][]>('check()')
  return found.flatMap(([scheme, violations]) =>
    violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${scheme}: ${id}: ${html} ${failureSummary}`),
    ),
  )
}

/**
 * Runs in the page. Most of the time goes to the colors, so each kind of text is looked at once: what has the same classes,
 * states and inline styles, and so have its ancestors, has the same colors.
 */
const checks = `
const colorRules = ['color-contrast', 'link-in-text-block']
const otherRules = axe._audit.rules
  .filter((rule) => rule.enabled && /serious|critical/.test(rule.impact) && !colorRules.includes(rule.id))
  .map((rule) => rule.id)
const seen = new Set()

function kindOf(element, known) {
  if (element === document.body) return ''
  if (!known.has(element)) {
    const states = [...element.attributes].filter(({ name }) => /^(class|disabled|data-(?!index)|aria-(busy|checked|current|disabled|expanded|invalid|pressed|selected|sort))/.test(name))
    const style = (element.getAttribute('style') ?? '').replace(/[\\d.]+/g, '')
    const own = element.tagName + style + states.map(({ name, value }) => name + value).join()
    known.set(element, kindOf(element.parentElement, known) + '>' + own)
  }
  return known.get(element)
}

function findFresh() {
  const known = new Map()
  const hasText = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== ''
  return [...document.body.querySelectorAll('*')].filter((element) => {
    if (![...element.childNodes].some(hasText) && !element.matches('input, select, textarea')) return false
    const kind = kindOf(element, known)
    return !seen.has(kind) && seen.add(kind)
  })
}

/** The handset, in a frame of the overview, has a test of its own. */
const run = async (target, rules) => {
  const { violations } = await axe.run(target, { runOnly: rules, resultTypes: ['violations'], iframes: false })
  return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
}

async function check() {
  const found = [['light', await run(document, otherRules)]]
  const fresh = findFresh()
  if (fresh.length === 0) return found
  const others = [...document.querySelectorAll('tr, li, nav')].filter((each) => !fresh.some((one) => each.contains(one)))
  for (const each of others) each.style.setProperty('display', 'none', 'important')
  for (const scheme of ['light', 'dark']) {
    document.documentElement.dataset.mantineColorScheme = scheme
    for (const animation of document.getAnimations()) animation.finish()
    found.push([scheme, await run({ include: fresh }, colorRules)])
  }
  document.documentElement.dataset.mantineColorScheme = 'light'
  for (const each of others) each.style.removeProperty('display')
  return found
}
Object.assign(self, { check })
`
