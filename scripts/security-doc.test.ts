import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const document = read('docs/reference/security.md')
/** The first line of each risk. More tests of it are in lines without a number. */
const rows = document.split('\n').filter((line) => /^\| \d+ +\|/.test(line))

/** The tests that a line names: `file` "title". */
const testsIn = (line: string) =>
  [...line.matchAll(/`([\w./-]+\.test\.ts)` "([^"]+)"/g)].map(([, file = '', title = '']) => ({ file, title }))

test('docs/reference/security.md has a row for each of the 31 risks, each with a test', () => {
  expect(rows.map((row) => Number(row.split('|')[1]))).toEqual(Array.from({ length: 31 }, (_, index) => index + 1))
  expect(rows.filter((row) => testsIn(row).length === 0)).toEqual([])
})

test('every test that docs/reference/security.md names exists', () => {
  const missing = testsIn(document).filter(({ file, title }) => {
    const source = existsSync(join(root, file)) ? read(file) : ''
    return !["'", '`', '"'].some((quote) => source.includes(`${quote}${title}${quote},`))
  })
  expect(missing).toEqual([])
})

test('every test file in docs/reference/security.md is followed by a title', () => {
  const files = [...document.matchAll(/`[\w./-]+\.test\.tsx?`/g)]
  expect(files).toHaveLength(testsIn(document).length)
})

test('no source of the console sets HTML or evaluates text', () => {
  const sources = globSync('console/src/**/*.{ts,tsx}', { cwd: root })
  expect(sources.length).toBeGreaterThan(100)
  const setsHtml =
    /dangerouslySetInnerHTML|\b(inner|outer)HTML\b|insertAdjacentHTML|document\.write|\beval\(|new Function\(|srcDoc/
  expect(sources.filter((path) => setsHtml.test(read(path)))).toEqual([])
})
