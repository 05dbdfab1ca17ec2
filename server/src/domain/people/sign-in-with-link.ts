import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { refuse } from '../../lib/refuse.ts'
import { accountFor, type FollowedLink, followLink, isPasswordUnchanged, type Link, readLink } from './links.ts'
import { checkFirstFactor, type SigningIn, type Step, startSession } from './sign-in.ts'

export interface LinkInput {
  /** Only for a new account. Without it, the password is that of an existing account. */
  name?: string
  email?: string
  password: string
}

/**
 * Uses a link and signs in. If the account has a second factor, the link is used once that is correct. `onUsed` is called in
 * the transaction that uses it.
 */
export async function signInWithLink(
  db: Db,
  clock: Clock,
  token: string,
  given: LinkInput,
  browser: SigningIn,
  onUsed: (db: Db, followed: FollowedLink) => Promise<void>,
): Promise<{ step: Step; usedLink: boolean }> {
  const link = await readLink(db, clock, token)
  const checked = await checkAccount(db, clock, link, given, browser)
  return db.transaction(async (tx) => {
    if (checked?.person.totp_confirmed_at) {
      if (!(await isPasswordUnchanged(tx, checked.person))) refuse('wrong_credentials', { message: 'Wrong password.' })
      return { step: await startSession(tx, clock, checked.person, browser, { linkId: link.id }), usedLink: false }
    }
    const followed = await followLink(tx, clock, token, given, checked?.person ?? null, browser.client)
    await onUsed(tx, followed)
    const step = await startSession(tx, clock, followed.person, browser, { attempt: checked?.attempt ?? null })
    return { step, usedLink: true }
  })
}

/** The existing account that the link is for, with a correct password; null for a new account and for a reset. */
async function checkAccount(db: Db, clock: Clock, link: Link, given: LinkInput, browser: SigningIn) {
  if (link.kind === 'reset') return null
  const account = await accountFor(db, link, given.email)
  if (!account && given.name !== undefined) return null
  const email = link.email ?? given.email ?? ''
  const message = given.name === undefined ? 'Wrong password.' : 'You already have an account. Enter its password.'
  return checkFirstFactor(db, clock, { email, password: given.password }, browser, {
    message,
    becomesOperator: link.operator,
  })
}
