/** Why an address or CIDR range is invalid, or null. The server validates it again. */
export function rangeProblem(text: string): string | null {
  const [address = '', bits, ...more] = text.split('/')
  if (more.length > 0) return `“${text}” has more than one “/”.`
  const octets = ipv4Of(address)
  const isIpv6 = !octets && address.includes(':') && URL.canParse(`http://[${address}]`)
  if (!octets && !isIpv6) return `“${text}” is not an IPv4 or IPv6 address.`
  if (bits === undefined) return null
  const width = octets ? 32 : 128
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > width)
    return `The prefix length of “${text}” must be a number from 0 to ${width}.`
  return octets ? hostBitsProblem(octets, Number(bits)) : null
}

/** The problem of the first invalid entry of an allowlist. */
export const rangesProblem = (ranges: readonly string[]): string | undefined =>
  ranges.map(rangeProblem).find((problem) => problem !== null) ?? undefined

/** A warning for an allowlist with every IPv4 or every IPv6 address: what it allows, and what it does not. */
export function everywhereWarning(ranges: readonly string[]): string | null {
  const everywhere = ranges.filter((range) => range.endsWith('/0'))
  const [family, ...more] = new Set(everywhere.map(familyOf))
  if (family === undefined) return null
  if (more.length > 0) return `${everywhere.join(' and ')} allow every IP address.`
  const other = family === 'IPv4' ? 'IPv6' : 'IPv4'
  const exception = ranges.some((range) => familyOf(range) === other) ? '' : `, but no ${other} address`
  return `${everywhere.join(' and ')} allows every ${family} address${exception}.`
}

const familyOf = (range: string): 'IPv4' | 'IPv6' => (range.includes(':') ? 'IPv6' : 'IPv4')

function ipv4Of(text: string): number[] | null {
  const octets = text.split('.')
  const isOne = octets.length === 4 && octets.every((octet) => /^(0|[1-9]\d{0,2})$/.test(octet) && Number(octet) < 256)
  return isOne ? octets.map(Number) : null
}

function hostBitsProblem(octets: readonly number[], bits: number): string | null {
  const first = octets.map((octet, index) => {
    const kept = Math.max(0, Math.min(8, bits - index * 8))
    return octet & (0xff << (8 - kept)) & 0xff
  })
  const range = `${first.join('.')}/${bits}`
  return first.join('.') === octets.join('.')
    ? null
    : `“${octets.join('.')}/${bits}” has host bits set. Did you mean ${range}?`
}
