import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { textErrors } from '../../lib/field-errors.ts'
import { newUuid } from '../../lib/ids.ts'
import { refuse, refuseIfAny, refuseParam } from '../../lib/refuse.ts'
import { checkPassword, hashPassword } from './passwords.ts'
import {
  allPeople,
  anyPerson,
  holdPersonById,
  insertPerson,
  type ListedPerson,
  lockPersonById,
  type PersonRow,
  personByEmail,
  personById,
  setName,
  setOperator,
} from './people.sql.ts'

export type Person = PersonRow

/** As people are told apart: the same address in any case is the same person. */
export function readEmail(text: string): string {
  const email = text.trim().toLowerCase()
  refuseIfAny(textErrors('email', email, 254))
  if (!/^[^\s@<>"]+@[^\s@<>"]+$/.test(email)) {
    refuseParam('email', 'invalid', 'That is not an e-mail address.')
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
  password: string
  operator: boolean
}

export async function createPerson(db: Db, clock: Clock, input: PersonInput): Promise<Person> {
  const email = readEmail(input.email)
  const name = readName(input.name)
  checkPassword(input.password, { email, name })
  const id = newUuid(clock.now().getTime())
  const { operator } = input
  const passwordHash = await hashPassword(input.password)
  const row = { id, email, name, password_hash: passwordHash, operator, created_at: clock.now() }
  if ((await insertPerson(db, row)) === 0)
    refuse('conflict', { message: 'There is an account with this address already.' })
  return requirePerson(db, id)
}

export async function requirePerson(db: Db, id: string): Promise<Person> {
  return (await personById(db, id)) ?? refuse('not_found')
}

/**
 * Inside of a transaction: the person as they are now. Waits until a recovery of the account that is under way has ended,
 * and keeps one from beginning until the transaction ends.
 */
export const holdPerson = async (db: Db, id: string): Promise<Person> =>
  (await holdPersonById(db, id)) ?? refuse('not_found')

/** Inside of a transaction: nothing that opens this account is added until it ends. */
export const lockPerson = async (db: Db, id: string): Promise<Person> =>
  (await lockPersonById(db, id)) ?? refuse('not_found')

export const findPerson = (db: Db, email: string): Promise<Person | undefined> => personByEmail(db, readEmail(email))

/** Whether anybody can sign in at all. */
export const hasPeople = (db: Db): Promise<boolean> => anyPerson(db)

/** Everybody, with where they belong and their passkeys; for the operator. */
export async function listPeople(db: Db): Promise<ListedPerson[]> {
  const people = await allPeople(db)
  const isoTime = (text: string) => new Date(text).toISOString()
  return people.map((person) => ({
    ...person,
    passkeys: person.passkeys.map((passkey) => ({ ...passkey, created_at: isoTime(passkey.created_at) })),
  }))
}

export async function renamePerson(db: Db, id: string, name: string): Promise<string> {
  const checked = readName(name)
  await setName(db, id, checked)
  return checked
}

export async function makeOperator(db: Db, id: string): Promise<void> {
  await setOperator(db, id, true)
}
