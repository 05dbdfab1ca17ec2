import { existsSync } from 'node:fs'
import chromium from '@sparticuz/chromium'

/** The first is a headless build, which takes half the time. */
const installed = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/google-chrome']

/**
 * The path of a Chromium for tests. The npm package only has a build for x64, which is unpacked into the temporary
 * directory on first use. On other machines the installed Chromium is used.
 */
export async function chromiumPath(): Promise<string> {
  if (process.arch === 'x64') return chromium.executablePath()
  const found = installed.find(existsSync)
  if (found) return found
  throw new Error(`No Chromium for ${process.arch} found: run "apt-get install chromium-headless-shell".`)
}
