/**
 * WhatsApp's ID of a message, `wamid.` and base64, contains the number or the user ID of the person: as text after its length, or,
 * until 2022, with two digits in each byte. See `simulator/src/ids.ts`.
 */

/** The bytes that a decoded ID contains if it is of one of these people. */
export const bytesInIds = (personIds: readonly string[]): Buffer[] =>
  personIds.flatMap((id) => {
    const asText = Buffer.concat([Buffer.from([id.length]), Buffer.from(id)])
    if (!/^\d+$/.test(id)) return [asText]
    const digits = id.length % 2 === 0 ? id : `${id}f`
    return [asText, Buffer.from(`${(0x80 | (digits.length / 2)).toString(16)}${digits}`, 'hex')]
  })

/** The beginning of such an ID, to find it in a longer text. Others may begin with it too, so decode what is found. */
export const idBeginning = (personId: string): string => {
  const bytes = Buffer.from(`\x1c\x18${String.fromCharCode(personId.length)}${personId}`)
  return `wamid.${bytes.toString('base64').slice(0, Math.floor((bytes.length * 8) / 6))}`
}

export function isInId(waMessageId: unknown, personIds: readonly string[]): boolean {
  const [, base64] = /^wamid\.(.+)$/.exec(String(waMessageId)) ?? []
  if (base64 === undefined) return false
  const bytes = Buffer.from(base64, 'base64')
  return bytesInIds(personIds).some((each) => bytes.includes(each))
}
