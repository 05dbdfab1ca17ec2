// Takes screenshots of every page of the console and of the handset: npm run screenshots.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium as driver, type Page } from 'playwright-core'
import { makeBusy } from '../e2e/busy-installation.ts'
import { consolePages } from '../e2e/console-pages.ts'
import { startInstallation } from '../e2e/installation.ts'
import { pageReady } from '../e2e/page-ready.ts'
import { chromiumPath } from '../server/testing/chromium.ts'

const root = join(import.meta.dirname, '..')
const folder = process.env.PARLEY_SCREENSHOTS ?? join(root, 'docs', 'screenshots')
/** The pages to take; all if empty. */
const names = process.argv.slice(2)
const variants =
  process.env.PARLEY_SCREENSHOTS === undefined
    ? [{ suffix: '', scheme: 'light', width: 1440, height: 900 } as const]
    : ([
        { suffix: '', scheme: 'light', width: 1440, height: 900 },
        { suffix: '-dark', scheme: 'dark', width: 1440, height: 900 },
        { suffix: '-phone', scheme: 'light', width: 390, height: 844 },
      ] as const)

mkdirSync(folder, { recursive: true })
console.log('Starting Parley and filling a workspace…')
const place = await startInstallation()
const busy = await makeBusy(place).catch(async (error: unknown) => {
  await place.stop()
  throw error
})
const browser = await driver.launch({ executablePath: await chromiumPath(), args: ['--no-sandbox'] })
try {
  const pages = await consolePages(busy.console, place.workspaceId)
  for (const { suffix, scheme, width, height } of variants) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme })
    await context.addCookies([...busy.console.cookies].map(([name, value]) => ({ name, value, url: place.url })))
    const page = await context.newPage()
    for (const { name, path } of pages) {
      // It leads to a contact, and here to none.
      if (name === 'conversation') continue
      if (names.length > 0 && !names.includes(name)) continue
      await takeScreenshot(page, place.url + path, `${name}${suffix}`)
    }
    if (names.length === 0 || names.includes('handset')) {
      await takeScreenshot(page, `${place.simulatorUrl}/#from=16505550123&to=15550780001`, `handset${suffix}`)
    }
    await context.close()
  }
} finally {
  await browser.close()
  await busy.close()
  await place.stop()
}

async function takeScreenshot(page: Page, address: string, name: string): Promise<void> {
  await page.goto(address)
  await page.waitForLoadState('load')
  // A page that was just opened has no loading indicators yet.
  await page
    .locator('h1')
    .first()
    .waitFor({ timeout: 8000 })
    .catch(() => {})
  await pageReady(page, 8000).catch(() => {})
  await page.waitForTimeout(700)
  await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' })
  console.log(`  ${name}.png`)
}
