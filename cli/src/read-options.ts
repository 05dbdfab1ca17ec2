import { type Call, UsageError } from './command.ts'

export function readTime(option: string, text: string): Date {
  const time = new Date(text)
  if (!Number.isNaN(time.getTime())) return time
  throw new UsageError(`Invalid --${option} "${text}". Enter a time such as 2027-01-31T00:00:00Z.`)
}

/** The values of a repeatable option, which may also be separated by commas. */
export function readList({ options }: Pick<Call, 'options'>, name: string): string[] {
  const given = options(name)
  const list = given
    .flatMap((each) => each.split(','))
    .map((each) => each.trim())
    .filter(Boolean)
  // An unset variable of a shell must not mean "any" or "all".
  if (given.length > 0 && list.length === 0)
    throw new UsageError(`--${name} is empty. Enter a value or leave out the option.`)
  return list
}

/** One of the choices; undefined if the option was not given. */
export function readChoice<Choice extends string>(option: string, text: string, choices: readonly Choice[]): Choice
export function readChoice<Choice extends string>(
  option: string,
  text: string | undefined,
  choices: readonly Choice[],
): Choice | undefined
export function readChoice(option: string, text: string | undefined, choices: readonly string[]): string | undefined {
  if (text === undefined || choices.includes(text)) return text
  throw new UsageError(`Invalid --${option} "${text}". Use one of ${choices.join(', ')}.`)
}

/** A whole number from 1 to `max`; undefined if the option was not given. */
export function readCount({ option }: Pick<Call, 'option'>, name: string, max: number): number | undefined {
  const text = option(name)
  if (text === undefined) return undefined
  const count = Number(text)
  if (/^\d+$/.test(text) && count >= 1 && count <= max) return count
  throw new UsageError(`Invalid --${name} "${text}". Enter a whole number from 1 to ${max}.`)
}

/** The members of a query that were given. */
export const given = <Query extends object>(
  query: Query,
): { [Name in keyof Query]?: Exclude<Query[Name], undefined> } =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as never
