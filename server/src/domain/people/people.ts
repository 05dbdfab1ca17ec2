import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { newUuid } from '../../lib/ids.ts'
import { refuse, refuseIfAny, refuseParam } from '../../lib/refuse.ts'
import { textErrors } from '../../lib/text-errors.ts'
import { checkPassword } from './passwords.ts'
import {
  allPeople,
  insertPerson,
  type ListedPerson,
  namesById,
  type PersonRow,
  personByEmail,
  personById,
  setPerson,
} from './people.sql.ts'

export type Person = PersonRow

/** Email addresses are case-insensitive here, so they are stored in lower case. */
export function readEmail(text: string): string {
  const email = text.trim().toLowerCase()
  refuseIfAny(textErrors('email', email, 254))
  if (!/^[^\s@<>"]+@[^\s@<>"]+$/.test(email)) {
    refuseParam('email', 'invalid', 'Enter a valid email address.')
  }
  return email
}

export function readName(text: string): string {
  const name = text.trim()
  refuseIfAny(textErrors('name', name, 100))
  return name
}

export interface PersonInput {
  email: string
  name: string
  passwordHash: string
  operator: boolean
  /** The person used a link that was sent to the email address. */
  isVerified: boolean
}

/** Fails with what is wrong with the input for a new account. */
export const checkNewPerson = (input: { email: string; name: string; password: string }): void =>
  checkPassword(input.password, { email: readEmail(input.email), name: readName(input.name) })

export async function createPerson(db: Db, clock: Clock, input: PersonInput): Promise<Person> {
  const [email, name] = [readEmail(input.email), readName(input.name)]
  const id = newUuid(clock.now().getTime())
  const { operator, passwordHash: password_hash } = input
  const [created_at, email_verified_at] = [clock.now(), input.isVerified ? clock.now() : null]
  const row = { id, email, name, password_hash, operator, created_at, email_verified_at }
  if ((await insertPerson(db, row)) === 0)
    refuse('conflict', { message: 'An account with this email address already exists.' })
  return requirePerson(db, id)
}

/** Fails if an operator disabled the account. Call it after a factor was correct: strangers do not learn it. */
export function requireEnabled(person: Person): Person {
  return person.disabled_at === null ? person : refuse('account_disabled')
}

export const requirePerson = async (db: Db, id: string): Promise<Person> =>
  (await personById(db, id)) ?? refuse('not_found')

/**
 * Reads the person under a shared lock, in a transaction. Waits for a running account recovery, and blocks a new one until
 * the transaction ends.
 */
export const holdPerson = async (db: Db, id: string): Promise<Person> =>
  (await personById(db, id, 'for key share')) ?? refuse('not_found')

/** Reads the person under an exclusive lock, in a transaction: no session, passkey or challenge can be added. */
export const lockPerson = async (db: Db, id: string): Promise<Person> =>
  (await personById(db, id, 'for update')) ?? refuse('not_found')

export const findPerson = (db: Db, email: string): Promise<Person | undefined> => personByEmail(db, readEmail(email))

/** All people with their workspaces and passkeys, for operators. */
export async function listPeople(db: Db): Promise<ListedPerson[]> {
  const people = await allPeople(db)
  const isoTime = (text: string) => new Date(text).toISOString()
  return people.map((person) => ({
    ...person,
    passkeys: person.passkeys.map((passkey) => ({ ...passkey, created_at: isoTime(passkey.created_at) })),
  }))
}

export { hasPeople, timeZoneOf as readTimeZone } from './people.sql.ts'

/** Stores a time zone under its IANA name. Null: the zone of the browser. */
export async function changeTimeZone(db: Db, id: string, timeZone: string | null): Promise<string | null> {
  const checked = timeZone === null ? null : readZone(timeZone)
  await setPerson(db, id, 'time_zone', checked)
  return checked
}

function readZone(text: string): string {
  try {
    // An offset such as +05:30 is valid too, but does not follow daylight saving time.
    if (/^[A-Za-z]/.test(text)) return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone
  } catch {}
  return refuseParam('time_zone', 'invalid', 'Unknown time zone. Use an IANA name, for example Europe/Berlin.')
}

export async function renamePerson(db: Db, id: string, name: string): Promise<string> {
  const checked = readName(name)
  await setPerson(db, id, 'name', checked)
  return checked
}

export const namesOfPeople = async (db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, string>> =>
  new Map((await namesById(db, ids)).map(({ id, name }) => [id, name]))
