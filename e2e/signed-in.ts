import type { Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import type { Db } from '../server/src/db/db.ts'
import { type PageOptions, useBrowser, visit } from '../server/testing/browser.ts'
import { type Browser, followLink, goodPassword, newBrowser, tokenOf } from '../server/testing/console.ts'
import type { Installation } from './installation.ts'
import { newInstallation } from './new-installation.ts'

export const ada = { name: 'Ada', email: 'ada@harbour.example', password: goodPassword }

/** An installation and a browser for the tests of a file, with the first account signed in. */
export interface SignedIn {
  place: Installation
  db: Db
  /** Calls the console's API as Ada. */
  ada: Browser
  /** Opens a page as Ada. A path without a leading slash is inside the demo workspace. */
  open(path: string, options?: PageOptions): Promise<Page>
  /** Goes to another page of the console without loading it again. */
  visit(page: Page, path: string): Promise<void>
}

/** The session of a person, for `newPage`. */
export const cookiesOf = ({ cookies }: Browser, { url }: Installation) =>
  [...cookies].map(([name, value]) => ({ name, value, url }))

export function useSignedIn(host?: string): SignedIn {
  beforeAll(async () => {
    signedIn.place = await newInstallation({ host })
    signedIn.db = signedIn.place.db
    signedIn.ada = newBrowser(signedIn.place.url)
    await followLink(signedIn.ada, tokenOf(signedIn.place.setupUrl), ada)
  })
  afterAll(() => signedIn.place?.stop())
  // After the installation, because its pages are closed before the installation stops.
  const browser = useBrowser()
  const signedIn = {
    async open(path, options) {
      const cookies = cookiesOf(signedIn.ada, signedIn.place)
      const page = await browser.newPage({ cookies, isDrawn: false, ...options })
      await signedIn.visit(page, path)
      return page
    },
    visit(page, path) {
      const { url, workspaceId } = signedIn.place
      return visit(page, url + (path.startsWith('/') ? path : `/w/${workspaceId}/${path}`))
    },
  } as SignedIn
  return signedIn
}
