import { setTimeout as sleep } from 'node:timers/promises'
import type { Locator, Page } from 'playwright-core'
import { until } from '../server/testing/until.ts'

// Polled from outside: the content security policy blocks eval, and with it Playwright's own waiting for an expression.

/** Waits until the console shows the address that was visited last, and its loading indicators have disappeared. */
export const pageReady = (page: Page, timeoutMs?: number): Promise<boolean> =>
  until('the page has loaded', () => page.evaluate<boolean>(isReady), timeoutMs)

// The network is never idle, because event streams stay open.
const isReady = `((router) => !document.querySelector('[class*="skeleton"], [aria-busy="true"]') && (!router ||
  router.state.status === 'idle' && router.state.resolvedLocation?.href === router.latestLocation.href))(self.__TSR_ROUTER__)`

export const animationsDone = (page: Page): Promise<boolean> =>
  until('animations are done', async () => (await page.evaluate<number>('document.getAnimations().length')) === 0)

/** Problems that are still there after a while: a page is drawn again when its window gets another size. */
export async function lasting(find: () => Promise<string[]>): Promise<string[]> {
  for (const end = Date.now() + 5_000; ; await sleep(50)) {
    const problems = await find()
    if (problems.length === 0 || Date.now() > end) return problems
  }
}

/** Waits until nothing covers the middle of an element. */
export const isOnTop = (target: Locator): Promise<boolean> =>
  until(`nothing covers ${target}`, async () => {
    await target.waitFor()
    return target.evaluate((element) => {
      const { left, top, width, height } = element.getBoundingClientRect()
      return element.contains(element.ownerDocument.elementFromPoint(left + width / 2, top + height / 2))
    })
  })

/** Chooses a menu item by keyboard: on a slow machine the menu may still be moving when it is clicked. */
export const choose = (page: Page, name: string): Promise<void> => page.getByRole('menuitem', { name }).press('Enter')

/** Whether the browser asks before the tab is closed or reloaded. */
export const asksOnUnload = (page: Page): Promise<boolean> =>
  page.evaluate("!dispatchEvent(new Event('beforeunload', { cancelable: true }))")
