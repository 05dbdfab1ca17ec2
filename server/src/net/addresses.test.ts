import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type AddressRange, canonicalAddress, isWithin, readRange } from './addresses.ts'

fc.configureGlobal({ seed: 20_261_115 })

/** An independent model: an address is its family and its bits. */
interface Model {
  text: string
  v4: boolean
  bits: string
}

const toBits = (bytes: Iterable<number>) => [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
const byte = fc.oneof(fc.constantFrom(0, 1, 127, 128, 255), fc.nat(255))
const bytes = (length: number) => fc.array(byte, { minLength: length, maxLength: length })
const dotted = (four: readonly number[]) => four.join('.')
const groups = (all: readonly number[]) =>
  Array.from({ length: all.length / 2 }, (_, at) => (((all[2 * at] ?? 0) << 8) | (all[2 * at + 1] ?? 0)).toString(16))

const ipv4: fc.Arbitrary<Model> = bytes(4).map((four) => ({ text: dotted(four), v4: true, bits: toBits(four) }))

const mapped: fc.Arbitrary<Model> = fc.tuple(bytes(4), fc.nat(3)).map(([four, style]) => ({
  text: [
    `::ffff:${dotted(four)}`,
    `::FFFF:${groups(four).join(':')}`,
    `0:0:0:0:0:ffff:${groups(four).join(':')}`,
    `0000:0000:0000:0000:0000:FFFF:${dotted(four)}`,
  ][style] as string,
  v4: true,
  bits: toBits(four),
}))

const ipv6: fc.Arbitrary<Model> = fc
  .tuple(
    fc.oneof(
      bytes(16),
      bytes(4).map((four) => [...Array<number>(12).fill(0), ...four]),
      bytes(2).map((two) => [0x20, 0x01, 0x0d, 0xb8, ...Array<number>(10).fill(0), ...two]),
    ),
    fc.nat(3),
  )
  .filter(([all]) => !toBits(all).startsWith(`${'0'.repeat(80)}${'1'.repeat(16)}`))
  .map(([all, style]) => ({ text: writeIpv6(all, style), v4: false, bits: toBits(all) }))

function writeIpv6(all: readonly number[], style: number): string {
  const eight = groups(all)
  if (style === 0) return eight.join(':')
  if (style === 1) return eight.map((group) => group.toUpperCase().padStart(4, '0')).join(':')
  if (style === 2) return `${eight.slice(0, 6).join(':')}:${dotted(all.slice(12))}`
  const zeros = /(?:^|:)0(?::0)+(?=:|$)/.exec(eight.join(':'))
  if (!zeros) return eight.join(':')
  const text = eight.join(':')
  return `${text.slice(0, zeros.index)}::${text.slice(zeros.index + zeros[0].length).replace(/^:/, '')}`
}

const address = fc.oneof(ipv4, mapped, ipv6)

/** A range that contains an address: a prefix of its bits, the rest zero, written as IPv4, IPv4-mapped or IPv6. */
const range = fc.tuple(fc.oneof(ipv4, ipv6), fc.nat(128), fc.boolean()).map(([{ v4, bits }, length, asMapped]) => {
  const prefix = v4 ? length % 33 : length
  const network = bits.slice(0, prefix).padEnd(bits.length, '0')
  const all = network.match(/.{8}/g)?.map((each) => Number.parseInt(each, 2)) ?? []
  const text = v4
    ? asMapped
      ? `::ffff:${dotted(all)}/${prefix + 96}`
      : `${dotted(all)}/${prefix}`
    : `${writeIpv6(all, 0)}/${prefix}`
  return { text, v4, network, prefix }
})

const contains = (r: { v4: boolean; network: string; prefix: number }, a: Model) =>
  r.v4 === a.v4 && r.network.slice(0, r.prefix) === a.bits.slice(0, r.prefix)

test('isWithin agrees with the model for every spelling of address and range', () => {
  fc.assert(
    fc.property(address, range, fc.boolean(), (given, around, near) => {
      // In half of the runs the address is moved into the range; otherwise matches would be rare.
      const inside = near && given.v4 === around.v4
      const bits = inside ? around.network.slice(0, around.prefix) + given.bits.slice(around.prefix) : given.bits
      const all = bits.match(/.{8}/g)?.map((each) => Number.parseInt(each, 2)) ?? []
      const model = { v4: given.v4, bits, text: inside ? (given.v4 ? dotted(all) : writeIpv6(all, 3)) : given.text }
      const mappedAfterAll = !model.v4 && bits.startsWith(`${'0'.repeat(80)}${'1'.repeat(16)}`)
      fc.pre(!mappedAfterAll)
      const read = readRange(around.text) as AddressRange
      expect(read, around.text).not.toHaveProperty('fault')
      expect(isWithin(model.text, [read]), `${model.text} in ${around.text}`).toBe(contains(around, model))
    }),
    { numRuns: 1500 },
  )
})

test('the obsolete form ::1.2.3.4 is an IPv6 address, not IPv4', () => {
  expect(isWithin('::10.0.0.1', [readRange('10.0.0.0/8') as AddressRange])).toBe(false)
  expect(isWithin('::10.0.0.1', [readRange('::/96') as AddressRange])).toBe(true)
  expect(canonicalAddress('::10.0.0.1')).toBe('::a00:1')
})

test('every spelling of an address has the same canonical form', () => {
  fc.assert(
    fc.property(address, ({ text, v4, bits }) => {
      const canonical = canonicalAddress(text) as string
      expect(canonical.includes(':')).toBe(!v4)
      expect(canonicalAddress(canonical)).toBe(canonical)
      const same = readRange(`${canonical}/${v4 ? 32 : 128}`) as AddressRange
      expect(toBits(same.base.toByteArray())).toBe(bits)
    }),
    { numRuns: 800 },
  )
})

test('a range with host bits set is rejected', () => {
  fc.assert(
    fc.property(range, fc.nat(127), ({ v4, network, prefix }, at) => {
      fc.pre(at >= prefix && at < network.length)
      const bits = `${network.slice(0, at)}1${network.slice(at + 1)}`
      const all = bits.match(/.{8}/g)?.map((each) => Number.parseInt(each, 2)) ?? []
      fc.pre(v4 || !bits.startsWith(`${'0'.repeat(80)}${'1'.repeat(16)}`))
      const read = readRange(`${v4 ? dotted(all) : writeIpv6(all, 0)}/${prefix}`)
      expect(read).toHaveProperty('fault', expect.stringContaining(`beyond /${prefix}`))
    }),
  )
})

test.each([
  '',
  ' ',
  '1.2.3',
  '1.2.3.4.5',
  '1.2.3.256',
  '01.2.3.4',
  '0x7f.0.0.1',
  '127.1',
  '2130706433',
  '①②⑦.0.0.1',
  '1.2.3.4/33',
  '1.2.3.4/-1',
  '1.2.3.4/+8',
  '1.2.3.4/8/8',
  '1.2.3.4/',
  '1.2.3.4/1e1',
  '1.2.3.4/ 8',
  '::1/129',
  ':::',
  '1::2::3',
  '12345::',
  'fe80::1%eth0',
  'fe80::%1/64',
  '::ffff:1.2.3.4/24',
  '::ffff:0:0/95',
  'localhost',
  '*',
])('readRange rejects %j', (text) => {
  expect(readRange(text)).toHaveProperty('fault')
})
