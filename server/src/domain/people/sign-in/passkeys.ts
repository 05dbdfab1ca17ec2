import type {
  AuthenticationResponseJSON,
  generateAuthenticationOptions,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { newUuid } from '../../../lib/ids.ts'
import { refuse } from '../../../lib/refuse.ts'
import { holdPerson, type Person, readName } from '../people.ts'
import { consumeChallenge, createChallenge, findChallenge } from './challenges.ts'
import {
  deletePasskey,
  insertPasskey,
  listPasskeys,
  type PasskeyRow,
  passkeyByCredential,
  setCounter,
} from './passkeys.sql.ts'

export { listPasskeys, removePasskeys } from './passkeys.sql.ts'

/** Loaded on first use: it has two hundred files, and every CLI command would have to wait for them. */
const webauthn = () => import('@simplewebauthn/server')

type Transports = NonNullable<
  NonNullable<Parameters<typeof generateAuthenticationOptions>[0]['allowCredentials']>[number]['transports']
>

/** The site that a passkey is for, as in the browser's address bar. */
export interface Site {
  publicUrl: string
}

const rpOf = ({ publicUrl }: Site) => ({ id: new URL(publicUrl).hostname, origin: new URL(publicUrl).origin })

export interface PasskeyOptions {
  options: unknown
  /** The browser has to send it back with its response. */
  token: string
}

export async function passkeyRegistrationOptions(
  db: Db,
  clock: Clock,
  site: Site,
  person: Person,
): Promise<PasskeyOptions> {
  const known = await listPasskeys(db, person.id)
  const { generateRegistrationOptions } = await webauthn()
  const options = await generateRegistrationOptions({
    rpName: 'Parley',
    rpID: rpOf(site).id,
    userName: person.email,
    userDisplayName: person.name,
    userID: new TextEncoder().encode(person.id),
    attestationType: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    excludeCredentials: known.map(({ credential_id: id }) => ({ id })),
  })
  const { challenge } = options
  return { options, token: await createChallenge(db, clock, { kind: 'new_passkey', person_id: person.id, challenge }) }
}

/** Call it in a transaction. */
export async function addPasskey(
  db: Db,
  clock: Clock,
  site: Site,
  person: Person,
  token: string | undefined,
  name: string,
  response: unknown,
): Promise<PasskeyRow> {
  // A recovery that finished in the meantime has deleted the challenge.
  await holdPerson(db, person.id)
  const stored = await consumePasskeyChallenge(db, clock, 'new_passkey', token)
  if (stored.person_id !== person.id) refuse('wrong_credentials', { message: 'Start adding the passkey again.' })
  const { id: rpId, origin } = rpOf(site)
  const { verifyRegistrationResponse } = await webauthn()
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: response as RegistrationResponseJSON,
    expectedChallenge: stored.challenge ?? '',
    expectedOrigin: origin,
    expectedRPID: rpId,
    requireUserVerification: true,
  }).catch(() => ({ verified: false, registrationInfo: undefined }))
  if (!verified || !registrationInfo) refuse('wrong_credentials', { message: 'The passkey could not be verified.' })
  const { credential } = registrationInfo
  const row: PasskeyRow = {
    id: newUuid(clock.now().getTime()),
    person_id: person.id,
    name: readName(name),
    credential_id: credential.id,
    public_key: Buffer.from(credential.publicKey),
    counter: credential.counter,
    transports: credential.transports ?? [],
    created_at: clock.now(),
  }
  if ((await insertPasskey(db, row)) === 0) refuse('conflict', { message: 'This passkey is already registered.' })
  return row
}

/**
 * For confirming, names the passkeys of the signed-in person: only these confirm who they are. For signing in (null), names no
 * account: the browser offers the passkeys it has for this site, so this does not reveal who has one.
 */
export async function passkeyOptions(
  db: Db,
  clock: Clock,
  site: Site,
  personId: string | null,
): Promise<PasskeyOptions> {
  const own = personId === null ? [] : await listPasskeys(db, personId)
  if (personId !== null && own.length === 0) {
    refuse('conflict', { message: 'You have no passkeys. Confirm with your password.' })
  }
  const { generateAuthenticationOptions } = await webauthn()
  const options = await generateAuthenticationOptions({
    rpID: rpOf(site).id,
    userVerification: 'required',
    ...(personId !== null && {
      allowCredentials: own.map((each) => ({ id: each.credential_id, transports: each.transports as Transports })),
    }),
  })
  const { challenge } = options
  return { options, token: await createChallenge(db, clock, { kind: 'passkey', person_id: personId, challenge }) }
}

/** A passkey with a valid signature, and its new signature counter. */
export interface CheckedPasskey {
  id: string
  personId: string
  counter: number
}

/**
 * Verifies the signature and returns the passkey that made it. `personId` is the person whose passkey is expected; null
 * while signing in, when anyone's is. `onInvalid` gets the owner of a passkey whose signature is invalid.
 */
export async function checkPasskey(
  db: Db,
  clock: Clock,
  site: Site,
  token: string | undefined,
  body: unknown,
  personId: string | null,
  onInvalid: (personId: string) => Promise<void>,
): Promise<CheckedPasskey> {
  const stored = await consumePasskeyChallenge(db, clock, 'passkey', token)
  if (stored.person_id !== personId) refuse('wrong_credentials', { message: 'Start again.' })
  const response = body as AuthenticationResponseJSON
  const passkey = typeof response?.id === 'string' ? await passkeyByCredential(db, response.id) : undefined
  if (!passkey) return refuse('wrong_credentials', { message: unknownPasskey })
  if (personId !== null && passkey.person_id !== personId) {
    refuse('wrong_credentials', { message: 'This passkey belongs to another account.' })
  }
  const { id: rpId, origin } = rpOf(site)
  const { verifyAuthenticationResponse } = await webauthn()
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response,
    expectedChallenge: stored.challenge ?? '',
    expectedOrigin: origin,
    expectedRPID: rpId,
    requireUserVerification: true,
    credential: {
      id: passkey.credential_id,
      publicKey: new Uint8Array(passkey.public_key),
      counter: passkey.counter,
      // As reported by the browser that created it.
      transports: passkey.transports as Transports,
    },
  }).catch(() => ({ verified: false, authenticationInfo: undefined }))
  if (!verified || !authenticationInfo) {
    await onInvalid(passkey.person_id)
    refuse('wrong_credentials', { message: 'The passkey could not be verified.' })
  }
  return { id: passkey.id, personId: passkey.person_id, counter: authenticationInfo.newCounter }
}

/** The owner of the passkey. Fails if it was removed since it was checked. Call it in a transaction. */
export async function personOfPasskey(db: Db, { id, personId, counter }: CheckedPasskey): Promise<Person> {
  const person = await holdPerson(db, personId)
  if ((await setCounter(db, id, counter)) === 0) refuse('wrong_credentials', { message: unknownPasskey })
  return person
}

const unknownPasskey = 'Unknown passkey. Sign in with your password.'

export const removePasskey = async (db: Db, personId: string, id: string): Promise<PasskeyRow> =>
  (await deletePasskey(db, personId, id)) ?? refuse('not_found')

async function consumePasskeyChallenge(
  db: Db,
  clock: Clock,
  kind: 'passkey' | 'new_passkey',
  token: string | undefined,
) {
  const stored = await findChallenge(db, clock, kind, token)
  if (!stored || token === undefined || !(await consumeChallenge(db, token))) {
    return refuse('wrong_credentials', { message: 'This took too long. Try again.' })
  }
  return stored
}
