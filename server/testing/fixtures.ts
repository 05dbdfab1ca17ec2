/** Reads the payloads that tests use as fixtures. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../src/whatsapp/fixtures')

export function fixture(path: string): unknown {
  return JSON.parse(readFileSync(join(root, path), 'utf8'))
}

/** All payloads that match the filter, as [path, value]. */
export function fixtures(filter: (value: Record<string, unknown>, path: string) => boolean): [string, unknown][] {
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => /\/.*\.json$/.test(path))
  return paths
    .sort()
    .map((path): [string, unknown] => [path, fixture(path)])
    .filter(([path, value]) => filter(value as Record<string, unknown>, path))
}
