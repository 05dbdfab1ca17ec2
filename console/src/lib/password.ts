import type { passwordLength } from '@parley/contract/console/session'

/** The contract's numbers, held equal to it by their type: importing the value would bring all schemas along. */
const length: typeof passwordLength = { min: 15, max: 128 }

/** What is wrong with a new password, or null. Its length is the only rule; the service also refuses well-known ones. */
export function passwordProblem(password: string): string | null {
  const size = [...password].length
  if (size === 0) return 'Choose a password.'
  if (size < length.min) return `Too short: ${length.min - size} more to go. At least ${length.min} characters.`
  if (size > length.max) return `Too long: at most ${length.max} characters.`
  return null
}

interface Strength {
  /** 0 to 4. */
  level: number
  words: string
}

/** How hard a password is to guess, roughly and in words: length counts, repetition does not. */
export function passwordStrength(password: string): Strength {
  const size = [...password].length
  if (size === 0) return { level: 0, words: `At least ${length.min} characters. A few unrelated words work well.` }
  const different = new Set(password.toLowerCase()).size
  const worth = Math.min(size, different * 2.2)
  if (size < length.min)
    return {
      level: 1,
      words: `${length.min - size} more ${length.min - size === 1 ? 'character' : 'characters'} to go.`,
    }
  if (different < 6 || /^(.{1,4})\1+$/u.test(password)) return { level: 1, words: 'Long, but it repeats itself.' }
  if (worth < 18) return { level: 2, words: 'Good enough. A few more words make it strong.' }
  if (worth < 24) return { level: 3, words: 'Strong.' }
  return { level: 4, words: 'Very strong.' }
}
