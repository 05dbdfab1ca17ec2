import { expect, test } from 'vitest'
import { Cookies } from './cookies.ts'

test('over https a session cookie is bound to the host, and never readable by scripts or sent by other sites', () => {
  const cookies = new Cookies('https://parley.example')
  expect(cookies.write('session', 'abc')).toMatch(
    /^__Host-parley-session=abc; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+; Secure$/,
  )
  expect(cookies.read('parley-session=other; __Host-parley-session=abc', 'session')).toBe('abc')
  // Another host of the same domain, or a page over plain http, can set only this one.
  expect(cookies.read('parley-session=abc', 'session')).toBeUndefined()
})
