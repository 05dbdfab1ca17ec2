import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { sha256 } from '../../lib/hash.ts'
import { randomBase62 } from '../../lib/ids.ts'
import { refuse } from '../../lib/refuse.ts'
import { open, type SecretKeys, seal } from '../../lib/seal.ts'
import type { Person } from './people.ts'
import { newTotpSecret, stepOfCode, totpUri } from './totp.ts'
import { countBackupCodes, replaceBackupCodes, setTotp, useBackupCode, useStep } from './two-factor.sql.ts'

const backupCodeCount = 10

const placeOf = (personId: string): string => `people.totp ${personId}`

/** A new secret, which counts once a first code made with it has come back. Ten codes for the day the phone is lost. */
export async function beginTotp(db: Db, keys: SecretKeys, person: Person) {
  if (person.totp_confirmed_at) refuse('conflict', { message: 'An authenticator app is set up already.' })
  const secret = newTotpSecret()
  await setTotp(db, person.id, seal(keys, secret, placeOf(person.id)), null)
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
  const step = stepOfCode(open(keys, person.totp_sealed, placeOf(person.id)), code, clock.now(), null)
  if (step === null) return false
  await setTotp(db, person.id, person.totp_sealed, clock.now())
  await useStep(db, person.id, step)
  return true
}

export const endTotp = async (db: Db, personId: string): Promise<void> => {
  await setTotp(db, personId, null, null)
  await replaceBackupCodes(db, personId, [])
}

/** Whether the code is good, and then never again. */
export async function takeTotp(db: Db, clock: Clock, keys: SecretKeys, person: Person, code: string): Promise<boolean> {
  if (!person.totp_sealed || !person.totp_confirmed_at) return false
  const secret = open(keys, person.totp_sealed, placeOf(person.id))
  const step = stepOfCode(secret, code, clock.now(), person.totp_last_step)
  // Of two that come at once with the same code, one is first.
  return step !== null && (await useStep(db, person.id, step)) === 1
}

export const takeBackupCode = (db: Db, personId: string, code: string): Promise<boolean> =>
  useBackupCode(db, personId, digestOf(personId, code))

export const backupCodesLeft = (db: Db, personId: string): Promise<number> => countBackupCodes(db, personId)

/** Ten new ones; those before are dead. Shown once. */
export async function newBackupCodes(db: Db, personId: string): Promise<string[]> {
  const codes = Array.from({ length: backupCodeCount }, () => {
    const letters = randomBase62(10).toLowerCase()
    return `${letters.slice(0, 5)}-${letters.slice(5)}`
  })
  const digests = codes.map((code) => digestOf(personId, code))
  await replaceBackupCodes(db, personId, digests)
  return codes
}

/** Fifty random bits: a plain digest cannot be undone by trying. */
const digestOf = (personId: string, code: string): Buffer =>
  sha256(`${personId} ${code.toLowerCase().replaceAll(/[^a-z0-9]/g, '')}`)
