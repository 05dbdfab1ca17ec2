import { existsSync } from 'node:fs'
import chromium from '@sparticuz/chromium'

/** The first is built for driving alone, and takes half of the time. */
const installed = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/google-chrome']

/**
 * A Chromium to drive. The one from npm is built for x64 only and is unpacked on its first use, into the folder for
 * temporary files; on other machines the system's own is used.
 */
export async function chromiumPath(): Promise<string> {
  if (process.arch === 'x64') return chromium.executablePath()
  const found = installed.find(existsSync)
  if (found) return found
  throw new Error(`No Chromium for ${process.arch} found: run "apt-get install chromium-headless-shell".`)
}
