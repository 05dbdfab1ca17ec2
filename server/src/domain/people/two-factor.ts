import { randomBytes } from 'node:crypto'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { sha256 } from '../../lib/hash.ts'
import { refuse } from '../../lib/refuse.ts'
import { open, type SecretKeys, seal } from '../../lib/seal.ts'
import type { Person } from './people.ts'
import { newTotpSecret, stepOfCode, totpUri } from './totp.ts'
import {
  confirmTotp,
  countBackupCodes,
  dropTotp,
  replaceBackupCodes,
  setPendingTotp,
  useBackupCode,
  useStep,
} from './two-factor.sql.ts'

const backupCodeCount = 10

export const totpContext = (personId: string): string => `people.totp ${personId}`

/** A new secret, which counts once a first code made with it has come back. Ten codes for the day the phone is lost. */
export async function beginTotp(db: Db, keys: SecretKeys, person: Person) {
  const secret = newTotpSecret()
  const isPending = (await setPendingTotp(db, person.id, seal(keys, secret, totpContext(person.id)))) === 1
  if (!isPending) refuse('conflict', { message: 'An authenticator app is set up already.' })
  return { secret, uri: totpUri(secret, person.email), backupCodes: await newBackupCodes(db, person.id) }
}

export async function finishTotp(
  db: Db,
  clock: Clock,
  keys: SecretKeys,
  person: Person,
  code: string,
): Promise<boolean> {
  if (person.totp_confirmed_at) refuse('conflict', { message: 'An authenticator app is set up already.' })
  if (!person.totp_sealed) refuse('conflict', { message: 'Begin with a new secret.' })
  const step = stepOfCode(secretOf(keys, person.id, person.totp_sealed), code, clock.now(), null)
  if (step === null) return false
  const isConfirmed = (await confirmTotp(db, person.id, person.totp_sealed, clock.now(), step)) === 1
  if (!isConfirmed) refuse('conflict', { message: 'Another secret was made meanwhile. Begin with a new one.' })
  return true
}

export const endTotp = async (db: Db, personId: string): Promise<void> => {
  await dropTotp(db, personId)
  await replaceBackupCodes(db, personId, [])
}

/** Whether the code is good, and then never again. */
export async function takeTotp(db: Db, clock: Clock, keys: SecretKeys, person: Person, code: string): Promise<boolean> {
  if (!person.totp_sealed || !person.totp_confirmed_at) return false
  const secret = secretOf(keys, person.id, person.totp_sealed)
  const step = stepOfCode(secret, code, clock.now(), person.totp_last_step)
  // Of two that come at once with the same code, one is first.
  return step !== null && (await useStep(db, person.id, step)) === 1
}

/** Without the key that sealed it nobody can check a code; there are other ways in, and who could mend it is told how. */
function secretOf(keys: SecretKeys, personId: string, sealed: string): string {
  try {
    return open(keys, sealed, totpContext(personId))
  } catch {
    return refuse('service_unavailable', {
      message:
        'Codes of the authenticator app cannot be checked here: the key that sealed its secret is missing from ' +
        'PARLEY_SECRET_KEYS. Use a backup code or a passkey, or ask whoever runs this installation to bring the key back.',
    })
  }
}

export const takeBackupCode = (db: Db, personId: string, code: string): Promise<boolean> =>
  useBackupCode(db, personId, digestOf(personId, code))

export const backupCodesLeft = (db: Db, personId: string): Promise<number> => countBackupCodes(db, personId)

/** Ten new ones; those before are dead. Shown once. */
export async function newBackupCodes(db: Db, personId: string): Promise<string[]> {
  const codes = Array.from({ length: backupCodeCount }, () => {
    const letters = Array.from(randomBytes(10), (byte) => letterOf(byte)).join('')
    return `${letters.slice(0, 5)}-${letters.slice(5)}`
  })
  const digests = codes.map((code) => digestOf(personId, code))
  await replaceBackupCodes(db, personId, digests)
  return codes
}

/** Without i, l, o and u: nothing that is easily mistaken when it is copied from paper. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const letterOf = (byte: number): string => alphabet.charAt(byte % alphabet.length)

/** More than seventy random bits: a plain digest cannot be undone by trying. */
const digestOf = (personId: string, code: string): Buffer => sha256(`${personId} ${plain(code)}`)

const plain = (code: string): string =>
  code
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
    .replaceAll('o', '0')
    .replaceAll(/[il]/g, '1')
