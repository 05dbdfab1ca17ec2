import { hash, verify } from '@node-rs/argon2'
import { passwordLength } from '@parley/contract/console/session'
import type { FieldErrorCode } from '@parley/contract/field-errors'
import { limitConcurrency } from '../../lib/limit-concurrency.ts'
import { refuse, refuseParam } from '../../lib/refuse.ts'

/** argon2id as OWASP advises: 19 MiB, two passes, one lane. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

// It is slow on purpose, and in threads that looking up hosts and reading files need as well: whoever floods the sign-in
// with guesses must not stop deliveries.
const inTurn = limitConcurrency(2, 100, () =>
  refuse('service_unavailable', {
    message: 'Too many are signing in at this moment. Try again in a few seconds.',
    headers: { 'Retry-After': '5' },
  }),
)

/** Long enough for our rule of length, and still among the first that anybody would try. */
const common = ['correcthorsebatterystaple', 'qwertyuiopasdfg', 'qwertyuiopasdfgh', 'abcdefghijklmnop']

/** What such passwords are pieced together from, however often and with whatever between. */
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

/** Refuses a password that is too short, too long, well known, or made of nothing but this person's own words. */
export function checkPassword(password: string, { email, name }: { email: string; name: string }): void {
  const fault = faultOf(password, [email, email.split('@')[0] ?? '', name, 'parley'])
  if (fault) refuseParam('password', ...fault)
}

function faultOf(password: string, ownWords: readonly string[]): [FieldErrorCode, string] | null {
  const { min, max } = passwordLength
  const length = [...password].length
  if (length < min) {
    return ['too_short', `The password must have at least ${min} characters. A few unrelated words do well.`]
  }
  if (length > max) return ['too_long', `The password may have at most ${max} characters.`]
  const folded = password.normalize('NFKC').toLowerCase()
  const known: [FieldErrorCode, string] = [
    'invalid',
    'This password is among the first that others would try. Choose another one.',
  ]
  const plain = folded.replaceAll(/[^\p{L}\p{N}]/gu, '')
  if (common.includes(plain) || without(plain, commonWords).length < 6) return known
  if (new Set(folded).size < 5) return known
  const own = ownWords.map((each) => each.toLowerCase()).filter((each) => each.length > 3)
  return without(folded, own).length < 6
    ? ['invalid', 'The password is made of your own name or address. Choose another one.']
    : null
}

const without = (text: string, words: readonly string[]): string =>
  words.reduce((rest, word) => rest.replaceAll(word, ''), text)

/** Typed on one keyboard and checked after another: the same letters are the same password. */
const folded = (password: string): string => password.normalize('NFKC')

export const hashPassword = (password: string): Promise<string> => inTurn(() => hash(folded(password), cost))

/** Of a password that nobody has: checking against it takes as long as against a real one. */
const nobodys = '$argon2id$v=19$m=19456,t=2,p=1$c29tZSBzYWx0IHRoZXJl$Zm9yIGNvbXBhcmluZyBvbmx5LCBubyBwYXNzd29yZCE'

export async function isPassword(passwordHash: string | null, password: string): Promise<boolean> {
  if (password.length > passwordLength.max * 4) return false
  const right = await inTurn(() => verify(passwordHash ?? nobodys, folded(password)).catch(() => false))
  return right && passwordHash !== null
}
