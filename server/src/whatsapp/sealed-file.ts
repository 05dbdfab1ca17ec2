import { createDecipheriv, createHash, createHmac } from 'node:crypto'
import { Transform } from 'node:stream'
import { sameBytes } from '../lib/hash.ts'
import { BadFile } from './media.ts'

/** A file that the network's file host holds enciphered, and what opens it; bytes are in base64. */
export interface SealedFile {
  url: string
  iv: string
  key: string
  hmacKey: string
  /** Of the bytes as they lie there, in hex. */
  sha256: string | null
}

const macLength = 10

/**
 * Opens a file as it arrives: AES-256-CBC, and at its end the first ten bytes of an HMAC-SHA256 over the vector and the
 * ciphertext. The plain bytes are passed on before the whole could be checked: they count once the stream has ended well.
 */
export function openSealed(file: Pick<SealedFile, 'iv' | 'key' | 'hmacKey' | 'sha256'>): Transform {
  const iv = Buffer.from(file.iv, 'base64')
  const decipher = createDecipheriv('aes-256-cbc', Buffer.from(file.key, 'base64'), iv)
  const mac = createHmac('sha256', Buffer.from(file.hmacKey, 'base64')).update(iv)
  const hash = createHash('sha256')
  let held: Buffer = Buffer.alloc(0)
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      const bytes = Buffer.concat([held, chunk])
      const end = Math.max(0, bytes.length - macLength)
      held = bytes.subarray(end)
      mac.update(bytes.subarray(0, end))
      done(null, decipher.update(bytes.subarray(0, end)))
    },
    flush(done) {
      const isWhole = file.sha256 === null || hash.digest('hex') === file.sha256
      if (!isWhole || !sameBytes(held, mac.digest().subarray(0, macLength))) return done(new BadFile('wrong_hash'))
      try {
        done(null, decipher.final())
      } catch {
        done(new BadFile('wrong_hash'))
      }
    },
  })
}
