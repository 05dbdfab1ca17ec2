import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { programVersion } from '../src/db/migrate/migrate.ts'

const root = join(import.meta.dirname, '..', '..')

/** What the service needs to run. The packages link to each other through node_modules/@parley. */
const packages = ['server', 'contract', 'cli', 'simulator', 'sdk', 'bench', 'console', 'scripts']

/** Writes these sources to a folder, with one more migration, as the next version would have. */
export function nextVersion(folder: string, migration: string): string {
  mkdirSync(folder, { recursive: true })
  for (const name of ['package.json', ...packages]) {
    cpSync(join(root, name), join(folder, name), {
      recursive: true,
      filter: (path) => !/\/(node_modules|screenshots)$/.test(path),
    })
  }
  const migrations = join(folder, 'server', 'migrations')
  const number = String(programVersion() + 1).padStart(4, '0')
  writeFileSync(join(migrations, `${number}_next_version.sql`), migration)
  linkModules(folder)
  return folder
}

function linkModules(folder: string): void {
  const from = join(root, 'node_modules')
  const to = join(folder, 'node_modules')
  mkdirSync(join(to, '@parley'), { recursive: true })
  for (const name of readdirSync(from)) if (name !== '@parley') symlinkSync(join(from, name), join(to, name))
  for (const name of packages) {
    symlinkSync(join(folder, name === 'sdk' ? 'sdk/src' : name), join(to, '@parley', name))
  }
}
