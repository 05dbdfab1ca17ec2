import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const files = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.test\.ts$/.test(entry.name))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)))

const filesWith = (pattern: RegExp) => files.filter((file) => pattern.test(readFileSync(join(root, file), 'utf8')))

test('every request that changes data goes through useAction', () => {
  expect(files.length).toBeGreaterThan(150)
  expect(filesWith(/\buseMutation\b/)).toEqual(['lib/use-action.ts'])
  // Only useAction imports `send` and passes it on.
  expect(filesWith(/import\s*\{[^}]*(?<!type )\bsend\b[^}]*\}\s*from '[./]+\/(lib\/)?api\.ts'/)).toEqual([
    'lib/use-action.ts',
  ])
})

test('only lib/api.ts makes requests, and only lib/live.ts opens an event stream', () => {
  const calls = /\bfetch\(|\bXMLHttpRequest\b|\bsendBeacon\b/
  const examples = ['pages/keys/snippets.ts', 'pages/templates/snippets.ts', 'parts/verify-snippets.ts']
  expect(filesWith(calls).filter((file) => !examples.includes(file))).toEqual(['lib/api.ts'])
  expect(filesWith(/new EventSource\(/)).toEqual(['lib/live.ts'])
})

test('every part that is loaded later uses ui/lazy.tsx, which recovers when it cannot be loaded', () => {
  expect(filesWith(/\blazy\(|\blazyRouteComponent\b/)).toEqual(['ui/lazy.tsx'])
})

test('every form asks before edits are lost, except where there is nothing to lose or the text is kept', () => {
  expect(filesWith(/\bguarded=\{false\}/).toSorted()).toEqual([
    'pages/account/authenticator-setup.tsx',
    'pages/contacts/composer.tsx',
    'pages/contacts/save-scenario.tsx',
    'pages/link/link-form.tsx',
    'pages/sign-in/forgot-form.tsx',
    'pages/sign-in/password-form.tsx',
    'pages/sign-in/second-factor-form.tsx',
    'pages/webhooks/test-event.tsx',
    'shell/step-up-dialog.tsx',
    'ui/dialog.tsx',
  ])
  // The forms of filters have nothing to lose either.
  expect(filesWith(/<form\b/).toSorted()).toEqual(['ui/filter-forms.tsx', 'ui/form.tsx'])
})

test('only lib/clock.ts reads the clock of the browser, which may be hours off, except for spans and proposed dates', () => {
  const spans = ['shell/shortcuts.tsx', 'ui/lazy.tsx']
  const proposed = ['pages/keys/key-fields.tsx', 'pages/templates/counts.tsx', 'ui/filter-forms.tsx']
  const examples = ['parts/verify-snippets.ts']
  const found = filesWith(/\bDate\.now\(|\bnew Date\(\)/)
  expect(found.sort()).toEqual(['lib/clock.ts', ...spans, ...proposed, ...examples].sort())
})
