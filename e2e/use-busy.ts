import type { Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { type PageOptions, type TestBrowser, useBrowser } from '../server/testing/browser.ts'
import type { Browser } from '../server/testing/console.ts'
import { newDataDir } from '../server/testing/prepared-data-dir.ts'
import { type BusyInstallation, makeBusy } from './busy-installation.ts'
import { type Installation, startInstallation } from './installation.ts'

/** An installation with data of every kind, and a browser, for the tests of a file. */
export interface Busy {
  place: Installation
  browser: TestBrowser
  /** Calls the console's API as the admin. */
  console: Browser
  /** An empty page of the signed-in admin. */
  openPage(): Promise<Page>
}

export function useBusy(options: PageOptions): Busy {
  let installation: BusyInstallation | undefined
  const busy = {
    browser: useBrowser(),
    async openPage() {
      const page = await busy.browser.newPage(options)
      const cookies = [...busy.console.cookies].map(([name, value]) => ({ name, value, url: busy.place.url }))
      await page.context().addCookies(cookies)
      return page
    },
  } as Busy
  beforeAll(async () => {
    busy.place = await startInstallation({ dataDir: newDataDir() })
    installation = await makeBusy(busy.place)
    busy.console = installation.console
  })
  afterAll(async () => {
    await installation?.close()
    await busy.place?.stop()
  })
  return busy
}
