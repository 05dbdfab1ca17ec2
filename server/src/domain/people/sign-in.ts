import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { refuse } from '../../lib/refuse.ts'
import type { SecretKeys } from '../../lib/seal.ts'
import { recordAuditEntry } from '../audit/audit.ts'
import { findChallenge, setChallenge, useChallenge } from './challenges.ts'
import { checkPasskey, personOfPasskey, type Site } from './passkeys.ts'
import { isPassword } from './passwords.ts'
import { personByEmail } from './people.sql.ts'
import { holdPerson, type Person, requirePerson } from './people.ts'
import { type Browser, openSession } from './sessions.ts'
import { clearAttempts, returnAttempt, type SignInAttempt, takeAttempt } from './sign-in-attempts.ts'
import { takeBackupCode, takeTotp } from './two-factor.ts'

export type Step =
  | { kind: 'done'; person: Person; sessionToken: string }
  /** Nothing is open yet: the token only says whose second factor is awaited. */
  | { kind: 'second_factor'; person: Person; stepToken: string }

const unlike = 'The address or the password is wrong.'
const wrongCode = 'That code is wrong, or was used already.'

/** An address that nobody has is refused in the same words, after the same time. */
export async function signIn(
  db: Db,
  clock: Clock,
  given: { email: string; password: string },
  browser: Browser,
): Promise<Step> {
  const email = given.email.trim().toLowerCase().slice(0, 254)
  const taken = await takeAttempt(db, clock, email)
  const person = await personByEmail(db, email)
  const right = await unlessUnable(db, taken, isPassword(person?.password_hash ?? null, given.password))
  if (person && !right) await noteLock(db, clock, person, taken, browser)
  if (!person || !right) return refuse('wrong_credentials', { message: unlike })
  // Half of it: what was wrong before counts until the second factor is right as well.
  if (person.totp_confirmed_at) await returnAttempt(db, taken)
  return db.transaction(async (tx) => {
    const now = await holdPerson(tx, person.id)
    if (now.password_hash !== person.password_hash) refuse('wrong_credentials', { message: unlike })
    return startSession(tx, clock, now, browser)
  })
}

/** A passkey is two factors by itself: the device, and the finger or the PIN that opens it. */
export async function signInByPasskey(
  db: Db,
  clock: Clock,
  site: Site,
  token: string | undefined,
  response: unknown,
  browser: Browser,
): Promise<Step> {
  const passkey = await checkPasskey(db, clock, site, token, response)
  return db.transaction(async (tx) => {
    const person = await personOfPasskey(tx, passkey)
    return startSession(tx, clock, { ...person, totp_confirmed_at: null }, browser)
  })
}

/** Somebody has shown a first factor. Inside of a transaction that holds the person. */
export async function startSession(db: Db, clock: Clock, person: Person, browser: Browser): Promise<Step> {
  if (person.totp_confirmed_at) {
    const challenge = { kind: 'second_factor', person_id: person.id, challenge: null } as const
    return { kind: 'second_factor', person, stepToken: await setChallenge(db, clock, challenge) }
  }
  await clearAttempts(db, person.email)
  return { kind: 'done', person, sessionToken: await openSession(db, clock, person.id, browser) }
}

export async function secondFactor(
  db: Db,
  clock: Clock,
  keys: SecretKeys,
  stepToken: string | undefined,
  given: { code: string; kind: 'totp' | 'backup' },
  browser: Browser,
): Promise<Extract<Step, { kind: 'done' }>> {
  const step = await findChallenge(db, clock, 'second_factor', stepToken)
  if (!step?.person_id || stepToken === undefined) {
    return refuse('not_signed_in', { message: 'That took too long. Sign in again.' })
  }
  const person = await requirePerson(db, step.person_id)
  const taken = await takeAttempt(db, clock, person.email)
  const right =
    given.kind === 'totp'
      ? await unlessUnable(db, taken, takeTotp(db, clock, keys, person, given.code))
      : await takeBackupCode(db, person.id, given.code)
  if (!right) {
    await noteLock(db, clock, person, taken, browser)
    refuse('wrong_credentials', { message: wrongCode })
  }
  return db.transaction(async (tx) => {
    await holdPerson(tx, person.id)
    if (!(await useChallenge(tx, stepToken))) refuse('not_signed_in')
    await clearAttempts(tx, person.email)
    return { kind: 'done', person, sessionToken: await openSession(tx, clock, person.id, browser) }
  })
}

/** That somebody was locked out is on record, with where the last wrong try came from. */
async function noteLock(db: Db, clock: Clock, person: Person, taken: SignInAttempt, browser: Browser): Promise<void> {
  if (taken.lockedUntil === null) return
  const after = { until: taken.lockedUntil.toISOString() }
  const who = { personId: person.id, name: person.email, ...browser }
  await recordAuditEntry(db, clock, who, { action: 'session.locked', workspaceId: null, after })
}

/**
 * That it is still them: by password, or by a code of their app. Wrong ones count as wrong tries at signing in do. One
 * factor of two does not reset that count: whoever knows the password could buy as many codes with it as they like.
 */
export async function currentPerson(
  db: Db,
  clock: Clock,
  keys: SecretKeys,
  person: Person,
  given: { password?: string; code?: string },
): Promise<void> {
  const taken = await takeAttempt(db, clock, person.email)
  const right =
    given.password !== undefined
      ? await unlessUnable(db, taken, isPassword(person.password_hash, given.password))
      : given.code !== undefined && (await unlessUnable(db, taken, takeTotp(db, clock, keys, person, given.code)))
  if (!right) {
    refuse('wrong_credentials', { message: given.password === undefined ? wrongCode : 'That password is wrong.' })
  }
  if (person.totp_confirmed_at) await returnAttempt(db, taken)
  else await clearAttempts(db, person.email)
}

/** What we cannot check, for want of a key or of time, is no wrong try of theirs. */
async function unlessUnable(db: Db, taken: SignInAttempt, check: Promise<boolean>): Promise<boolean> {
  try {
    return await check
  } catch (error) {
    await returnAttempt(db, taken)
    throw error
  }
}
