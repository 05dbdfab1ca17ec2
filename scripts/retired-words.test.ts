import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAst } from 'vite'
import { expect, test } from 'vitest'
import { everyError } from '../contract/src/console/errors.ts'
import { fieldErrors } from '../contract/src/field-errors.ts'
import { retiredEverywhere, retiredForPeople, wordsIn } from './retired-words.ts'

const root = join(import.meta.dirname, '..')
const retired = [...retiredEverywhere, ...retiredForPeople]

test.each([
  ['the console', 'console/src/**/*.{ts,tsx}'],
  ['the handset', 'simulator/handset/**/*.ts'],
  ['the command line', 'cli/src/**/*.ts'],
  ['the health checks', 'server/src/domain/health/**/*.ts'],
])('no text of %s has a retired word', (_, pattern) => {
  const files = globSync(pattern, { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
  const found = files.flatMap((file) => {
    const words = retired.filter(({ exceptIn }) => !exceptIn?.test(file))
    const texts = textsIn(readFileSync(join(root, file), 'utf8'), file.endsWith('x') ? 'tsx' : 'ts')
    return texts.filter((text) => wordsIn(text, words).length > 0).map((text) => `${file}: ${text}`)
  })
  expect(found).toEqual([])
})

test('no error of the catalogue has a retired word', () => {
  const texts = JSON.stringify([everyError, fieldErrors], null, 2).split('\n')
  expect(texts.filter((text) => wordsIn(text, retired).length > 0)).toEqual([])
})

test('texts are found in strings, templates and JSX, and code is not text', () => {
  const source = [
    'const a = `Ask $' + '{name} now`',
    'const b = <p title="Some words">More words</p>',
    'const c = styles.wall + "key-wall"',
  ].join('\n')
  expect(textsIn(source, 'tsx')).toEqual(['Ask ', ' now', 'Some words', 'More words'])
})

/** The strings of a source file that are text for people: two words or more, or one that begins with a capital. */
function textsIn(source: string, lang: 'ts' | 'tsx'): string[] {
  const texts: string[] = []
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) node.forEach(visit)
    if (Array.isArray(node) || typeof node !== 'object' || node === null) return
    const { type, value } = node as { type?: string; value?: unknown }
    if (type === 'ImportDeclaration') return
    if ((type === 'Literal' || type === 'JSXText') && typeof value === 'string') texts.push(value)
    if (type === 'TemplateElement') texts.push((value as { cooked: string }).cooked)
    Object.values(node).forEach(visit)
  }
  visit(parseAst(source, { lang }))
  return texts.filter((text) => /\S\s|\s\S|^[A-Z]/.test(text))
}
