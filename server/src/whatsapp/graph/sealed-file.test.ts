import { createCipheriv, createHash, createHmac, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { readForm } from '../incoming/form.ts'
import { openSealed } from './sealed-file.ts'

function sealed(plain: Buffer) {
  const [key, hmacKey, iv] = [randomBytes(32), randomBytes(32), randomBytes(16)]
  const cipher = createCipheriv('aes-256-cbc', key, iv)
  const text = Buffer.concat([cipher.update(plain), cipher.final()])
  const mac = createHmac('sha256', hmacKey)
    .update(Buffer.concat([iv, text]))
    .digest()
    .subarray(0, 10)
  const bytes = Buffer.concat([text, mac])
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const base64 = { key: key.toString('base64'), hmacKey: hmacKey.toString('base64'), iv: iv.toString('base64') }
  return { bytes, keys: { ...base64, sha256 } }
}

/** A stream of chunks of the given size. */
function inChunks(bytes: Buffer, size: number): Readable {
  const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
    bytes.subarray(n * size, (n + 1) * size),
  )
  return Readable.from(chunks)
}

/** Decrypts the bytes, sent in chunks of the given size. */
const opened = (bytes: Buffer, keys: Parameters<typeof openSealed>[0], size = 1000) => {
  const opening = openSealed(keys)
  inChunks(bytes, size).pipe(opening)
  return buffer(opening)
}

test.each([0, 1, 15, 16, 17, 100_000])('a file of %i bytes is decrypted, whatever the chunk size', async (length) => {
  const plain = randomBytes(length)
  const { bytes, keys } = sealed(plain)
  for (const size of [1, 7, 10, 16, 1_001, 65_536]) {
    if (length > 1000 && size < 1000) continue
    expect((await opened(bytes, keys, size)).equals(plain), `chunks of ${size}`).toBe(true)
  }
})

test('a file that was modified, truncated or encrypted with other keys fails', async () => {
  const { bytes, keys } = sealed(randomBytes(1000))
  const unhashed = { ...keys, sha256: null }
  const tampered = Buffer.from(bytes)
  tampered[500] = (tampered[500] as number) ^ 1
  const other = sealed(Buffer.from('x')).keys
  await expect(opened(tampered, keys)).rejects.toThrow('The hash of the file is wrong.')
  await expect(opened(tampered, unhashed)).rejects.toThrow('The hash of the file is wrong.')
  await expect(opened(bytes.subarray(0, -1), unhashed)).rejects.toThrow('The hash of the file is wrong.')
  await expect(opened(Buffer.from('short'), unhashed)).rejects.toThrow('The hash of the file is wrong.')
  await expect(opened(bytes, { ...unhashed, hmacKey: other.hmacKey })).rejects.toThrow('The hash of the file is wrong.')
  expect((await opened(bytes, unhashed)).length).toBe(1000)
})

test('an encrypted file of a form is parsed with its keys, which are removed from the values', () => {
  const { keys } = sealed(Buffer.from('x'))
  const metadata = {
    encrypted_hash: Buffer.from(keys.sha256, 'hex').toString('base64'),
    iv: keys.iv,
    encryption_key: keys.key,
    hmac_key: keys.hmacKey,
    plaintext_hash: 'PqHgadp8cJ/N6mvAYGNMxhs9Ra5hbZFcctCtCClXsMU=',
  }
  const photo = {
    media_id: 'm1',
    cdn_url: 'https://mmg.whatsapp.net/v/1',
    file_name: 'IMG.JPG',
    encryption_metadata: metadata,
  }
  const form = readForm({ response_json: JSON.stringify({ photos: [photo], a: { b: [photo] } }) })
  const left = { media_id: 'm1', file_name: 'IMG.JPG' }
  expect(form?.response).toEqual({ photos: [left], a: { b: [left] } })
  expect(form?.files).toMatchObject([
    {
      field: 'photos',
      index: 0,
      mime_type: 'image/jpeg',
      sha256: metadata.plaintext_hash,
      sealed: { url: photo.cdn_url, iv: keys.iv, key: keys.key, hmacKey: keys.hmacKey, sha256: keys.sha256 },
    },
    { field: 'a.b', index: 1 },
  ])
  // Outside of a list it is not a file picker's value, but its keys are removed as well.
  expect(readForm({ response_json: JSON.stringify({ one: photo }) })?.response).toEqual({ one: left })
  const broken = { ...photo, encryption_metadata: { ...metadata, iv: 'AAAA' } }
  const unread = readForm({ response_json: JSON.stringify({ photos: [broken] }) })
  expect([unread?.files, unread?.response]).toEqual([[], { photos: [left] }])
})

test('an encrypted file in a list of groups is found too, and none of its keys stays in the values', () => {
  const { keys } = sealed(Buffer.from('x'))
  const metadata = { iv: keys.iv, encryption_key: keys.key, hmac_key: keys.hmacKey }
  const photo = { cdn_url: 'https://mmg.whatsapp.net/v/1', file_name: 'a.jpg', encryption_metadata: metadata }
  const values = { children: [{ name: 'A', photos: [photo] }, [photo], { photo }] }
  const form = readForm({ response_json: JSON.stringify(values) })
  const left = { file_name: 'a.jpg' }
  expect(form?.response).toEqual({ children: [{ name: 'A', photos: [left] }, [left], { photo: left }] })
  expect(form?.files.map(({ field, index }) => [field, index])).toEqual([
    ['children.photos', 0],
    ['children', 1],
  ])
})
