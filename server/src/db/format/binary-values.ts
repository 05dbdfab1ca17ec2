/** Writes times and UUIDs in PostgreSQL's binary format, for COPY and for array parameters. */
const epochMs = Date.UTC(2000, 0, 1)

/** Writes eight bytes. */
export function writeTime(bytes: Buffer, value: Date, at: number): void {
  // Microseconds since 2000 as a 64-bit integer, written in two halves. A BigInt would cost more than all the rest.
  const us = (value.getTime() - epochMs) * 1000
  const high = Math.floor(us / 2 ** 32)
  bytes.writeInt32BE(high, at)
  bytes.writeUInt32BE(us - high * 2 ** 32, at + 4)
}

/** Writes sixteen bytes. Unrolled and with lookup tables, because every row of the request log has three UUIDs. */
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

/** The value of a hex digit as the high and as the low half of a byte, by character code. */
const high = new Uint8Array(128)
const low = new Uint8Array(128)
for (const [value, digit] of Array.from('0123456789abcdef').entries()) {
  high[digit.charCodeAt(0)] = value << 4
  low[digit.charCodeAt(0)] = value
}

const byteAt = (value: string, at: number): number =>
  (high[value.charCodeAt(at)] as number) | (low[value.charCodeAt(at + 1)] as number)
