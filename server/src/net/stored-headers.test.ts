import { expect, test } from 'vitest'
import { storedHeaders } from './stored-headers.ts'

test('headers are stored one in a line, as they arrived', () => {
  expect(storedHeaders(['Content-Type: text/html', 'X-Empty:', 'x-spaces:  a b \t'])).toBe(
    'Content-Type: text/html\nX-Empty: \nx-spaces: a b',
  )
  expect(storedHeaders([])).toBe('')
})

test.each([
  ['Set-Cookie: session=s3cret; Path=/; HttpOnly', 'Set-Cookie: session=(not stored)'],
  ['set-cookie:session="s3cret=="', 'set-cookie: session=(not stored)'],
  ['SET-COOKIE: s3cret', 'SET-COOKIE: (not stored)'],
  ['Set-Cookie: s3cret; a=b', 'Set-Cookie: (not stored)'],
  ['Set-Cookie2: id=s3cret', 'Set-Cookie2: id=(not stored)'],
])('the value of a cookie is not stored: %s', (line, expected) => {
  expect(storedHeaders([line])).toBe(expected)
})

test('the second line of a folded header and lines without a name are left out', () => {
  expect(storedHeaders(['Set-Cookie:', ' session=s3cret', '\tmore: s3cret', ': s3cret', 'no colon', 'a: b'])).toBe(
    'Set-Cookie: (not stored)\na: b',
  )
})

test('control characters, which PostgreSQL or a terminal cannot take, are left out', () => {
  expect(storedHeaders(['x: a\0b\x1b[31mc'])).toBe('x: ab[31mc')
})

test('4 KiB are stored at most, and the end says that there was more', () => {
  const stored = storedHeaders(Array.from({ length: 200 }, (_, index) => `x-${index}: ${'a'.repeat(50)}`))
  expect(stored.length).toBeLessThanOrEqual(4097)
  expect(stored.split('\n').at(-1)).toBe('…')
  expect(storedHeaders([`x: ${'a'.repeat(5000)}`, 'y: z'])).toBe('…')
})
