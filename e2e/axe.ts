import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { screenshot } from '../server/testing/browser.ts'
import { animationsDone } from './page-ready.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  id: string
  impact: string
  nodes: { html: string; failureSummary: string }[]
}

/** What axe finds on a page that was opened with `bypassCSP`, since the policy would block axe. All rules, or only the named ones. */
export const violations = async (page: Page, rules?: readonly string[]): Promise<string[]> =>
  (await run(page, JSON.stringify(rules))).map(toText)

/** The rules that can find something serious: half of them. */
const seriousRules =
  '(axe._audit.rules.filter((rule) => rule.enabled && /serious|critical/.test(rule.impact)).map(({ id }) => id))'

async function run(page: Page, rules: string | undefined): Promise<Violation[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe)
  const options = `{ resultTypes: ['violations']${rules ? `, runOnly: ${rules}` : ''} }`
  return page.evaluate<Violation[]>(`axe.run(document, ${options}).then((result) => result.violations)`)
}

const toText = ({ id, nodes }: Violation): string =>
  nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`).join('\n')

/** Serious violations in light colors, and what differs in dark colors. */
export async function seriousViolations(page: Page, name: string): Promise<string[]> {
  const colors = async (colorScheme: 'light' | 'dark') => {
    await page.emulateMedia({ colorScheme })
    await animationsDone(page)
    await screenshot(page, `${name} ${colorScheme}`)
  }
  await colors('light')
  const light = await run(page, seriousRules)
  await colors('dark')
  const dark = await run(page, "['color-contrast']")
  return [...light, ...dark].filter(({ impact }) => /serious|critical/.test(impact)).map(toText)
}

/**
 * Removes what is of a kind that this page has shown three times before, also with other contents, and returns how much is left.
 * The time that axe takes grows with the page, and it has the same to say about every row of a table. Headings and labels stay:
 * others refer to them.
 */
export const removeSeen = (page: Page): Promise<number> =>
  page.evaluate<number>(`(() => {
    const { ids, times } = (self.seenKinds ??= { ids: new Map(), times: [] })
    const kinds = new Map()
    const unseen = new Set()
    for (const element of document.body.querySelectorAll('*')) {
      const isEmpty = element.textContent.trim() === ''
      const own = [element.localName, element.className, element.getAttributeNames(), isEmpty].join()
      const name = kinds.get(element.parentElement) + '>' + own
      if (!ids.has(name)) ids.set(name, ids.size)
      const kind = ids.get(name)
      kinds.set(element, kind)
      times[kind] = (times[kind] ?? 0) + 1
      if (times[kind] <= 3) unseen.add(element)
    }
    for (const element of [...kinds.keys()].reverse())
      if (!unseen.has(element) && !element.firstElementChild && !element.closest('h1,h2,h3,h4,label')) element.remove()
    return unseen.size
  })()`)
