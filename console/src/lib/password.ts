import type { passwordLength } from '@parley/contract/console/session'

/** The type keeps these equal to the contract. Importing the value would add all schemas to the bundle. */
const length: typeof passwordLength = { min: 15, max: 128 }

/** What is wrong with a new password, or null. Only the length is checked; the service also rejects common passwords. */
export function passwordProblem(password: string): string | null {
  const size = [...password].length
  if (size === 0) return 'Choose a password.'
  if (size < length.min) return `Too short. Use at least ${length.min} characters.`
  if (size > length.max) return `Too long: use at most ${length.max} characters.`
  return null
}

interface Strength {
  /** 0 to 4. */
  level: number
  label: string
}

/** A rough estimate of how hard a password is to guess: length counts, repetition does not. */
export function passwordStrength(password: string): Strength {
  const size = [...password].length
  if (size === 0) return { level: 0, label: `Use at least ${length.min} characters. A few unrelated words work well.` }
  const different = new Set(password.toLowerCase()).size
  const worth = Math.min(size, different * 2.2)
  if (size < length.min)
    return {
      level: 1,
      label: `Add ${length.min - size} more ${length.min - size === 1 ? 'character' : 'characters'}.`,
    }
  if (different < 6 || /^(.{1,4})\1+$/u.test(password)) return { level: 1, label: 'Weak: too much repetition.' }
  if (worth < 18) return { level: 2, label: 'Fair. Add another word to make it strong.' }
  if (worth < 24) return { level: 3, label: 'Strong.' }
  return { level: 4, label: 'Very strong.' }
}
