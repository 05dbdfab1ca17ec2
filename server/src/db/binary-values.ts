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

/** Sixteen bytes. Written out, and with tables: three of them are in every row of the request log. */
export function writeUuid(bytes: Buffer, value: string, at: number): void {
  bytes[at] = byteAt(value, 0)
  bytes[at + 1] = byteAt(value, 2)
  bytes[at + 2] = byteAt(value, 4)
  bytes[at + 3] = byteAt(value, 6)
  bytes[at + 4] = byteAt(value, 9)
  bytes[at + 5] = byteAt(value, 11)
  bytes[at + 6] = byteAt(value, 14)
  bytes[at + 7] = byteAt(value, 16)
  bytes[at + 8] = byteAt(value, 19)
  bytes[at + 9] = byteAt(value, 21)
  bytes[at + 10] = byteAt(value, 24)
  bytes[at + 11] = byteAt(value, 26)
  bytes[at + 12] = byteAt(value, 28)
  bytes[at + 13] = byteAt(value, 30)
  bytes[at + 14] = byteAt(value, 32)
  bytes[at + 15] = byteAt(value, 34)
}

/** What a digit is worth as the first of two, and as the second, by its letter. */
const high = new Uint8Array(128)
const low = new Uint8Array(128)
for (const [worth, digit] of Array.from('0123456789abcdef').entries()) {
  high[digit.charCodeAt(0)] = worth << 4
  low[digit.charCodeAt(0)] = worth
}

const byteAt = (value: string, at: number): number =>
  (high[value.charCodeAt(at)] as number) | (low[value.charCodeAt(at + 1)] as number)
