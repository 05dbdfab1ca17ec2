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
import { afterAll, expect, onTestFinished } from 'vitest'
import { chromiumPath } from './chromium.ts'

/** A real browser. All test files of a worker share it, and it ends with the worker. */
export interface TestBrowser {
  /** A page in a context of its own, without cookies unless given. Errors in the page fail the test. */
  newPage(options?: PageOptions): Promise<Page>
}

export interface PageOptions extends BrowserContextOptions {
  /** Errors that the test expects, for example because it stops the server. */
  expects?: RegExp
  cookies?: readonly { name: string; value: string; url: string }[]
  /** False saves the time for drawing, a sixth of all. Not for tests of colors: axe skips what is not drawn. */
  isDrawn?: boolean
  /** A new page, for tests that leave it changed: scripts that run first, other clocks, authenticators, pages that reload. */
  isNew?: boolean
}

/** A page with its context. Free ones are kept: opening a new one takes more than twice as long as going to another address. */
interface Tab {
  /** The options that cannot be changed any more. */
  fixed: string
  context: BrowserContext
  page: Page
  errors: string[]
  expects: RegExp | undefined
}

/** The folder for screenshots, if any. */
const screenshots = process.env.PARLEY_SCREENSHOTS || undefined
let launched: Promise<Browser> | undefined
const freeTabs: Tab[] = []

export function useBrowser(): TestBrowser {
  afterAll(() => Promise.all(freeTabs.map(({ page }) => page.goto('about:blank'))))
  return {
    async newPage({ expects, isNew = false, viewport, colorScheme, permissions = [], cookies = [], ...options } = {}) {
      const fixed = JSON.stringify(options)
      const at = isNew ? -1 : freeTabs.findLastIndex((tab) => tab.fixed === fixed)
      const tab = freeTabs.splice(at, at < 0 ? 0 : 1)[0] ?? (await newTab(fixed, options))
      const { context, page } = tab
      if (String(tab.expects) !== String(expects)) {
        await page.goto('about:blank')
        checkErrors(tab)
      }
      tab.expects = expects
      await context.clearCookies()
      await context.addCookies(cookies)
      if (permissions.length > 0) await context.grantPermissions(permissions)
      await page.setViewportSize(viewport ?? { width: 1440, height: 900 })
      await page.emulateMedia({ colorScheme: colorScheme ?? 'light' })
      onTestFinished(async ({ task }) => {
        if (task.result?.state === 'fail') console.error(await whatItShows(page))
        if (isNew) await context.close()
        else if (await leave(tab)) freeTabs.push(tab)
        checkErrors(tab)
      })
      return page
    },
  }
}

async function newTab(
  fixed: string,
  { isDrawn = true, ...options }: Omit<PageOptions, 'expects' | 'cookies' | 'isNew'>,
): Promise<Tab> {
  launched ??= launch()
  // Animations take time, and much of it is the processor's: the browser draws each frame without a graphics card.
  const context = await (await launched).newContext({ reducedMotion: 'reduce', ...options })
  const errors = await collectErrors(context)
  if (!isDrawn && !screenshots) await context.addInitScript(hide)
  return { fixed, context, page: await context.newPage(), errors, expects: undefined }
}

const hide = `new MutationObserver((_, observer) => {
  document.documentElement?.style.setProperty('opacity', '0', 'important')
  if (document.documentElement) observer.disconnect()
}).observe(document, { childList: true })`

function checkErrors({ errors, expects }: Tab): void {
  expect(errors.splice(0).filter((error) => !expects?.test(error))).toEqual([])
}

/** Undoes what a test has done to a tab. Returns whether the tab can be used again. */
async function leave({ context, page }: Tab): Promise<boolean> {
  if (page.isClosed()) {
    await context.close()
    return false
  }
  await Promise.all(context.pages().map((each) => each === page || each.close()))
  for (const event of ['request', 'response', 'load', 'dialog'] as const) page.removeAllListeners(event)
  await page.unrouteAll()
  await context.setOffline(false)
  await context.clearPermissions()
  const isLeft = await page.evaluate<boolean>(leaveConsole).catch(() => false)
  if (!isLeft) await page.goto('about:blank')
  return true
}

/**
 * Forgets what the console has stored and loaded, and leads to an address where it shows nothing, so that the next test does
 * not have to load it again. False if something is open that would stay.
 */
const leaveConsole = `(async () => {
  if (/^http/.test(location.href)) localStorage.clear(), sessionStorage.clear()
  const { __TSR_ROUTER__: router } = self
  if (!router || document.querySelector('[role="dialog"]')) return false
  router.history.push('/nowhere', {}, { ignoreBlocker: true })
  for (const button of document.querySelectorAll('[role="status"] button')) button.click()
  // A page that is still shown would load its data again.
  while (router.state.status !== 'idle' || router.state.resolvedLocation?.pathname !== '/nowhere')
    await new Promise((resolve) => setTimeout(resolve, 10))
  router.options.context.client.clear()
  return true
})()`

/** Opens an address of the console, without loading the page again if the console is open. */
export async function visit(page: Page, url: string): Promise<void> {
  const path = url.startsWith('/') ? url : url.replace(/^http:..[^/]*/, '')
  const isOpen = url === path || page.url().startsWith(url.slice(0, -path.length))
  if (!isOpen || !(await page.evaluate<boolean>(`'__TSR_ROUTER__' in self`))) await page.goto(url)
  else await page.evaluate(moveTo(path))
}

/** Ends when the page is shown: what is clicked earlier leads away before the router has arrived, and has no effect. */
const moveTo = (path: string) => `(async ({ __TSR_ROUTER__: router }) => {
  router.history.push(${JSON.stringify(path)}, {}, { ignoreBlocker: true })
  const isThere = () => router.state.status === 'idle' && router.state.resolvedLocation?.href === router.latestLocation.href
  for (const end = Date.now() + 10_000; !isThere() && Date.now() < end; ) await new Promise((resolve) => setTimeout(resolve, 10))
})(self)`

/** To save time: no isolated processes, and no optimizing compilers, which cost more than they save. */
const args = [
  '--no-sandbox',
  '--no-zygote',
  '--in-process-gpu',
  '--renderer-process-limit=1',
  '--js-flags=--no-opt,--no-maglev',
]

/** Retries, because another test file may be unpacking the browser. */
async function launch(): Promise<Browser> {
  const executablePath = await chromiumPath()
  for (const end = Date.now() + 30_000; ; await sleep(500)) {
    try {
      // Without the default arguments of the package, which turn off web security and use a single process.
      return await driver.launch({ executablePath, args })
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
async function collectErrors(context: BrowserContext): Promise<string[]> {
  const errors: string[] = []
  await context.exposeFunction(
    'reportViolation',
    (violation: string) => void errors.push(`blocked by CSP: ${violation}`),
  )
  await context.addInitScript(`addEventListener('securitypolicyviolation', (event) => {
    reportViolation(event.violatedDirective + ' ' + event.blockedURI)
  })`)
  context.on('weberror', (thrown) => {
    const error = thrown.error()
    errors.push(`uncaught: ${error.stack ?? error.message}`)
  })
  context.on('console', (message) => {
    if (message.type() === 'error') errors.push(`console: ${message.text()} ${message.location().url}`)
  })
  return errors
}

/** Saves a screenshot in the folder `PARLEY_SCREENSHOTS`, if that variable is set. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (!screenshots) return
  mkdirSync(screenshots, { recursive: true })
  await page.screenshot({ path: join(screenshots, `${name}.png`), animations: 'disabled' })
}
