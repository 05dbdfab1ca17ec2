import { createCipheriv, createHash, createHmac, randomBytes, randomUUID } from 'node:crypto'
import type { Json } from '../json.ts'
import { encryptedFileUrl, encryptedType, storeMedia } from '../network/media.ts'
import type { Network } from '../network.ts'
import type { PhoneNumber } from '../world.ts'
import { encryptedFileTtlMs, type PhoneFile } from './files.ts'

/**
 * Stores a file like a form with a data endpoint does: encrypted on the file host, where it can be downloaded without a
 * token, with the keys in the form response. `sha256` overrides the reported digest of the plaintext.
 */
export function storeEncryptedFile(
  network: Network,
  number: PhoneNumber,
  file: PhoneFile,
  sha256: string | undefined,
): Json {
  const [key, hmacKey, iv] = [randomBytes(32), randomBytes(32), randomBytes(16)]
  const cipher = createCipheriv('aes-256-cbc', key, iv)
  const ciphertext = Buffer.concat([cipher.update(file.bytes), cipher.final()])
  const mac = createHmac('sha256', hmacKey).update(iv).update(ciphertext).digest().subarray(0, 10)
  const bytes = Buffer.concat([ciphertext, mac])
  const media = storeMedia(network, number, {
    bytes,
    mimeType: encryptedType,
    filename: null,
    ttlMs: encryptedFileTtlMs,
  })
  return {
    media_id: randomUUID(),
    cdn_url: encryptedFileUrl(network, media.id),
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
