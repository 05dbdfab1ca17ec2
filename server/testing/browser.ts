import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium as driver,
  type Page,
} from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { chromiumPath } from './chromium.ts'

/** A real browser for the tests of one file. */
export interface TestBrowser {
  /** A page in a context of its own: no cookies, nothing kept. What goes wrong in it fails the test. */
  newPage(options?: PageOptions): Promise<Page>
}

export interface PageOptions extends BrowserContextOptions {
  /** Complaints that the test brings about itself, such as a server that is away. */
  expects?: RegExp
}

export function useBrowser(): TestBrowser {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())
  return {
    async newPage({ expects, ...options } = {}) {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
      const page = await context.newPage()
      const complaints = await collectComplaints(context, page)
      onTestFinished(async () => {
        await context.close()
        expect(complaints.filter((words) => !expects?.test(words))).toEqual([])
      })
      return page
    },
  }
}

/** Another test file may be unpacking the browser just now; then it is tried again. */
async function launch(): Promise<Browser> {
  const executablePath = await chromiumPath()
  for (const end = Date.now() + 30_000; ; await sleep(500)) {
    try {
      // Not with the package's own arguments: they switch web security off and put all pages into one process.
      return await driver.launch({ executablePath, args: ['--no-sandbox'] })
    } catch (cause) {
      if (Date.now() > end) throw new Error(`${executablePath} does not start; if it is damaged, delete it`, { cause })
    }
  }
}

/** Errors that nobody caught, what the page complains of on its console, and what its content security policy stopped. */
async function collectComplaints(context: BrowserContext, page: Page): Promise<string[]> {
  const complaints: string[] = []
  await context.exposeFunction(
    'tellOfViolation',
    (words: string) => void complaints.push(`blocked by policy: ${words}`),
  )
  await context.addInitScript(`addEventListener('securitypolicyviolation', (event) => {
    tellOfViolation(event.violatedDirective + ' ' + event.blockedURI)
  })`)
  page.on('pageerror', (error) => void complaints.push(`not caught: ${error.stack ?? error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`on the console: ${message.text()} ${message.location().url}`)
  })
  return complaints
}

/** Keeps a picture of the page in the folder that `PARLEY_SCREENSHOTS` names; without it, none is taken. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.PARLEY_SCREENSHOTS
  if (!folder) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' })
}
