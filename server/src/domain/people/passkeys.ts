import type {
  AuthenticationResponseJSON,
  generateAuthenticationOptions,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { newUuid } from '../../lib/ids.ts'
import { refuse } from '../../lib/refuse.ts'
import { findChallenge, setChallenge, useChallenge } from './challenges.ts'
import {
  deletePasskey,
  deletePasskeys,
  insertPasskey,
  type PasskeyRow,
  passkeyByCredential,
  passkeysOf,
  setCounter,
} from './passkeys.sql.ts'
import { holdPerson, type Person, readName } from './people.ts'

/** Read when it is first needed: few sign in, and every command of the command line would wait for its two hundred files. */
const webauthn = () => import('@simplewebauthn/server')

type Transports = NonNullable<
  NonNullable<Parameters<typeof generateAuthenticationOptions>[0]['allowCredentials']>[number]['transports']
>

/** Which site a passkey is for: the one people see in the address bar. */
export interface Site {
  publicUrl: string
}

const rpOf = ({ publicUrl }: Site) => ({ id: new URL(publicUrl).hostname, origin: new URL(publicUrl).origin })

export interface Asked {
  options: unknown
  /** What the browser has to bring back along with its answer. */
  token: string
}

export async function askForNewPasskey(db: Db, clock: Clock, site: Site, person: Person): Promise<Asked> {
  const known = await passkeysOf(db, person.id)
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
  const token = await setChallenge(db, clock, { kind: 'passkey', person_id: person.id, challenge: options.challenge })
  return { options, token }
}

/** Inside of a transaction. */
export async function addPasskey(
  db: Db,
  clock: Clock,
  site: Site,
  person: Person,
  token: string | undefined,
  name: string,
  response: unknown,
): Promise<PasskeyRow> {
  // A recovery that has ended meanwhile has taken away the challenge.
  await holdPerson(db, person.id)
  const asked = await takeAsked(db, clock, token)
  if (asked.person_id !== person.id) refuse('wrong_credentials', { message: 'Ask for a passkey again.' })
  const { id: rpId, origin } = rpOf(site)
  const { verifyRegistrationResponse } = await webauthn()
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: response as RegistrationResponseJSON,
    expectedChallenge: asked.challenge ?? '',
    expectedOrigin: origin,
    expectedRPID: rpId,
    requireUserVerification: true,
  }).catch(() => ({ verified: false, registrationInfo: undefined }))
  if (!verified || !registrationInfo) refuse('wrong_credentials', { message: 'The passkey could not be checked.' })
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
  if ((await insertPasskey(db, row)) === 0) refuse('conflict', { message: 'This passkey is known already.' })
  return row
}

/** For anybody: the browser offers the passkeys it has for this site, so nobody learns who has one. */
export async function askForPasskey(db: Db, clock: Clock, site: Site): Promise<Asked> {
  const { generateAuthenticationOptions } = await webauthn()
  const options = await generateAuthenticationOptions({ rpID: rpOf(site).id, userVerification: 'required' })
  const token = await setChallenge(db, clock, { kind: 'passkey', person_id: null, challenge: options.challenge })
  return { options, token }
}

/** A passkey whose signature was right, and how often it has signed by now. */
export interface CheckedPasskey {
  id: string
  personId: string
  counter: number
}

/** Which passkey answered. */
export async function checkPasskey(
  db: Db,
  clock: Clock,
  site: Site,
  token: string | undefined,
  answer: unknown,
): Promise<CheckedPasskey> {
  const asked = await takeAsked(db, clock, token)
  const response = answer as AuthenticationResponseJSON
  const passkey = typeof response?.id === 'string' ? await passkeyByCredential(db, response.id) : undefined
  if (!passkey) return refuse('wrong_credentials', { message: unknownPasskey })
  const { id: rpId, origin } = rpOf(site)
  const { verifyAuthenticationResponse } = await webauthn()
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response,
    expectedChallenge: asked.challenge ?? '',
    expectedOrigin: origin,
    expectedRPID: rpId,
    requireUserVerification: true,
    credential: {
      id: passkey.credential_id,
      publicKey: new Uint8Array(passkey.public_key),
      counter: passkey.counter,
      // As the browser that made it told us.
      transports: passkey.transports as Transports,
    },
  }).catch(() => ({ verified: false, authenticationInfo: undefined }))
  if (!verified || !authenticationInfo) refuse('wrong_credentials', { message: 'The passkey could not be checked.' })
  return { id: passkey.id, personId: passkey.person_id, counter: authenticationInfo.newCounter }
}

/** Whose passkey it is, unless it was removed since it was checked. Inside of a transaction. */
export async function personOfPasskey(db: Db, { id, personId, counter }: CheckedPasskey): Promise<Person> {
  const person = await holdPerson(db, personId)
  if ((await setCounter(db, id, counter)) === 0) refuse('wrong_credentials', { message: unknownPasskey })
  return person
}

const unknownPasskey = 'This passkey is not known here.'

export const listPasskeys = (db: Db, personId: string): Promise<PasskeyRow[]> => passkeysOf(db, personId)

export async function removePasskey(db: Db, personId: string, id: string): Promise<PasskeyRow> {
  return (await deletePasskey(db, personId, id)) ?? refuse('not_found')
}

/** All that a person has. Returns how many there were. */
export const removePasskeys = (db: Db, personId: string): Promise<number> => deletePasskeys(db, personId)

async function takeAsked(db: Db, clock: Clock, token: string | undefined) {
  const asked = await findChallenge(db, clock, 'passkey', token)
  if (!asked || token === undefined || !(await useChallenge(db, token))) {
    return refuse('wrong_credentials', { message: 'That took too long. Try again.' })
  }
  return asked
}
