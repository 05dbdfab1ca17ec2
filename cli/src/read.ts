import { UsageError } from './command.ts'

export function readTime(option: string, text: string): Date {
  const time = new Date(text)
  if (!Number.isNaN(time.getTime())) return time
  throw new UsageError(`--${option} is "${text}", but it takes a time such as 2027-01-31T00:00:00Z.`)
}

/** Options that may be repeated may as well have commas between. */
export const readList = (given: readonly string[]): string[] => given.flatMap((each) => each.split(','))
