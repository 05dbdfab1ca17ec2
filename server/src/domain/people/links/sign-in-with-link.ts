import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { refuse } from '../../../lib/refuse.ts'
import { checkNewPerson } from '../people.ts'
import { checkFirstFactor, releaseOnError, type SigningIn, type Step, startSession } from '../sign-in/sign-in.ts'
import { accountFor, followLink, isStillVerified, type Link, readLink } from './links.ts'

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
  const attempt = checked?.attempt ?? null
  const signedIn = db.transaction(async (tx) => {
    if (checked?.person.totp_confirmed_at) {
      if (!(await isStillVerified(tx, checked.person))) refuse('wrong_credentials', { message: 'Wrong password.' })
      return startSession(tx, clock, checked.person, browser, { linkId: link.id })
    }
    const followed = await followLink(tx, clock, token, given, checked?.person ?? null, browser.client)
    return startSession(tx, clock, followed.person, browser, { attempt, followed })
  })
  return releaseOnError(db, attempt, signedIn)
}

/** The existing account that the link is for, with a correct password; null for a new account and for a reset. */
async function checkAccount(db: Db, clock: Clock, link: Link, given: LinkInput, browser: SigningIn) {
  if (link.kind === 'reset') return null
  const { name, password } = given
  const email = link.email ?? given.email ?? ''
  // Before the account is looked for: otherwise the errors would reveal to the person who invited whether there is one.
  if (name !== undefined) checkNewPerson({ email, name, password })
  const account = await accountFor(db, link, given.email)
  if (!account && name !== undefined) return null
  const message = name === undefined ? 'Wrong password.' : 'You already have an account. Enter its password.'
  return checkFirstFactor(db, clock, { email, password }, browser, { message, becomesOperator: link.operator })
}
