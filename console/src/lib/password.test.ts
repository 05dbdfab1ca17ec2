import { expect, test } from 'vitest'
import { passwordProblem, passwordStrength } from './password.ts'

test('a password has 15 to 128 characters of any kind', () => {
  expect(passwordProblem('')).toBe('Choose a password.')
  expect(passwordProblem('a'.repeat(14))).toContain('at least 15')
  expect(passwordProblem('a'.repeat(15))).toBeNull()
  expect(passwordProblem('ñ🙂'.repeat(8))).toBeNull()
  expect(passwordProblem('a'.repeat(128))).toBeNull()
  expect(passwordProblem('a'.repeat(129))).toContain('at most 128')
})

test('a long password with little variety is weak', () => {
  expect(passwordStrength('aaaaaaaaaaaaaaaaaaaaaaaa').level).toBe(1)
  expect(passwordStrength('abcabcabcabcabcabc').level).toBe(1)
  expect(passwordStrength('marble kettle orbit fig').level).toBeGreaterThan(2)
})
