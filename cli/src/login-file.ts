import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import type { Environment } from '@parley/server/config'
import { StartupError } from '@parley/server/lib/refuse'
import { program } from './program.ts'

/** A service, and an API key for it. */
export interface Login {
  url: string
  key: string
}

/** Where `parley login` stores it; null if no folder for settings is known. Windows sets USERPROFILE, not HOME. */
export function loginFile({ XDG_CONFIG_HOME: folder, HOME, USERPROFILE }: Environment): string | null {
  const home = HOME || USERPROFILE
  // A relative path is to be ignored, by the specification of XDG.
  const settings = folder && isAbsolute(folder) ? folder : home ? join(home, '.config') : null
  return settings && join(settings, 'parley', 'login.json')
}

export function readLogin(env: Environment): Login | null {
  const file = loginFile(env)
  if (file === null) return null
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw new StartupError(`${file} cannot be read: ${code}.`)
  }
  try {
    const { url, key } = JSON.parse(text) as Partial<Login>
    if (url && key) return { url, key }
  } catch {
    // Handled below, like JSON without the members.
  }
  throw new StartupError(`${file} has no valid login. Run "${program.name} login" again.`)
}

/** Only its owner can read it, at every moment. */
export function writeLogin(file: string, login: Login): void {
  const draft = `${file}.draft-${process.pid}`
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(draft, `${JSON.stringify(login, null, 2)}\n`, { mode: 0o600 })
    renameSync(draft, file)
  } catch (error) {
    if (existsSync(draft)) rmSync(draft)
    throw new StartupError(`${file} cannot be written: ${(error as NodeJS.ErrnoException).code}.`)
  }
}
