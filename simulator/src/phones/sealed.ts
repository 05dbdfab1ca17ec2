import { createCipheriv, createHash, createHmac, randomBytes, randomUUID } from 'node:crypto'
import type { Json } from '../json.ts'
import { sealedType, sealedUrl, storeMedia } from '../network/media.ts'
import type { Network } from '../network.ts'
import type { PhoneNumber } from '../world.ts'
import { type PhoneFile, sealedLivesMs } from './files.ts'

/**
 * Puts a file on the file host the way a form that exchanges data with an endpoint does: enciphered, for anybody to fetch
 * and nobody to read, with the keys in the answer. `sha256` is the digest it claims for what is inside.
 */
export function sealFile(network: Network, number: PhoneNumber, file: PhoneFile, sha256: string | undefined): Json {
  const [key, hmacKey, iv] = [randomBytes(32), randomBytes(32), randomBytes(16)]
  const cipher = createCipheriv('aes-256-cbc', key, iv)
  const ciphertext = Buffer.concat([cipher.update(file.bytes), cipher.final()])
  const mac = createHmac('sha256', hmacKey).update(iv).update(ciphertext).digest().subarray(0, 10)
  const bytes = Buffer.concat([ciphertext, mac])
  const media = storeMedia(network, number, { bytes, mimeType: sealedType, filename: null, livesMs: sealedLivesMs })
  return {
    media_id: randomUUID(),
    cdn_url: sealedUrl(network, media.id),
    file_name: file.filename,
    encryption_metadata: {
      encrypted_hash: digest(bytes),
      iv: iv.toString('base64'),
      encryption_key: key.toString('base64'),
      hmac_key: hmacKey.toString('base64'),
      plaintext_hash: sha256 ?? digest(file.bytes),
    },
  }
}

const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('base64')
