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
  /** A page in a new context, without cookies. Errors in the page fail the test. */
  newPage(options?: PageOptions): Promise<Page>
}

export interface PageOptions extends BrowserContextOptions {
  /** Errors that the test expects, for example because it stops the server. */
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
      // Animations take time, and much of it is the processor's: the browser draws each frame without a graphics card.
      const defaults = { viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' } as const
      const context = await browser.newContext({ ...defaults, ...options })
      const page = await context.newPage()
      const errors = await collectErrors(context, page)
      onTestFinished(async ({ task }) => {
        if (task.result?.state === 'fail') console.error(await whatItShows(page))
        await context.close()
        expect(errors.filter((error) => !expects?.test(error))).toEqual([])
      })
      return page
    },
  }
}

/** Retries, because another test file may be unpacking the browser. */
async function launch(): Promise<Browser> {
  const executablePath = await chromiumPath()
  for (const end = Date.now() + 30_000; ; await sleep(500)) {
    try {
      // Without the default arguments of the package, which turn off web security and use a single process.
      return await driver.launch({ executablePath, args: ['--no-sandbox'] })
    } catch (cause) {
      if (Date.now() > end) throw new Error(`${executablePath} does not start; if it is damaged, delete it`, { cause })
    }
  }
}

/** What a person would see, for the report of a failed test. */
async function whatItShows(page: Page): Promise<string> {
  const text = await page.evaluate<string>('document.body.innerText').catch(String)
  return `When the test failed, ${page.url()} showed:\n${text}`
}

/** Collects uncaught errors, errors on the browser console, and violations of the content security policy. */
async function collectErrors(context: BrowserContext, page: Page): Promise<string[]> {
  const errors: string[] = []
  await context.exposeFunction(
    'reportViolation',
    (violation: string) => void errors.push(`blocked by CSP: ${violation}`),
  )
  await context.addInitScript(`addEventListener('securitypolicyviolation', (event) => {
    reportViolation(event.violatedDirective + ' ' + event.blockedURI)
  })`)
  page.on('pageerror', (error) => void errors.push(`uncaught: ${error.stack ?? error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(`console: ${message.text()} ${message.location().url}`)
  })
  return errors
}

/** Saves a screenshot in the folder `PARLEY_SCREENSHOTS`, if that variable is set. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.PARLEY_SCREENSHOTS
  if (!folder) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' })
}
