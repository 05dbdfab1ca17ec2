import type { Page } from 'playwright-core'
import { lasting } from './page-ready.ts'

/** What a person cannot reach or read on a page: columns that are cut off, blank space below the page, times on several lines. */
export const layoutProblems = (page: Page): Promise<string[]> => lasting(() => page.evaluate<string[]>(script))

// Text, because the end-to-end tests have no DOM types.
const script = `(() => {
  const problems = []
  const { scrollWidth, scrollHeight } = document.documentElement
  if (scrollWidth > innerWidth) problems.push('the page is ' + scrollWidth + ' px wide')
  const end = Math.max(document.querySelector('main').getBoundingClientRect().bottom + scrollY, innerHeight)
  if (scrollHeight > end + 1) problems.push('there are ' + Math.round(scrollHeight - end) + ' blank pixels below the page')
  for (const cell of document.querySelectorAll('tr > *')) {
    if (cell.closest('.unseen')) continue
    let { right } = cell.getBoundingClientRect()
    for (let box = cell.parentElement; box !== document.body; box = box.parentElement) {
      const { overflowX } = getComputedStyle(box)
      if (overflowX === 'visible') continue
      const edge = box.getBoundingClientRect().right
      // Another box around it decides about what scrolls.
      if (overflowX === 'auto' || overflowX === 'scroll') right = Math.min(right, edge)
      else if (right > edge + 1) {
        problems.push('"' + cell.innerText + '" is cut off')
        break
      }
    }
  }
  for (const time of document.querySelectorAll('td time')) {
    if (time.getClientRects().length > 1) problems.push('"' + time.innerText + '" has several lines')
  }
  return [...new Set(problems)]
})()`
