import { expect, test } from 'vitest'
import { Refusal } from '../../lib/refuse.ts'
import { checkPassword, hashPassword, isPassword } from './passwords.ts'

const ana = { email: 'ana.ruiz@example.com', name: 'Ana Ruiz' }

test.each([
  'password password',
  'Password1234567!',
  'passwordpasswordpassword',
  'letmein-letmein-letmein',
  'correct horse battery staple',
  'qwertyuiop 12345',
  'aaaaaaaaaaaaaaaaaaaa',
  'ana.ruiz@example.com',
  'Ana Ruiz ana.ruiz',
  'too short',
])('rejects %s', (password) => {
  expect(() => checkPassword(password, ana)).toThrow(Refusal)
})

test.each(['seven quiet otters', 'my password is a heron', 'ana ruiz eats plums', '雨の日は本を読んで過ごすのが好き'])(
  'accepts %s',
  (password) => {
    expect(() => checkPassword(password, ana)).not.toThrow()
  },
)

test('without a password, the check takes as long as with one', async () => {
  const stored = await hashPassword('seven quiet otters', { key: 'test', isKnown: false })
  const fastest = async (passwordHash: string | null) => {
    const durations = []
    for (let run = 0; run < 2; run++) {
      // Not the elapsed time: the machine may be busy. Only the sum is exact: the kernel estimates how it divides into the two.
      const start = process.cpuUsage()
      expect(await isPassword(passwordHash, 'wrong and long enough')).toBe(false)
      const { user, system } = process.cpuUsage(start)
      durations.push(user + system)
    }
    return Math.min(...durations)
  }
  const [without, withOne] = [await fastest(null), await fastest(stored)]
  expect(without).toBeGreaterThan(withOne / 3)
})
