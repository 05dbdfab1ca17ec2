import { expect, test } from 'vitest'
import { passkeyObstacle } from './passkey.ts'

test.each([
  ['https', 'https://parley.example', 'https://parley.example', null, null],
  ['localhost', 'http://localhost:8080', 'http://localhost:8080', null, null],
  ['a name below localhost', 'http://parley.localhost', 'http://parley.localhost', null, null],
  ['an IP address', 'http://127.0.0.1:8080', 'http://127.0.0.1:8080', /such as http:\/\/localhost:8080/, null],
  ['an IPv6 address', 'http://[::1]:8080', 'http://[::1]:8080', /host name/, null],
  ['http', 'http://parley.example', 'http://parley.example', /HTTPS/, null],
  // Its address would not help either.
  ['http under another name', 'http://parley.example', 'http://10.0.0.1', /HTTPS/, null],
  ['another address', 'http://localhost:8080', 'http://127.0.0.1:8080', /another address/, 'http://localhost:8080'],
])('passkeys: %s', (_name, publicUrl, origin, reason, url) => {
  const obstacle = passkeyObstacle(publicUrl, { origin, isSupported: true })
  if (reason === null) expect(obstacle).toBeNull()
  else expect(obstacle).toEqual({ reason: expect.stringMatching(reason), url })
})

test('passkeys: a browser without support', () => {
  const here = 'https://parley.example'
  expect(passkeyObstacle(here, { origin: here, isSupported: false })?.reason).toMatch(/does not support/)
})
