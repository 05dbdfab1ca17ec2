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
import { smallTargets } from './touch-targets.ts'
import { useBusy } from './use-busy.ts'

/**
 * axe must not find serious or critical violations on any page, in the light and the dark theme. Pages bypass the content
 * security policy, which would block axe. The window is that of a small laptop: everything is in reach there too. On a phone,
 * what can be touched is large enough, no page scrolls sideways, and a list has two lines in a row.
 */
const laptop = { width: 1280, height: 800 }
const phone = { width: 390, height: 844 }
const busy = useBusy({ bypassCSP: true, viewport: laptop })
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What is wrong on a page in a window of this size. */
async function problemsAt(page: Page, size: typeof phone, name: string): Promise<string[]> {
  await page.setViewportSize(size)
  // Charts are drawn again in their new width.
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  await pageReady(page)
  if (size === laptop) return [...(await layoutProblems(page)), ...(await violationsOf(page))]
  await screenshot(page, `phone ${name}`)
  const problems = [...(await smallTargets(page)), ...(await layoutProblems(page))]
  return problems.map((problem) => `on a phone: ${problem}`)
}

test('no page, dialog or drawer has serious accessibility violations; on a laptop and a phone all is in reach, and on one of them it stays in place', async () => {
  const { url, workspaceId } = busy.place
  const page = await busy.openPage()
  const found: Record<string, string[]> = {}
  const add = (name: string, problems: string[]) => {
    if (problems.length > 0) found[name] = problems
  }
  const shifts = await watchShifts(page)
  for (const [index, { name, path }] of (await consolePages(busy.console, workspaceId)).entries()) {
    // Pages load in both sizes in turn: lists, details and charts are of the same parts everywhere.
    const [first, second] = index % 2 === 0 ? [phone, laptop] : [laptop, phone]
    await page.setViewportSize(first)
    const moved = await shifts.visit(url + path)
    add(name, [...moved, ...(await problemsAt(page, first, name)), ...(await problemsAt(page, second, name))])
  }
  await shifts.stop()
  await page.setViewportSize(laptop)
  for (const [path, name] of [
    ['keys?new=1', 'Create key'],
    ['webhooks?new=1', 'Create webhook'],
  ] as const) {
    await visit(page, `${url}/w/${workspaceId}/${path}`)
    const dialog = page.getByRole('dialog', { name })
    await dialog.getByRole('button', { name }).click()
    await dialog.locator('[aria-invalid="true"]').first().waitFor()
    add(`${name}, with validation errors`, await violationsOf(page))
  }
  await visit(page, `${url}/w/${workspaceId}/deliveries`)
  const failed = page.getByRole('row', { name: /Old CRM.*500/ })
  await failed.first().click()
  await page.getByRole('dialog').getByRole('list', { name: 'Attempts' }).waitFor()
  for (const size of [laptop, phone]) {
    const name = `the drawer of a delivery at ${size.width} px`
    add(name, await problemsAt(page, size, 'delivery'))
  }
  expect(found).toEqual({})
}, 240_000)

test('from the overview, every daily question takes at most two clicks', async () => {
  const page = await busy.openPage()
  const clicks: Record<string, number> = {}
  await visit(page, `${busy.place.url}/w/${busy.place.workspaceId}`)
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  // Where one way ends, the next one starts: the navigation and the search are on every page as on the overview.
  for (const { question, find } of dailyQuestions) {
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

test('what is too small or cut off, and what moves, is found', async () => {
  const page = await busy.openPage()
  await page.setViewportSize(phone)
  const shifts = await watchShifts(page)
  expect(await shifts.visit(`${busy.place.url}/w/${busy.place.workspaceId}/messages`)).toEqual([])
  // What moves in the half second after a resize counts as caused by it.
  const moved = await until('a movement is measured', async () => {
    await page.evaluate(
      `document.querySelector('main').insertAdjacentHTML('afterbegin', '<p style="height: 90px">Late</p>')`,
    )
    const all = await shifts.take()
    return all.length > 0 && all
  })
  expect(moved).toEqual(moved.map(() => expect.stringMatching(/^moves by 0\.[1-9]/)))
  await shifts.stop()
  await page.evaluate(`document.querySelector('main').insertAdjacentHTML('beforeend',
    '<button class="small" aria-label="Small" style="all: unset; display: block; width: 20px; height: 20px">x</button>' +
    '<div style="height: 10px; overflow: hidden"><a href="#" style="display: block; height: 60px">Cut off</a></div>' +
    '<div style="clip-path: inset(50%)"><button aria-label="Clipped" style="width: 60px; height: 60px">x</button></div>' +
    '<table><tr><td><a href="#">Alone</a></td></tr></table>' +
    '<p>A sentence with <a href="#">a link</a> in it.</p>')`)
  const found = (await smallTargets(page)).map((each) => /"(.*)"/.exec(each)?.[1])
  expect(found).toEqual(['Small', 'Cut off', 'Clipped', 'Alone'])
})

test('on a phone, a list has rows of two lines', async () => {
  const page = await busy.openPage()
  await page.setViewportSize(phone)
  await visit(page, `${busy.place.url}/w/${busy.place.workspaceId}/messages`)
  const row = page.getByRole('table', { name: 'Messages' }).locator('tbody tr').first()
  await row.waitFor()
  await pageReady(page)
  // Without it, a phone shows the page of a laptop in small.
  expect(await page.locator('meta[name="viewport"]').getAttribute('content')).toContain('width=device-width')
  const { height = 0 } = (await row.boundingBox()) ?? {}
  expect(height).toBeGreaterThanOrEqual(44)
  expect(height).toBeLessThan(90)
  await row.click()
  await page.waitForURL(/\/messages\/msg_/)
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
 * Runs in the page. Most of the time goes to the colors, so each kind of text is looked at once: what has the same class, state
 * and font, and in both themes the same color in front of the same backgrounds. The other rules look at each kind of row once.
 */
const checks = `
const colorRules = ['color-contrast', 'link-in-text-block']
const otherRules = axe._audit.rules
  .filter((rule) => rule.enabled && /serious|critical/.test(rule.impact) && !colorRules.includes(rule.id))
  .map((rule) => rule.id)
const seen = new Set()
const shapes = new Set()

function setScheme(scheme) {
  document.documentElement.dataset.mantineColorScheme = scheme
  for (const animation of document.getAnimations()) animation.finish()
}

function behind(element, known) {
  if (!element) return ''
  if (!known.has(element)) {
    const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element)
    const isEmpty = backgroundColor === 'rgba(0, 0, 0, 0)' && backgroundImage === 'none' && opacity === '1'
    known.set(element, behind(element.parentElement, known) + (isEmpty ? '' : '>' + backgroundColor + backgroundImage + opacity))
  }
  return known.get(element)
}

function colorsOf(elements) {
  const known = new Map()
  return elements.map((element) => {
    const { color, fontSize, fontWeight, textDecorationLine, textShadow } = getComputedStyle(element)
    const around = getComputedStyle(element.parentElement).color
    return [color, around, fontSize, fontWeight, textDecorationLine, textShadow, behind(element, known)].join()
  })
}

function findFresh() {
  const hasText = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== ''
  const texts = [...document.body.querySelectorAll('*')].filter(
    (element) =>
      !element.closest('.unseen') &&
      ([...element.childNodes].some(hasText) || element.matches('input, select, textarea')) &&
      element.checkVisibility({ opacityProperty: true, visibilityProperty: true }),
  )
  setScheme('dark')
  const dark = colorsOf(texts)
  setScheme('light')
  const light = colorsOf(texts)
  return texts.filter((element, at) => {
    const states = [...element.attributes].filter(({ name }) => /^(class|disabled|data-(?!index)|aria-(busy|checked|current|disabled|expanded|invalid|pressed|selected|sort))/.test(name))
    const kind = [element.tagName, ...states.map(({ name, value }) => name + value), light[at], dark[at]].join()
    return !seen.has(kind) && seen.add(kind)
  })
}

/** The handset, in a frame of the overview, has a test of its own. */
const run = async (target, rules) => {
  const { violations } = await axe.run(target, { runOnly: rules, resultTypes: ['violations'], iframes: false })
  return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
}

/** Rows and entries with the same elements as one before. */
function findRepeated() {
  const shapeOf = (each) => each.tagName + each.getAttributeNames() + each.getAttribute('class') + each.role + (each.textContent.trim() === '')
  return [...document.querySelectorAll('tr, li')].filter((row) => {
    const shape = [row, ...row.querySelectorAll('*')].map(shapeOf).join()
    return shapes.has(shape) || !shapes.add(shape)
  })
}

async function without(elements, look) {
  for (const each of elements) each.style.setProperty('display', 'none', 'important')
  const found = await look()
  for (const each of elements) each.style.removeProperty('display')
  return found
}

async function check() {
  const found = [['light', await without(findRepeated(), () => run(document, otherRules))]]
  const fresh = findFresh()
  if (fresh.length === 0) return found
  const parts = [...document.querySelectorAll('tr, li, nav, header, section, form, dl, svg')]
  await without(parts.filter((each) => !fresh.some((one) => each.contains(one))), async () => {
    for (const scheme of ['light', 'dark']) {
      setScheme(scheme)
      found.push([scheme, await run({ include: fresh }, colorRules)])
    }
    setScheme('light')
  })
  return found
}
Object.assign(self, { check })
`
