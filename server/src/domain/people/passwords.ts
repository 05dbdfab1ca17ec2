import { passwordLength } from '@parley/contract/console/session'
import type { FieldErrorCode } from '@parley/contract/field-errors'
import { load } from '../../lib/load.ts'
import { Refusal, refuseParam } from '../../lib/refuse.ts'
import { type Client, FairQueue } from '../../sharing/fair-queue.ts'

/** argon2id with the parameters that OWASP recommends: 19 MiB, two iterations, a parallelism of one. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

// Hashing is slow on purpose (about 30 ms) and runs in the thread pool that DNS lookups and file reads use too. The limit
// keeps a flood of sign-in attempts from stopping deliveries. 20 people who sign in at the same moment from one address all
// get in, the last after a third of a second. 500 waiting from all addresses take about eight seconds.
const hashing = new FairQueue({
  running: 2,
  waitingPerOwner: 20,
  waiting: 500,
  refusal(reason) {
    const retry = { details: { retry_after: 5 }, headers: { 'Retry-After': '5' } }
    return reason === 'queue is full'
      ? new Refusal('service_unavailable', {
          message: 'Too many users are signing in right now. Try again in a few seconds.',
          ...retry,
        })
      : new Refusal('too_many_attempts', {
          message: 'Too many attempts from your network at the same time. Try again in 5 seconds.',
          ...retry,
        })
  },
})

/**
 * Runs `work`, which hashes or checks one password, when it is this client's turn. What a refused attempt would have stored
 * belongs into `work`, so that nothing is stored for it.
 */
export const whenHashingIsFree = <T>({ key, isKnown }: Client, work: () => Promise<T>): Promise<T> =>
  hashing.run(key, work, isKnown)

/** Long enough for the minimum length, but easy to guess. */
const commonPasswords = ['correcthorsebatterystaple', 'qwertyuiopasdfg', 'qwertyuiopasdfgh', 'abcdefghijklmnop']

/** Words that weak passwords are made of, in any number and with any characters in between. */
const commonWords = [
  ...['password', 'passwort', 'contrasena', 'administrator', 'admin', 'welcome', 'letmein', 'iloveyou', 'changeme'],
  ...['secret', 'login', 'monkey', 'dragon', 'football', 'sunshine', 'princess', 'whatsapp', 'qwertyuiop', 'qwerty'],
  ...[
    'asdfghjkl',
    'zxcvbnm',
    '1q2w3e4r',
    'abc123',
    '1234567890',
    '123456789',
    '12345678',
    '1234567',
    '123456',
    '12345',
  ],
]

/** Rejects a password that is too short, too long, common, or made of the person's own name or email address. */
export function checkPassword(password: string, { email, name }: { email: string; name: string }): void {
  const problem = problemOf(password, [email, email.split('@')[0] ?? '', name, 'parley'])
  if (problem) refuseParam('password', ...problem)
}

function problemOf(password: string, ownWords: readonly string[]): [FieldErrorCode, string] | null {
  const { min, max } = passwordLength
  const length = [...password].length
  if (length < min) {
    return ['too_short', `The password must have at least ${min} characters. A few unrelated words work well.`]
  }
  if (length > max) return ['too_long', `The password can have at most ${max} characters.`]
  const folded = password.normalize('NFKC').toLowerCase()
  const tooCommon: [FieldErrorCode, string] = ['invalid', 'This password is too easy to guess. Choose another one.']
  const plain = folded.replaceAll(/[^\p{L}\p{N}]/gu, '')
  if (commonPasswords.includes(plain) || without(plain, commonWords).length < 6) return tooCommon
  if (new Set(folded).size < 5) return tooCommon
  const own = ownWords.map((each) => each.toLowerCase()).filter((each) => each.length > 3)
  return without(folded, own).length < 6
    ? ['invalid', 'The password consists of your name or email address. Choose another one.']
    : null
}

const without = (text: string, words: readonly string[]): string =>
  words.reduce((rest, word) => rest.replaceAll(word, ''), text)

/** Different keyboards encode the same characters differently; normalized, they are the same password. */
const normalized = (password: string): string => password.normalize('NFKC')

const argon2 = () => load('@node-rs/argon2') as typeof import('@node-rs/argon2')

/**
 * Do not call it in a transaction: it may wait in the queue for longer than PostgreSQL lets a transaction be idle, and would
 * keep one of few connections until then.
 */
export const hashPassword = (password: string, client: Client): Promise<string> =>
  whenHashingIsFree(client, () => argon2().hash(normalized(password), cost))

/** Compared against if there is no password, so that the check takes the same time as with one. */
const dummyHash = '$argon2id$v=19$m=19456,t=2,p=1$c29tZSBzYWx0IHRoZXJl$Zm9yIGNvbXBhcmluZyBvbmx5LCBubyBwYXNzd29yZCE'

/** Call it inside `whenHashingIsFree`. */
export async function isPassword(passwordHash: string | null, password: string): Promise<boolean> {
  if (password.length > passwordLength.max * 4) return false
  const isCorrect = await argon2()
    .verify(passwordHash ?? dummyHash, normalized(password))
    .catch(() => false)
  return isCorrect && passwordHash !== null
}
