import { existsSync } from 'node:fs'
import chromium from '@sparticuz/chromium'

/**
 * A Chromium to drive. The one from npm is built for x64 only and is unpacked on its first use, into the folder for
 * temporary files; on other machines the system's own is used.
 */
export async function chromiumPath(): Promise<string> {
  if (process.arch === 'x64') return chromium.executablePath()
  const installed = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)
  if (installed) return installed
  throw new Error(`No Chromium for ${process.arch} found. Install one, for example with "apt-get install chromium".`)
}
