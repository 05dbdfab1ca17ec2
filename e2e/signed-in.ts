import type { Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { openStore, type Store } from '../server/src/db/store.ts'
import { newLogger } from '../server/src/lib/logger.ts'
import { type PageOptions, useBrowser } from '../server/testing/browser.ts'
import { type Browser, followLink, goodPassword, newBrowser, tokenOf } from '../server/testing/console.ts'
import { newDataDir } from '../server/testing/prepared-data-dir.ts'
import { type Installation, startInstallation } from './installation.ts'

export const ada = { name: 'Ada', email: 'ada@harbour.example', password: goodPassword }

/** An installation and a browser for the tests of a file, with the first account signed in. */
export interface SignedIn {
  place: Installation
  store: Store
  /** Calls the console's API as Ada. */
  ada: Browser
  /** Opens a page as Ada. A path without a leading slash is inside the demo workspace. */
  open(path: string, options?: PageOptions): Promise<Page>
}

export function useSignedIn(host?: string): SignedIn {
  const browser = useBrowser()
  const signedIn = {
    async open(path, options) {
      const { place } = signedIn
      const page = await browser.newPage(options)
      const cookies = [...signedIn.ada.cookies].map(([name, value]) => ({ name, value, url: place.url }))
      await page.context().addCookies(cookies)
      await page.goto(place.url + (path.startsWith('/') ? path : `/w/${place.workspaceId}/${path}`))
      return page
    },
  } as SignedIn
  beforeAll(async () => {
    const place = await startInstallation({ host, dataDir: newDataDir() })
    signedIn.place = place
    signedIn.store = await openStore(
      { databaseUrl: null, dataDir: place.env.PARLEY_DATA_DIR ?? '' },
      { purpose: 'visitor', schema: 'require', log: newLogger('silent') },
    )
    signedIn.ada = newBrowser(place.url)
    await followLink(signedIn.ada, tokenOf(place.setupUrl), ada)
  })
  afterAll(async () => {
    await signedIn.store?.close()
    await signedIn.place?.stop()
  })
  return signedIn
}
