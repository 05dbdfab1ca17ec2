import { createHash, timingSafeEqual } from 'node:crypto'

export const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest()

/** Compares in constant time. */
export function sameBytes(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right)
}
