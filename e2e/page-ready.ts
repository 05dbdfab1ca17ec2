import type { Page } from 'playwright-core'
import { until } from '../server/testing/until.ts'

// Asked from outside: a page that lets nobody evaluate strings lets the browser's driver wait for one only if it is true at once.

/** Streams stay open, so the network is never idle: what is drawn is waited for instead. */
export const pageReady = (page: Page, timeoutMs?: number): Promise<boolean> =>
  until(
    'nothing is being loaded',
    async () => (await page.locator('[class*="skeleton"], [aria-busy="true"]').count()) === 0,
    timeoutMs,
  )

export const animationsDone = (page: Page): Promise<boolean> =>
  until('nothing moves', async () => (await page.evaluate<number>('document.getAnimations().length')) === 0)

/** Chooses from a menu by keyboard: on a busy machine a menu may still move to its place while it is being clicked. */
export const choose = (page: Page, name: string): Promise<void> => page.getByRole('menuitem', { name }).press('Enter')
