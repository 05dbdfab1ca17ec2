import { writeTime, writeUuid } from './binary-values.ts'

/**
 * Arrays as parameters, in PostgreSQL's binary format: neither side writes or reads text for them, which costs more than
 * the rows themselves where a batch has hundreds. `pg` sends a Buffer as it is and says that it is binary.
 */
const oids = {
  bool: 16,
  bytea: 17,
  int2: 21,
  int4: 23,
  text: 25,
  json: 114,
  float8: 701,
  timestamptz: 1184,
  uuid: 2950,
}

const headBytes = 20

/** A buffer with room for so many values of so many bytes at most, and the array's head written. */
function begin(oid: number, count: number, valueBytes: number): Buffer {
  // Each value has its length before it.
  const bytes = Buffer.allocUnsafe(headBytes + count * 4 + valueBytes)
  bytes.writeInt32BE(1, 0)
  // Whether nulls are among them; PostgreSQL finds out by itself.
  bytes.writeInt32BE(0, 4)
  bytes.writeInt32BE(oid, 8)
  bytes.writeInt32BE(count, 12)
  bytes.writeInt32BE(1, 16)
  return bytes
}

/** Values that all have the same size. */
function fixed<Value>(
  oid: number,
  size: number,
  values: readonly (Value | null)[],
  write: (bytes: Buffer, value: Value, at: number) => void,
): Buffer {
  const bytes = begin(oid, values.length, values.length * size)
  let at = headBytes
  for (const value of values) {
    bytes.writeInt32BE(value === null ? -1 : size, at)
    at += 4
    if (value === null) continue
    write(bytes, value, at)
    at += size
  }
  return at === bytes.length ? bytes : bytes.subarray(0, at)
}

export const uuids = (values: readonly (string | null)[]): Buffer => fixed(oids.uuid, 16, values, writeSoundUuid)

export const times = (values: readonly (Date | null)[]): Buffer => fixed(oids.timestamptz, 8, values, writeSoundTime)

export const ints = (values: readonly (number | null)[]): Buffer =>
  fixed(oids.int4, 4, values, (bytes, value: number, at) => bytes.writeInt32BE(value, at))

export const smallInts = (values: readonly (number | null)[]): Buffer =>
  fixed(oids.int2, 2, values, (bytes, value: number, at) => bytes.writeInt16BE(value, at))

export const floats = (values: readonly (number | null)[]): Buffer =>
  fixed(oids.float8, 8, values, (bytes, value: number, at) => bytes.writeDoubleBE(value, at))

export const bools = (values: readonly (boolean | null)[]): Buffer =>
  fixed(oids.bool, 1, values, (bytes, value: boolean, at) => bytes.writeUInt8(value ? 1 : 0, at))

export const texts = (values: readonly (string | null)[]): Buffer => strings(oids.text, values)

/** Written as JSON here. */
export const jsons = (values: readonly (object | null)[]): Buffer =>
  strings(
    oids.json,
    values.map((value) => (value === null ? null : JSON.stringify(value))),
  )

function strings(oid: number, values: readonly (string | null)[]): Buffer {
  let letters = 0
  for (const value of values) letters += value?.length ?? 0
  // A letter takes three bytes at most.
  const bytes = begin(oid, values.length, letters * 3)
  let at = headBytes
  for (const value of values) {
    const length = value === null ? -1 : bytes.write(value, at + 4, 'utf8')
    bytes.writeInt32BE(length, at)
    at += 4 + Math.max(0, length)
  }
  return bytes.subarray(0, at)
}

export function byteStrings(values: readonly (Buffer | null)[]): Buffer {
  let size = 0
  for (const value of values) size += value?.length ?? 0
  const bytes = begin(oids.bytea, values.length, size)
  let at = headBytes
  for (const value of values) {
    bytes.writeInt32BE(value?.length ?? -1, at)
    at += 4
    if (value !== null) at += value.copy(bytes, at)
  }
  return bytes
}

function writeSoundTime(bytes: Buffer, value: Date, at: number): void {
  if (Number.isNaN(value.getTime())) throw new RangeError('a time that is none')
  writeTime(bytes, value, at)
}

function writeSoundUuid(bytes: Buffer, value: string, at: number): void {
  if (value.length !== 36) throw new RangeError('an id that is none')
  writeUuid(bytes, value, at)
}
