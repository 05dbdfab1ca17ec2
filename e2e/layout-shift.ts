import type { Page } from 'playwright-core'
import { visit } from '../server/testing/browser.ts'
import { pageReady } from './page-ready.ts'

/** What a page may move by while it loads, as the browser measures it: the "cumulative layout shift". */
const most = 0.02

export interface Shifts {
  /** Opens an address and waits for its data. Returns the elements that moved by themselves, or none if they moved little. */
  visit(url: string): Promise<string[]>
  /** The same, since the page was opened. */
  take(): Promise<string[]>
  stop(): Promise<void>
}

/** Watches what moves on a page without input. Responses are late, so that every page is drawn before its data arrives. */
export async function watchShifts(page: Page): Promise<Shifts> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  const late = { offline: false, latency: 50, downloadThroughput: -1, uploadThroughput: -1 }
  await session.send('Network.emulateNetworkConditions', late)
  const take = async () => {
    // The browser measures a frame when it draws it.
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
    const moved = await page.evaluate<{ by: number; what: string }[]>(script)
    const sum = moved.reduce((before, { by }) => before + by, 0)
    return sum < most ? [] : moved.map(({ by, what }) => `moves by ${by.toFixed(3)}: ${what}`)
  }
  return {
    async visit(url) {
      if (page.url().startsWith('http')) await take()
      // A drawer opens by a click, which may move the list, or with the page, by a shared link.
      if (url.includes('open=')) await page.goto(url)
      else await visit(page, url)
      await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' })
      await pageReady(page)
      return take()
    },
    take,
    async stop() {
      await session.send('Network.emulateNetworkConditions', { ...late, latency: 0 })
      await session.detach()
    },
  }
}

// Text, because the end-to-end tests have no DOM types. What was measured before the first call is buffered.
const script = `(() => {
  const describe = ({ node, previousRect: from, currentRect: to }) => {
    const element = node?.nodeType === Node.TEXT_NODE ? node.parentElement : node
    const place = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(' ')
    return (element?.className ?? '?') + ' "' + (element?.textContent ?? '').slice(0, 30) + '" ' + place(from) + ' to ' + place(to)
  }
  const add = (entries) => {
    for (const { value, hadRecentInput, sources } of entries) {
      if (!hadRecentInput) self.shifts.push({ by: value, what: sources.map(describe).join(', ') })
    }
  }
  if (!self.shiftObserver) {
    self.shifts = []
    self.shiftObserver = new PerformanceObserver((list) => add(list.getEntries()))
    self.shiftObserver.observe({ type: 'layout-shift', buffered: true })
  }
  add(self.shiftObserver.takeRecords())
  return self.shifts.splice(0)
})()`
