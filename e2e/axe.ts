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

interface Look {
  /** All rules unless given. */
  rules?: readonly string[]
  impact?: RegExp
  /** A selector of the part to look at; the whole page unless given. */
  within?: string
}

/** What axe finds on a page that was opened with `bypassCSP`, since the policy would block axe. */
export async function violations(page: Page, { rules, impact = /./, within }: Look = {}): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe)
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) }
  const found = await page.evaluate<Violation[]>(
    `axe.run(${within === undefined ? 'document' : JSON.stringify(within)}, ${JSON.stringify(options)})
      .then((result) => result.violations)`,
  )
  return found
    .filter((each) => impact.test(each.impact))
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`))
}

/** Serious violations in light colors, and what differs in dark colors, on the whole page or in a part of it. */
export async function seriousViolations(page: Page, name: string, look: Pick<Look, 'within'> = {}): Promise<string[]> {
  const colors = async (colorScheme: 'light' | 'dark') => {
    await page.emulateMedia({ colorScheme })
    await animationsDone(page)
    await screenshot(page, `${name} ${colorScheme}`)
  }
  await colors('light')
  const light = await violations(page, { ...look, impact: /serious|critical/ })
  await colors('dark')
  const dark = await violations(page, { ...look, impact: /serious|critical/, rules: ['color-contrast'] })
  return [...light, ...dark]
}

/**
 * Removes what is of a kind that an earlier page had, or that this page has three times before, and returns the kinds that are
 * left. The time that axe takes grows with the page, and it has the same to say about every row of a table. Headings and labels
 * stay: others refer to them.
 */
export const removeSeen = (page: Page, seen: readonly string[] = []): Promise<string[]> =>
  page.evaluate<string[]>(`((seen) => {
    const kinds = new Map([[document.body, '']])
    const times = new Map(seen.map((kind) => [kind, 3]))
    const fresh = new Set()
    for (const element of document.body.querySelectorAll('*')) {
      const isEmpty = element.textContent.trim() === ''
      // Code has the same colors in every language.
      const name = (element.getAttribute('class') ?? '').replace(/language-\\w+/, '')
      const own = [element.localName, name, element.getAttributeNames(), isEmpty].join()
      const kind = kinds.get(element.parentElement) + '>' + own
      kinds.set(element, kind)
      times.set(kind, (times.get(kind) ?? 0) + 1)
      if (times.get(kind) <= 3) fresh.add(element)
    }
    for (const element of [...kinds.keys()].slice(1).reverse())
      if (!fresh.has(element) && !element.firstElementChild && !element.closest('h1,h2,h3,h4,label')) element.remove()
    return [...new Set([...fresh].map((element) => kinds.get(element)))]
  })(${JSON.stringify(seen)})`)
