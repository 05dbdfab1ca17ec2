import { writeTime, writeUuid } from './binary-values.ts'

/**
 * Writes array parameters in PostgreSQL's binary format. With hundreds of rows in a batch, the text format would cost
 * more than the rows themselves. `pg` sends a Buffer unchanged and marks it as binary.
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

const headerBytes = 20

/** Allocates a buffer for `count` values of at most `valueBytes` in total, and writes the array's header. */
function begin(oid: number, count: number, valueBytes: number): Buffer {
  // Each value is preceded by its length.
  const bytes = Buffer.allocUnsafe(headerBytes + count * 4 + valueBytes)
  bytes.writeInt32BE(1, 0)
  // The flag for nulls. PostgreSQL does not rely on it.
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
  let at = headerBytes
  for (const value of values) {
    bytes.writeInt32BE(value === null ? -1 : size, at)
    at += 4
    if (value === null) continue
    write(bytes, value, at)
    at += size
  }
  return at === bytes.length ? bytes : bytes.subarray(0, at)
}

export const uuids = (values: readonly (string | null)[]): Buffer => fixed(oids.uuid, 16, values, writeValidUuid)

export const times = (values: readonly (Date | null)[]): Buffer => fixed(oids.timestamptz, 8, values, writeValidTime)

export const ints = (values: readonly (number | null)[]): Buffer =>
  fixed(oids.int4, 4, values, (bytes, value: number, at) => bytes.writeInt32BE(value, at))

export const smallInts = (values: readonly (number | null)[]): Buffer =>
  fixed(oids.int2, 2, values, (bytes, value: number, at) => bytes.writeInt16BE(value, at))

export const floats = (values: readonly (number | null)[]): Buffer =>
  fixed(oids.float8, 8, values, (bytes, value: number, at) => bytes.writeDoubleBE(value, at))

export const bools = (values: readonly (boolean | null)[]): Buffer =>
  fixed(oids.bool, 1, values, (bytes, value: boolean, at) => bytes.writeUInt8(value ? 1 : 0, at))

export const texts = (values: readonly (string | null)[]): Buffer => strings(oids.text, values)

/** Serializes the values. */
export const jsons = (values: readonly (object | null)[]): Buffer =>
  strings(
    oids.json,
    values.map((value) => (value === null ? null : JSON.stringify(value))),
  )

function strings(oid: number, values: readonly (string | null)[]): Buffer {
  let length = 0
  for (const value of values) length += value?.length ?? 0
  // A UTF-16 code unit takes at most three bytes in UTF-8.
  const bytes = begin(oid, values.length, length * 3)
  let at = headerBytes
  for (const value of values) {
    const size = value === null ? -1 : bytes.write(value, at + 4, 'utf8')
    bytes.writeInt32BE(size, at)
    at += 4 + Math.max(0, size)
  }
  return bytes.subarray(0, at)
}

export function byteStrings(values: readonly (Buffer | null)[]): Buffer {
  let size = 0
  for (const value of values) size += value?.length ?? 0
  const bytes = begin(oids.bytea, values.length, size)
  let at = headerBytes
  for (const value of values) {
    bytes.writeInt32BE(value?.length ?? -1, at)
    at += 4
    if (value !== null) at += value.copy(bytes, at)
  }
  return bytes
}

function writeValidTime(bytes: Buffer, value: Date, at: number): void {
  if (Number.isNaN(value.getTime())) throw new RangeError('invalid time')
  writeTime(bytes, value, at)
}

function writeValidUuid(bytes: Buffer, value: string, at: number): void {
  if (value.length !== 36) throw new RangeError('invalid UUID')
  writeUuid(bytes, value, at)
}
