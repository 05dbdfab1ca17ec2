/**
 * The key of an object: the first half of its ID, which has its time and a counter. It takes half of the space. In rare cases two
 * objects have the same one, so a search looks at the objects that it finds. As text, because it is too large for a number.
 */
export const keyOf = (id: string): string =>
  BigInt.asIntN(64, BigInt(`0x${id.slice(0, 8)}${id.slice(9, 13)}${id.slice(14, 18)}`)).toString()

/** The lowest and the highest ID with this key. */
export function idsWithKey(key: string): { first: string; last: string } {
  const hex = BigInt.asUintN(64, BigInt(key)).toString(16).padStart(16, '0')
  const begin = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12)}`
  return { first: `${begin}-0000-000000000000`, last: `${begin}-ffff-ffffffffffff` }
}

/** When an object with this key was created. */
export const timeOfKey = (key: string): Date => new Date(Number(BigInt(key) >> 16n))
