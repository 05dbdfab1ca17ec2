/** The image type by magic bytes, not by the claimed content type; null for anything that is not previewed. */
export function imageTypeOf(bytes: Uint8Array): string | null {
  const hasBytes = (at: number, ...expected: number[]) => expected.every((byte, index) => bytes[at + index] === byte)
  if (hasBytes(0, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return 'image/png'
  if (hasBytes(0, 0xff, 0xd8, 0xff)) return 'image/jpeg'
  if (hasBytes(0, 0x47, 0x49, 0x46, 0x38)) return 'image/gif'
  if (hasBytes(0, 0x52, 0x49, 0x46, 0x46) && hasBytes(8, 0x57, 0x45, 0x42, 0x50)) return 'image/webp'
  return null
}
