import { expect, test } from 'vitest'
import { safeNext } from './next.ts'

test.each([
  ['/w/acme/keys', '/w/acme/keys'],
  ['/w/acme/requests?status=4xx&open=req_1#top', '/w/acme/requests?status=4xx&open=req_1#top'],
  ['/w/acme?next=//elsewhere.example', '/w/acme?next=//elsewhere.example'],
  ['//elsewhere.example', '/'],
  ['///elsewhere.example', '/'],
  ['/\\\\elsewhere.example', '/'],
  ['/\t/elsewhere.example', '/'],
  ['/\n//elsewhere.example', '/'],
  ['/..//elsewhere.example', '/'],
  ['https://elsewhere.example/', '/'],
  ['javascript:alert(1)', '/'],
  ['w/acme', '/'],
  ['/sign-in?next=/w/acme', '/'],
  ['', '/'],
  [null, '/'],
])('safeNext(%j) is %j', (next, path) => {
  expect(safeNext(next)).toBe(path)
})
