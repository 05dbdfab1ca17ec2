import { hash, verify } from '@node-rs/argon2'
import { passwordLength } from '@parley/contract/console/session'
import { refuseParam } from '../../lib/refuse.ts'

/** argon2id as OWASP advises: 19 MiB, two passes, one lane. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Long enough for our rule of length, and still among the first that anybody would try. */
const common = [
  'passwordpassword',
  'password1234567',
  'password12345678',
  '123456789012345',
  '1234567890123456',
  'qwertyuiopasdfg',
  'qwertyuiopasdfgh',
  'qwertyuiop12345',
  'iloveyouiloveyou',
  'letmeinletmeinletmein',
  'adminadminadmin',
  'changemechangeme',
  'correcthorsebatterystaple',
  'correct horse battery staple',
  'abcdefghijklmnop',
  'administrator123',
  'welcomewelcome1',
]

/** Refuses a password that is too short, too long, well known, or made of nothing but this person's own words. */
export function checkPassword(password: string, { email, name }: { email: string; name: string }): void {
  const fault = faultOf(password, [email, email.split('@')[0] ?? '', name, 'parley'])
  if (fault) refuseParam('password', 'invalid', fault)
}

function faultOf(password: string, ownWords: readonly string[]): string | null {
  const { min, max } = passwordLength
  const length = [...password].length
  if (length < min) return `The password must have at least ${min} characters. A few unrelated words do well.`
  if (length > max) return `The password may have at most ${max} characters.`
  const folded = password.normalize('NFKC').toLowerCase()
  const known = 'This password is among the first that others would try. Choose another one.'
  if (common.some((each) => folded === each)) return known
  if (new Set(folded).size < 5) return known
  let rest = folded
  for (const word of ownWords.map((each) => each.toLowerCase()).filter((each) => each.length > 3)) {
    rest = rest.replaceAll(word, '')
  }
  return rest.length < 6 ? 'The password is made of your own name or address. Choose another one.' : null
}

/** Typed on one keyboard and checked after another: the same letters are the same password. */
const folded = (password: string): string => password.normalize('NFKC')

export const hashPassword = (password: string): Promise<string> => hash(folded(password), cost)

/** Of a password that nobody has: checking against it takes as long as against a real one. */
const nobodys = '$argon2id$v=19$m=19456,t=2,p=1$c29tZSBzYWx0IHRoZXJl$Zm9yIGNvbXBhcmluZyBvbmx5LCBubyBwYXNzd29yZCE'

export async function isPassword(passwordHash: string | null, password: string): Promise<boolean> {
  if (password.length > passwordLength.max * 4) return false
  const right = await verify(passwordHash ?? nobodys, folded(password)).catch(() => false)
  return right && passwordHash !== null
}
