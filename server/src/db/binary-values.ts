/** Ids and times as PostgreSQL has them in binary, for COPY and for arrays alike. */
const epochMs = Date.UTC(2000, 0, 1)

/** Eight bytes. */
export function writeTime(bytes: Buffer, value: Date, at: number): void {
  // Microseconds since 2000 as 64 bits, written in two halves: a BigInt for each would cost more than the rest.
  const us = (value.getTime() - epochMs) * 1000
  const high = Math.floor(us / 2 ** 32)
  bytes.writeInt32BE(high, at)
  bytes.writeUInt32BE(us - high * 2 ** 32, at + 4)
}

/** Sixteen bytes. */
export function writeUuid(bytes: Buffer, value: string, at: number): void {
  for (let index = 0; index < 16; index++) {
    const digit = uuidDigits[index] as number
    bytes[at + index] = (nibble(value.charCodeAt(digit)) << 4) | nibble(value.charCodeAt(digit + 1))
  }
}

/** Where each byte's two digits begin in a UUID as text. */
const uuidDigits = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]
/** '0'–'9' are 48–57, 'a'–'f' 97–102. */
const nibble = (code: number): number => (code < 58 ? code - 48 : code - 87)
