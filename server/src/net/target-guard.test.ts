import { afterAll, expect, test } from 'vitest'
import { type AddressRange, readRange } from './addresses.ts'
import { newOutbound } from './outbound.ts'
import { type TargetRules, targetProblem } from './target-guard.ts'

const nothingAllowed: TargetRules = { allowHttp: true, allowRanges: [] }

/** Spellings of hosts in a URL. Each is an address that deliveries must not reach. */
const hosts = [
  '127.0.0.1',
  '127.1',
  '0x7f000001',
  '2130706433',
  '017700000001',
  '①②⑦.0.0.1',
  'localhost',
  'localhost.',
  'x.localhost',
  '0.0.0.0',
  '10.0.0.1',
  '100.64.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '192.0.0.192',
  '192.168.0.1',
  '192.88.99.1',
  '198.18.0.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[::ffff:7f00:1]',
  '[::ffff:10.0.0.1]',
  '[::10.0.0.1]',
  '[::8.8.8.8]',
  '[0:0:0:0:0:0:a00:1]',
  '[::ffff:0:10.0.0.1]',
  '[64:ff9b::10.0.0.1]',
  '[64:ff9b::a00:1]',
  '[64:ff9b:1::a00:1]',
  '[100::1]',
  '[2001::1]',
  '[2001:db8::1]',
  '[2002:a00:1::1]',
  '[2002:808:808::1]',
  '[3fff::1]',
  '[5f00::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
]

const outbound = newOutbound({ ...nothingAllowed, ca: null })
afterAll(() => outbound.close())

test.each(hosts)('%s is rejected as a webhook URL, and nothing is posted to it', async (host) => {
  const url = new URL(`https://${host}/hook`)
  expect(await targetProblem(nothingAllowed, url)).toMatch(/cannot be sent to this address: .* is not a public address/)
  expect(await outbound.post(url, [], Buffer.from('{}'))).toMatchObject({
    fault: 'blocked',
    status: null,
    address: null,
  })
})

test.each(['8.8.8.8', '[2606:4700:4700::1111]', '[2001:4860:4860::8888]'])(
  '%s is accepted as a webhook URL',
  async (host) => {
    expect(await targetProblem(nothingAllowed, new URL(`https://${host}/`))).toBeUndefined()
  },
)

test('an allowed range includes its addresses, but no IPv6 address that embeds one of them', async () => {
  const rules = { ...nothingAllowed, allowRanges: [readRange('10.0.0.0/8') as AddressRange] }
  const problemOf = (host: string) => targetProblem(rules, new URL(`https://${host}/`))
  expect(await problemOf('10.1.2.3')).toBeUndefined()
  expect(await problemOf('[::ffff:10.1.2.3]')).toBeUndefined()
  for (const host of ['[::10.1.2.3]', '[0::10.1.2.3]', '[64:ff9b::10.1.2.3]', '[2002:a01:203::1]']) {
    expect(await problemOf(host), host).toMatch(/cannot be sent to this address/)
  }
})

test('a host name with one private address among public ones is rejected', async () => {
  const resolve = async () => [
    { address: '93.184.216.34', family: 4 },
    { address: '::10.0.0.1', family: 6 },
  ]
  expect(await targetProblem({ ...nothingAllowed, resolve }, new URL('https://two.example/'))).toContain('::10.0.0.1')
})
