/**
 * Amounts of money as decimal strings: exact, and independent of how many decimals a currency has. Sums use integers of
 * the smallest decimal place, never floating point.
 */
export type Decimal = string

const pattern = /^\d{1,15}(\.\d{1,10})?$/

/** A JSON number becomes the shortest decimal text of the same number, without an exponent. Null for any other value. */
export function readDecimal(value: unknown): Decimal | null {
  const text = typeof value === 'number' ? withoutExponent(value) : value
  return typeof text === 'string' && pattern.test(text) ? text : null
}

/** JavaScript writes 0.0000001 as 1e-7. */
function withoutExponent(value: number): string {
  const text = String(value)
  return text.includes('e-') ? value.toFixed(10).replace(/0+$/, '') : text
}

export function addDecimals(left: Decimal, right: Decimal): Decimal {
  const places = Math.max(placesOf(left), placesOf(right))
  return fromUnits(toUnits(left, places) + toUnits(right, places), places)
}

export function timesDecimal(amount: Decimal, count: number): Decimal {
  const places = placesOf(amount)
  return fromUnits(toUnits(amount, places) * BigInt(count), places)
}

const placesOf = (amount: Decimal): number => amount.split('.')[1]?.length ?? 0

function toUnits(amount: Decimal, places: number): bigint {
  const [whole = '', decimals = ''] = amount.split('.')
  return BigInt(whole + decimals.padEnd(places, '0'))
}

function fromUnits(units: bigint, places: number): Decimal {
  const digits = units.toString().padStart(places + 1, '0')
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`
}
