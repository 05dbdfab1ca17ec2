import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** The keys that encrypt stored secrets, by ID. The first one encrypts, all of them decrypt. */
export type SecretKeys = ReadonlyMap<string, Buffer>

const ivLength = 12
const tagLength = 16

/**
 * Encrypts a secret with AES-256-GCM as `<key ID>:<base64 of iv, tag, ciphertext>`. `place` names what the secret
 * belongs to, for example a table and a row ID. It is authenticated too, so a value that was copied to another row
 * cannot be decrypted.
 */
export function seal(keys: SecretKeys, secret: string, place: string): string {
  const [first] = keys
  if (!first) throw new Error('no secret key is configured')
  const [id, key] = first
  const iv = randomBytes(ivLength)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(place))
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
  return `${id}:${Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64')}`
}

export const keyIdOf = (sealed: string): string => sealed.slice(0, sealed.indexOf(':'))

export function open(keys: SecretKeys, sealed: string, place: string): string {
  const id = keyIdOf(sealed)
  const key = keys.get(id)
  if (!key)
    throw new Error(`no secret key has the ID "${id}"; PARLEY_SECRET_KEYS must contain every key that is still in use`)
  const bytes = Buffer.from(sealed.slice(id.length + 1), 'base64')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivLength))
    .setAAD(Buffer.from(place))
    .setAuthTag(bytes.subarray(ivLength, ivLength + tagLength))
  return Buffer.concat([decipher.update(bytes.subarray(ivLength + tagLength)), decipher.final()]).toString('utf8')
}
