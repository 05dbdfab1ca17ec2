import { createDecipheriv, createHash, createHmac } from 'node:crypto'
import { Transform } from 'node:stream'
import { sameBytes } from '../../lib/hash.ts'
import { BadFile } from './media.ts'

/** An encrypted file on WhatsApp's file host, and its keys in base64. */
export interface SealedFile {
  url: string
  iv: string
  key: string
  hmacKey: string
  /** Of the encrypted bytes, in hex. */
  sha256: string | null
}

const macLength = 10

/**
 * Decrypts a file as a stream: AES-256-CBC, followed by the first ten bytes of an HMAC-SHA256 over the IV and the
 * ciphertext. The decrypted bytes are passed on before the HMAC is checked, so they are valid only if the stream ends
 * without an error.
 */
export function openSealed(file: Pick<SealedFile, 'iv' | 'key' | 'hmacKey' | 'sha256'>): Transform {
  const iv = Buffer.from(file.iv, 'base64')
  const decipher = createDecipheriv('aes-256-cbc', Buffer.from(file.key, 'base64'), iv)
  const mac = createHmac('sha256', Buffer.from(file.hmacKey, 'base64')).update(iv)
  const hash = createHash('sha256')
  let tail: Buffer = Buffer.alloc(0)
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      const bytes = Buffer.concat([tail, chunk])
      const end = Math.max(0, bytes.length - macLength)
      tail = bytes.subarray(end)
      mac.update(bytes.subarray(0, end))
      done(null, decipher.update(bytes.subarray(0, end)))
    },
    flush(done) {
      const isHashValid = file.sha256 === null || hash.digest('hex') === file.sha256
      if (!isHashValid || !sameBytes(tail, mac.digest().subarray(0, macLength))) return done(new BadFile('wrong_hash'))
      try {
        done(null, decipher.final())
      } catch {
        done(new BadFile('wrong_hash'))
      }
    },
  })
}
