import { randomBytes } from 'node:crypto'
import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { sha256 } from '../../../lib/hash.ts'
import { refuse } from '../../../lib/refuse.ts'
import { open, type SecretKeys, seal } from '../../../lib/seal.ts'
import type { Person } from '../people.ts'
import { newTotpSecret, stepOfCode, totpUri } from './totp.ts'
import {
  confirmTotp,
  deleteBackupCode,
  dropTotp,
  replaceBackupCodes,
  setPendingTotp,
  useStep,
} from './two-factor.sql.ts'

export { backupCodesLeft } from './two-factor.sql.ts'

const backupCodeCount = 10

export const totpContext = (personId: string): string => `people.totp ${personId}`

/** Creates a secret, which takes effect once its first code is verified, and ten backup codes in case the phone is lost. */
export async function beginTotp(db: Db, keys: SecretKeys, person: Person) {
  const secret = newTotpSecret()
  const isPending = (await setPendingTotp(db, person.id, seal(keys, secret, totpContext(person.id)))) === 1
  if (!isPending) refuse('conflict', { message: 'An authenticator app is already set up.' })
  return { secret, uri: totpUri(secret, person.email), backupCodes: await newBackupCodes(db, person.id) }
}

export async function finishTotp(
  db: Db,
  clock: Clock,
  keys: SecretKeys,
  person: Person,
  code: string,
): Promise<boolean> {
  if (person.totp_confirmed_at) refuse('conflict', { message: 'An authenticator app is already set up.' })
  if (!person.totp_sealed) refuse('conflict', { message: 'Start the setup again.' })
  const step = stepOfCode(secretOf(keys, person.id, person.totp_sealed), code, clock.now(), null)
  if (step === null) return false
  const isConfirmed = (await confirmTotp(db, person.id, person.totp_sealed, clock.now(), step)) === 1
  if (!isConfirmed) refuse('conflict', { message: 'The setup was started again in another window. Start again.' })
  return true
}

export const endTotp = async (db: Db, personId: string): Promise<void> => {
  await dropTotp(db, personId)
  await replaceBackupCodes(db, personId, [])
}

/** Returns true if the code is correct. Each code works only once. */
export async function useTotpCode(
  db: Db,
  clock: Clock,
  keys: SecretKeys,
  person: Person,
  code: string,
): Promise<boolean> {
  if (!person.totp_sealed || !person.totp_confirmed_at) return false
  const secret = secretOf(keys, person.id, person.totp_sealed)
  const step = stepOfCode(secret, code, clock.now(), person.totp_last_step)
  // Of two concurrent requests with the same code, only one succeeds.
  return step !== null && (await useStep(db, person.id, step)) === 1
}

/** Without the encryption key, no code can be checked. The message names the other ways to sign in and the fix. */
function secretOf(keys: SecretKeys, personId: string, sealed: string): string {
  try {
    return open(keys, sealed, totpContext(personId))
  } catch {
    return refuse('service_unavailable', {
      message:
        'Authenticator codes cannot be checked: the key that encrypted the secret is missing from PARLEY_SECRET_KEYS. ' +
        'Use a backup code or a passkey, or ask the operator of this installation to restore the key.',
    })
  }
}

export const useBackupCode = (db: Db, personId: string, code: string): Promise<boolean> =>
  deleteBackupCode(db, personId, digestOf(personId, code))

/** Creates ten codes, which replace the older ones. They are shown only once. */
export async function newBackupCodes(db: Db, personId: string): Promise<string[]> {
  const codes = Array.from({ length: backupCodeCount }, () => {
    const letters = Array.from(randomBytes(10), (byte) => letterOf(byte)).join('')
    return `${letters.slice(0, 5)}-${letters.slice(5)}`
  })
  const digests = codes.map((code) => digestOf(personId, code))
  await replaceBackupCodes(db, personId, digests)
  return codes
}

/** Without i, l, o and u, which are easy to misread on paper. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const letterOf = (byte: number): string => alphabet.charAt(byte % alphabet.length)

/** A code has 50 random bits and is hashed together with the person's ID. */
const digestOf = (personId: string, code: string): Buffer => sha256(`${personId} ${plain(code)}`)

const plain = (code: string): string =>
  code
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
    .replaceAll('o', '0')
    .replaceAll(/[il]/g, '1')
