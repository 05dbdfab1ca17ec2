import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { refuse } from '../../lib/refuse.ts'
import type { SecretKeys } from '../../lib/seal.ts'
import { recordAuditEntry } from '../audit/audit.ts'
import { consumeChallenge, createChallenge, findChallenge } from './challenges.ts'
import { type Failure, recordFailure } from './failed-sign-ins.ts'
import { checkPasskey, personOfPasskey, type Site } from './passkeys.ts'
import { isPassword } from './passwords.ts'
import { personByEmail } from './people.sql.ts'
import { holdPerson, type Person, requirePerson } from './people.ts'
import { type Browser, openSession } from './sessions.ts'
import { clearAttempts, releaseAttempt, reserveAttempt, type SignInAttempt } from './sign-in-attempts.ts'
import { useBackupCode, useTotpCode } from './two-factor.ts'

export type Step =
  | { kind: 'done'; person: Person; sessionToken: string }
  /** Not signed in yet: the token only identifies the person whose second factor is expected. */
  | { kind: 'second_factor'; person: Person; stepToken: string }

const wrongPassword = 'Wrong email address or password.'
const wrongCode = 'Wrong code, or it was used already.'

/** An unknown email address gets the same error after the same time as a wrong password. */
export async function signIn(
  db: Db,
  clock: Clock,
  given: { email: string; password: string },
  browser: Browser,
): Promise<Step> {
  const email = given.email.trim().toLowerCase().slice(0, 254)
  const attempt = await reserveAttempt(db, clock, email)
  const person = await personByEmail(db, email)
  const isCorrect = await releaseOnError(db, attempt, isPassword(person?.password_hash ?? null, given.password))
  if (person && !isCorrect) await auditFailure(db, clock, person, browser, attempt, signInFailures.password)
  if (!person || !isCorrect) return refuse('wrong_credentials', { message: wrongPassword })
  // Earlier failures still count until the second factor is correct too.
  if (person.totp_confirmed_at) await releaseAttempt(db, attempt)
  return db.transaction(async (tx) => {
    const current = await holdPerson(tx, person.id)
    if (current.password_hash !== person.password_hash) refuse('wrong_credentials', { message: wrongPassword })
    return startSession(tx, clock, current, browser)
  })
}

/** A passkey is two factors in one: the device, and the fingerprint or PIN that unlocks it. */
export async function signInByPasskey(
  db: Db,
  clock: Clock,
  site: Site,
  token: string | undefined,
  response: unknown,
  browser: Browser,
): Promise<Step> {
  const passkey = await checkPasskey(db, clock, site, token, response, null, async (personId) =>
    recordFailure(db, clock, await requirePerson(db, personId), browser, signInFailures.passkey),
  )
  return db.transaction(async (tx) => {
    const person = await personOfPasskey(tx, passkey)
    return startSession(tx, clock, { ...person, totp_confirmed_at: null }, browser)
  })
}

/** Continues after a correct first factor. Call it in a transaction that holds the person. */
export async function startSession(db: Db, clock: Clock, person: Person, browser: Browser): Promise<Step> {
  if (person.totp_confirmed_at) {
    const challenge = { kind: 'second_factor', person_id: person.id, challenge: null } as const
    return { kind: 'second_factor', person, stepToken: await createChallenge(db, clock, challenge) }
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
    return refuse('not_signed_in', { message: 'This took too long. Sign in again.' })
  }
  const person = await requirePerson(db, step.person_id)
  const attempt = await reserveAttempt(db, clock, person.email)
  const isCorrect =
    given.kind === 'totp'
      ? await releaseOnError(db, attempt, useTotpCode(db, clock, keys, person, given.code))
      : await useBackupCode(db, person.id, given.code)
  if (!isCorrect) {
    await auditFailure(db, clock, person, browser, attempt, signInFailures.code)
    refuse('wrong_credentials', { message: wrongCode })
  }
  return db.transaction(async (tx) => {
    await holdPerson(tx, person.id)
    if (!(await consumeChallenge(tx, stepToken))) refuse('not_signed_in')
    await clearAttempts(tx, person.email)
    return { kind: 'done', person, sessionToken: await openSession(tx, clock, person.id, browser) }
  })
}

const signInFailures = {
  password: { step: 'sign-in', why: 'wrong password' },
  code: { step: 'sign-in', why: 'wrong code' },
  passkey: { step: 'sign-in', why: 'invalid passkey' },
} as const

/** Records a failed attempt and, if it locked the account, the lockout, with the address it came from. */
async function auditFailure(
  db: Db,
  clock: Clock,
  person: Person,
  browser: Browser,
  attempt: SignInAttempt,
  failure: Failure,
): Promise<void> {
  await recordFailure(db, clock, person, browser, failure)
  if (attempt.lockedUntil === null) return
  const after = { until: attempt.lockedUntil.toISOString() }
  const who = { personId: person.id, name: person.email, ...browser }
  await recordAuditEntry(db, clock, who, { action: 'session.locked', workspaceId: null, after })
}

/**
 * Confirms who the person is, by password or by a code of their app. Failures count like failed sign-ins. With two factors,
 * one correct factor does not reset the count: otherwise an attacker with the password could guess codes without limit.
 */
export async function verifyIdentity(
  db: Db,
  clock: Clock,
  keys: SecretKeys,
  person: Person,
  given: { password?: string; code?: string },
  browser: Browser,
): Promise<void> {
  const attempt = await reserveAttempt(db, clock, person.email)
  const isCorrect =
    given.password !== undefined
      ? await releaseOnError(db, attempt, isPassword(person.password_hash, given.password))
      : given.code !== undefined &&
        (await releaseOnError(db, attempt, useTotpCode(db, clock, keys, person, given.code)))
  if (!isCorrect) {
    const why = given.password === undefined ? 'wrong code' : 'wrong password'
    await auditFailure(db, clock, person, browser, attempt, { step: 'confirmation', why })
    refuse('wrong_credentials', { message: given.password === undefined ? wrongCode : 'Wrong password.' })
  }
  if (person.totp_confirmed_at) await releaseAttempt(db, attempt)
  else await clearAttempts(db, person.email)
}

/** Confirms who the person is by one of their passkeys. */
export async function verifyPasskey(
  db: Db,
  clock: Clock,
  site: Site,
  person: Person,
  token: string | undefined,
  response: unknown,
  browser: Browser,
): Promise<void> {
  const passkey = await checkPasskey(db, clock, site, token, response, person.id, () =>
    recordFailure(db, clock, person, browser, { step: 'confirmation', why: 'invalid passkey' }),
  )
  await db.transaction((tx) => personOfPasskey(tx, passkey))
}

/** If the check itself fails, because a key is missing or the service is overloaded, the attempt does not count. */
async function releaseOnError(db: Db, attempt: SignInAttempt, check: Promise<boolean>): Promise<boolean> {
  try {
    return await check
  } catch (error) {
    await releaseAttempt(db, attempt)
    throw error
  }
}
