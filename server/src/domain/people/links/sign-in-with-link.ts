import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { checkPassword, hashPassword } from '../passwords.ts'
import { checkNewPerson, requirePerson } from '../people.ts'
import {
  checkFirstFactor,
  holdVerified,
  releaseOnError,
  type SigningIn,
  type Step,
  startSession,
} from '../sign-in/sign-in.ts'
import { accountFor, followLink, type Link, readLink, useLinkAs } from './links.ts'

export interface LinkInput {
  /** Only for a new account. Without it, the password is that of an existing account. */
  name?: string
  email?: string
  password: string
}

/** Uses a link and signs in. If the account has a second factor, the link is used once that is correct. */
export async function signInWithLink(
  db: Db,
  clock: Clock,
  token: string,
  given: LinkInput,
  browser: SigningIn,
): Promise<Step> {
  const link = await readLink(db, clock, token)
  const checked = await checkAccount(db, clock, link, given, browser)
  if (!checked) {
    const passwordHash = await hashPassword(given.password, browser.client)
    return db.transaction(async (tx) => {
      const followed = await followLink(tx, clock, token, { ...given, passwordHash })
      return startSession(tx, clock, followed.person, browser, { followed })
    })
  }
  const { attempt } = checked
  const signedIn = db.transaction(async (tx) => {
    const person = await holdVerified(tx, checked.person, 'Wrong password.')
    if (person.totp_confirmed_at) return startSession(tx, clock, person, browser, { linkId: link.id })
    const followed = await useLinkAs(tx, clock, link.id, person)
    return startSession(tx, clock, person, browser, { attempt, followed })
  })
  return releaseOnError(db, attempt, signedIn)
}

/**
 * The existing account that the link is for, with a correct password. Null for a new account and for a reset, whose new
 * password is acceptable.
 */
async function checkAccount(db: Db, clock: Clock, link: Link, given: LinkInput, browser: SigningIn) {
  const { name, password } = given
  if (link.kind === 'reset') {
    checkPassword(password, await requirePerson(db, link.person_id as string))
    return null
  }
  const email = link.email ?? given.email ?? ''
  // Before the account is looked for: otherwise the errors would reveal to the person who invited whether there is one.
  if (name !== undefined) checkNewPerson({ email, name, password })
  const account = await accountFor(db, link, given.email)
  if (!account && name !== undefined) return null
  const message = name === undefined ? 'Wrong password.' : 'You already have an account. Enter its password.'
  return checkFirstFactor(db, clock, { email, password }, browser, { message, becomesOperator: link.operator })
}
