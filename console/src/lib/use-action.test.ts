import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const files = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.test\.ts$/.test(entry.name))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)))

const filesWith = (pattern: RegExp) => files.filter((file) => pattern.test(readFileSync(join(root, file), 'utf8')))

test('everything that changes something goes through useAction', () => {
  expect(files.length).toBeGreaterThan(150)
  expect(filesWith(/\buseMutation\b/)).toEqual(['lib/use-action.ts'])
  // The function that posts is handed out by useAction alone.
  expect(filesWith(/import\s*\{[^}]*(?<!type )\bsend\b[^}]*\}\s*from '[./]+\/(lib\/)?api\.ts'/)).toEqual([
    'lib/use-action.ts',
  ])
})

test('only lib/api.ts asks the service; what comes by stream is lib/live.ts', () => {
  const calls = /\bfetch\(|\bXMLHttpRequest\b|\bsendBeacon\b/
  const examples = ['pages/keys/snippets.ts', 'pages/templates/snippets.ts', 'parts/verify-snippets.ts']
  expect(filesWith(calls).filter((file) => !examples.includes(file))).toEqual(['lib/api.ts'])
  expect(filesWith(/new EventSource\(/)).toEqual(['lib/live.ts'])
})
