import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { refuse } from '../../../lib/refuse.ts'
import type { SecretKeys } from '../../../lib/seal.ts'
import { addressBlock } from '../../../net/addresses.ts'
import type { Client } from '../../../sharing/fair-queue.ts'
import { recordAuditEntry } from '../../audit/audit.ts'
import { type FollowedLink, useLinkAs } from '../links/links.ts'
import { needsPasskey } from '../operators/operators.ts'
import { isPassword, whenHashingIsFree } from '../passwords.ts'
import { personByEmail } from '../people.sql.ts'
import { holdPerson, type Person, requireEnabled, requirePerson } from '../people.ts'
import { consumeChallenge, createChallenge, findChallenge } from './challenges.ts'
import { actorOf, type Failure, recordFailure } from './failed-sign-ins.ts'
import type { KnownBrowser } from './known-browsers.ts'
import { checkPasskey, personOfPasskey, type Site } from './passkeys.ts'
import { type Browser, openSession } from './sessions.ts'
import {
  type Account,
  clearAttempts,
  releaseAttempt,
  reserveAttempt,
  type SignInAttempt,
  type StrangerTries,
  type TriedFrom,
} from './sign-in-attempts.ts'
import { useBackupCode, useTotpCode } from './two-factor.ts'

/** A browser that signs in, what its attempts count against, and what is done with each step. */
export interface SigningIn extends Browser {
  client: Client
  known: KnownBrowser | null
  strangers: StrangerTries
  /** Operators have to sign in with a second factor. */
  operatorsNeedTwoFactor: boolean
  /** Called in the transaction of each step, with the link that was used in it. */
  onStep(tx: Db, step: Step, followed: FollowedLink | null): Promise<void>
}

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
  browser: SigningIn,
): Promise<Step> {
  const { person, attempt } = await checkFirstFactor(db, clock, given, browser, { message: wrongPassword })
  const signedIn = db.transaction(async (tx) => {
    const current = await holdVerified(tx, person, wrongPassword)
    return startSession(tx, clock, current, browser, { attempt })
  })
  return releaseOnError(db, attempt, signedIn)
}

/** Fails if the password was changed, or the account disabled, since the password was checked. Call it in a transaction. */
export async function holdVerified(tx: Db, verified: Person, message: string): Promise<Person> {
  const person = requireEnabled(await holdPerson(tx, verified.id))
  return person.password_hash === verified.password_hash ? person : refuse('wrong_credentials', { message })
}

/** Returns the person whose email address and password these are, and the attempt, if it still counts. */
export async function checkFirstFactor(
  db: Db,
  clock: Clock,
  given: { email: string; password: string },
  browser: SigningIn,
  { message, becomesOperator = false }: { message: string; becomesOperator?: boolean },
): Promise<{ person: Person; attempt: SignInAttempt | null }> {
  const email = given.email.trim().toLowerCase().slice(0, 254)
  const { person, attempt, isCorrect } = await whenHashingIsFree(browser.client, async () => {
    const person = await personByEmail(db, email)
    const from = triedFrom(browser, person?.id ?? null)
    const account = { email, personId: person?.id ?? null }
    const check = () => isPassword(person?.password_hash ?? null, given.password)
    return { person, ...(await attemptOnce(db, clock, account, from, check)) }
  })
  if (person && !isCorrect) await auditFailure(db, clock, person, browser, attempt, signInFailures.password)
  if (!person || !isCorrect) return refuse('wrong_credentials', { message })
  const isOperator = person.operator || becomesOperator
  const isPasskeyMissing = browser.operatorsNeedTwoFactor && isOperator && (await needsPasskey(db, person))
  // Earlier failures still count until the second factor is correct too.
  const isReleased = person.totp_confirmed_at !== null || person.disabled_at !== null || isPasskeyMissing
  if (isReleased) await releaseAttempt(db, attempt)
  requireEnabled(person)
  if (isPasskeyMissing) refuse('passkey_required')
  return { person, attempt: isReleased ? null : attempt }
}

/** Others cannot lock out a browser in which this person signed in before. */
const triedFrom = ({ known, address, strangers }: SigningIn, personId: string | null): TriedFrom =>
  known && personId !== null && known.people.includes(personId)
    ? { kind: 'known browser', browserId: known.id }
    : { kind: 'address', block: addressBlock(address), strangers }

/** A passkey is two factors in one: the device, and the fingerprint or PIN that unlocks it. */
export async function signInByPasskey(
  db: Db,
  clock: Clock,
  site: Site,
  token: string | undefined,
  response: unknown,
  browser: SigningIn,
): Promise<Step> {
  const passkey = await checkPasskey(db, clock, site, token, response, null, async (personId) =>
    recordFailure(db, clock, await requirePerson(db, personId), browser, signInFailures.passkey),
  )
  return db.transaction(async (tx) => {
    const person = requireEnabled(await personOfPasskey(tx, passkey))
    return finish(tx, clock, person, browser, {})
  })
}

interface SignedIn {
  /** The attempt that completed the sign-in, if it still counts. */
  attempt?: SignInAttempt | null
  /** The link that was used. */
  followed?: FollowedLink | null
}

/**
 * Continues after a correct first factor. Call it in a transaction that holds the person. `linkId` is a link that the second
 * factor will use.
 */
export async function startSession(
  tx: Db,
  clock: Clock,
  person: Person,
  browser: SigningIn,
  { linkId = null, ...signedIn }: SignedIn & { linkId?: string | null },
): Promise<Step> {
  if (!person.totp_confirmed_at) return finish(tx, clock, person, browser, signedIn)
  const challenge = { kind: 'second_factor', person_id: person.id, link_id: linkId } as const
  const step: Step = { kind: 'second_factor', person, stepToken: await createChallenge(tx, clock, challenge) }
  await browser.onStep(tx, step, signedIn.followed ?? null)
  return step
}

async function finish(
  tx: Db,
  clock: Clock,
  person: Person,
  browser: SigningIn,
  { attempt = null, followed = null }: SignedIn,
): Promise<Step> {
  await clearAttempts(tx, accountOf(person), triedFrom(browser, person.id), attempt)
  const step: Step = { kind: 'done', person, sessionToken: await openSession(tx, clock, person.id, browser) }
  await browser.onStep(tx, step, followed)
  return step
}

const accountOf = ({ id, email }: Person): Account => ({ email, personId: id })

/** Also uses the link that waited for the second factor, if there is one. */
export async function secondFactor(
  db: Db,
  clock: Clock,
  keys: SecretKeys,
  stepToken: string | undefined,
  given: { code: string; kind: 'totp' | 'backup' },
  browser: SigningIn,
): Promise<Step> {
  const challenge = await findChallenge(db, clock, 'second_factor', stepToken)
  if (!challenge?.person_id || stepToken === undefined) {
    return refuse('not_signed_in', { message: 'This took too long. Sign in again.' })
  }
  const person = await requirePerson(db, challenge.person_id)
  const from = triedFrom(browser, person.id)
  const { attempt, isCorrect } = await attemptOnce(db, clock, accountOf(person), from, () =>
    given.kind === 'totp' ? useTotpCode(db, clock, keys, person, given.code) : useBackupCode(db, person.id, given.code),
  )
  if (!isCorrect) {
    await auditFailure(db, clock, person, browser, attempt, signInFailures.code)
    refuse('wrong_credentials', { message: wrongCode })
  }
  const signedIn = db.transaction(async (tx) => {
    const current = requireEnabled(await holdPerson(tx, person.id))
    if (!(await consumeChallenge(tx, stepToken))) refuse('not_signed_in')
    const followed = challenge.link_id === null ? null : await useLinkAs(tx, clock, challenge.link_id, current)
    return finish(tx, clock, current, browser, { attempt, followed })
  })
  return releaseOnError(db, attempt, signedIn)
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
  await recordAuditEntry(db, clock, actorOf(person, browser), { action: 'session.locked', workspaceId: null, after })
}

/** The session in which a person confirms who they are. */
export interface Confirming extends Browser {
  sessionId: string
  client: Client
}

/**
 * Confirms who the signed-in person is, by password or by a code of their app. Failures count for the session only: it is
 * never affected by failed sign-ins of others. With two factors, one correct factor does not reset the count: otherwise an
 * attacker with the password could guess codes without limit.
 */
export async function verifyIdentity(
  db: Db,
  clock: Clock,
  keys: SecretKeys,
  person: Person,
  given: { password?: string; code?: string },
  confirming: Confirming,
): Promise<void> {
  const { password, code } = given
  const { sessionId, client } = confirming
  const from = { kind: 'session', sessionId } as const
  const attemptWith = (check: () => Promise<boolean>) => attemptOnce(db, clock, accountOf(person), from, check)
  const { attempt, isCorrect } =
    password === undefined
      ? await attemptWith(async () => code !== undefined && useTotpCode(db, clock, keys, person, code))
      : await whenHashingIsFree(client, () => attemptWith(() => isPassword(person.password_hash, password)))
  if (!isCorrect) {
    const why = password === undefined ? 'wrong code' : 'wrong password'
    await auditFailure(db, clock, person, confirming, attempt, { step: 'confirmation', why })
    refuse('wrong_credentials', { message: password === undefined ? wrongCode : 'Wrong password.' })
  }
  if (person.totp_confirmed_at) await releaseAttempt(db, attempt)
  else await clearAttempts(db, accountOf(person), from, attempt)
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

/** Counts an attempt, and then checks whether it is correct. */
async function attemptOnce(db: Db, clock: Clock, account: Account, from: TriedFrom, check: () => Promise<boolean>) {
  const attempt = await reserveAttempt(db, clock, account, from)
  return { attempt, isCorrect: await releaseOnError(db, attempt, check()) }
}

/**
 * The attempt does not count if the check itself fails, because a key is missing or the service is overloaded, nor if the
 * sign-in fails after a correct check. `attempt` is null if it was released before.
 */
export async function releaseOnError<T>(db: Db, attempt: SignInAttempt | null, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (attempt) await releaseAttempt(db, attempt)
    throw error
  }
}
