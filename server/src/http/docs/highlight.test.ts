import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { highlight } from './highlight.ts'

const root = join(import.meta.dirname, '../../../..')
const files = globSync('docs/**/*.md', { cwd: root })
const blocks = [...files, 'sdk/README.md', 'simulator/README.md', 'simulator/control-api.md'].flatMap((file) =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/^```(\w+)[^\n]*\n(.*?)^```$/gms)].map(
    ([, language = '', code = '']) => ({ file, language, code }),
  ),
)

const textOf = (html: string) =>
  html.replaceAll(/<\/?span[^>]*>/g, '').replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))

test('the code of every page stays as it is', () => {
  expect(blocks.length).toBeGreaterThan(60)
  for (const { file, language, code } of blocks) expect(textOf(highlight(code, language)), file).toBe(code)
})

test('every language of the pages is known, except plain text', () => {
  const plain = blocks.filter(({ language, code }) => !highlight(`${code}\n"x" 1`, language).includes('<span'))
  expect([...new Set(plain.map(({ language }) => language))]).toEqual(['text'])
})

test.each([
  [
    'json',
    '{"a": -1.5e3, "b": "c: \\"d\\"", "e": null}',
    ['f "a"', 'n -1.5e3', 'f "b"', 's "c: \\"d\\""', 'f "e"', 'k null'],
  ],
  ['sh', 'export A=1 # b\ncurl -d "$A" --max-time 3', ['k export', 'f A', 'c # b', 'n -d', 's "$A"', 'n --max-time']],
  ['ts', "const a = f('//b') // c", ['k const', 'f f', "s '//b'", 'c // c']],
  ['python', 'def f(a):  # b\n    return """c\nd"""', ['k def', 'f f', 'c # b', 'k return', 's """c\nd"""']],
  ['go', 'func f() { s := `a"` }', ['k func', 'f f', 's `a"`']],
  ['php', "<?php echo $a['b']; // c", ['k echo', 'f $a', "s 'b'", 'c // c']],
  ['sql', "SELECT 'it''s' -- a", ['k SELECT', "s 'it''s'", 'c -- a']],
  ['yaml', 'a:\n  - b: "c" # d', ['f a', 'f b', 's "c"', 'c # d']],
  ['http', 'POST /hook HTTP/1.1\nContent-Type: a', ['k POST', 'f Content-Type']],
])('%s', (language, code, expected) => {
  const tokens = [...highlight(code, language).matchAll(/<span class="(\w)">(.*?)<\/span>/gs)]
  expect(tokens.map(([, kind, text = '']) => `${kind} ${textOf(text)}`)).toEqual(expected)
})

test('markup in code is text, also in a language that is not known', () => {
  for (const language of ['json', 'text', '', 'constructor'])
    expect(highlight('"<script>alert(1)</script>"', language)).not.toContain('<script>')
})
