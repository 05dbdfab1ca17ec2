import { expect, test } from 'vitest'
import { everywhereWarning, rangeProblem } from './ranges.ts'

test.each([
  '203.0.113.7',
  '203.0.113.0/24',
  '10.0.0.0/8',
  '0.0.0.0/0',
  '192.168.4.0/22',
  '2001:db8::',
  '2001:db8::/32',
  '::1',
])('%s is a valid address or range', (text) => {
  expect(rangeProblem(text)).toBeNull()
})

test.each([
  ['203.0.113', 'not an IPv4'],
  ['203.0.113.256', 'not an IPv4'],
  ['010.0.0.1', 'not an IPv4'],
  ['example.com', 'not an IPv4'],
  ['fe80::1%eth0', 'not an IPv4'],
  ['2001:db8:::1', 'not an IPv4'],
  ['203.0.113.9/24', 'Did you mean 203.0.113.0/24?'],
  ['10.1.0.0/8', 'Did you mean 10.0.0.0/8?'],
  ['203.0.113.0/33', '0 to 32'],
  ['2001:db8::/129', '0 to 128'],
  ['203.0.113.0/', '0 to 32'],
  ['203.0.113.0/24/8', 'more than one'],
])('%s is rejected: %s', (text, reason) => {
  expect(rangeProblem(text)).toContain(reason)
})

test.each([
  [['0.0.0.0/0'], '0.0.0.0/0 allows every IPv4 address, but no IPv6 address.'],
  [['203.0.113.7', '0.0.0.0/0'], '0.0.0.0/0 allows every IPv4 address, but no IPv6 address.'],
  [['::/0'], '::/0 allows every IPv6 address, but no IPv4 address.'],
  [['0.0.0.0/0', '2001:db8::/32'], '0.0.0.0/0 allows every IPv4 address.'],
  [['0.0.0.0/0', '::/0'], '0.0.0.0/0 and ::/0 allow every IP address.'],
  [['10.0.0.0/8'], null],
  [[], null],
])('the warning for the allowlist %j is %j', (ranges, warning) => {
  expect(everywhereWarning(ranges)).toBe(warning)
})
