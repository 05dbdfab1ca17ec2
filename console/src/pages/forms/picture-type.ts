/** What kind of picture bytes really are, by how they begin; null for everything that is not shown. */
export function pictureTypeOf(bytes: Uint8Array): string | null {
  const begins = (at: number, ...wanted: number[]) => wanted.every((byte, index) => bytes[at + index] === byte)
  if (begins(0, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return 'image/png'
  if (begins(0, 0xff, 0xd8, 0xff)) return 'image/jpeg'
  if (begins(0, 0x47, 0x49, 0x46, 0x38)) return 'image/gif'
  if (begins(0, 0x52, 0x49, 0x46, 0x46) && begins(8, 0x57, 0x45, 0x42, 0x50)) return 'image/webp'
  return null
}
