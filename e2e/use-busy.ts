import type { Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { type PageOptions, type TestBrowser, useBrowser } from '../server/testing/browser.ts'
import type { Browser } from '../server/testing/console.ts'
import { type BusyInstallation, makeBusy } from './busy-installation.ts'
import type { Installation } from './installation.ts'
import { newInstallation } from './new-installation.ts'
import { cookiesOf } from './signed-in.ts'

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
  beforeAll(async () => {
    busy.place = await newInstallation()
    installation = await makeBusy(busy.place)
    busy.console = installation.console
  })
  afterAll(async () => {
    await installation?.close()
    await busy.place?.stop()
  })
  const busy = {
    browser: useBrowser(),
    openPage: () => busy.browser.newPage({ cookies: cookiesOf(busy.console, busy.place), ...options }),
  } as Busy
  return busy
}
