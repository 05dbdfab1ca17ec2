import { blocksOf, type DocsBlock, isOutput, isRun } from '../scripts/docs-blocks.ts'

/** Commands of the README and the output that it quotes for them. */
export interface Step {
  commands: string
  quotes: Quote[]
}

export interface Quote {
  /** A JSON response is indented in the README, but printed on one line. */
  isJson: boolean
  text: string
}

/** The commands of these sections in order, each with the output quoted before the next commands. */
export function readSteps(file: string, sections: readonly string[]): Step[] {
  const steps: Step[] = []
  for (const block of blocksOf(file)) {
    if (!sections.includes(block.section)) continue
    if (isOutput(block)) steps.at(-1)?.quotes.push(quoteOf(block))
    else if (isRun(block) && block.language === 'sh') steps.push({ commands: block.text, quotes: [] })
  }
  return steps
}

export const quoteOf = ({ language, text }: DocsBlock): Quote => ({ isJson: language === 'json', text })

/** The values that the README abbreviates with `…`, as last printed. */
export type Seen = Map<string, string>

/** A word that ends in `…`, such as whsec_… or 01a1de10-…. A single `…` matches any word. */
const abbreviation = /[\w.-]*…/g

/** Replaces the abbreviations in commands by the printed values. */
export function fillIn(commands: string, seen: Seen): string {
  return commands.replace(abbreviation, (word) => {
    const value = seen.get(word)
    if (value === undefined) throw new Error(`the documents use ${word}, but no output before it has such a value`)
    return value
  })
}

/** Whether the output contains the quote. Saves the values of its abbreviations. */
export function isPrinted({ isJson, text }: Quote, output: string, seen: Seen): boolean {
  const printed = isJson ? indented(output) : output
  if (printed === undefined) return false
  const words: string[] = []
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => (line.trim() === '…' ? '(?:.*\\n)*?' : `${patternOf(line, words)} *\\n`))
  const found = new RegExp(`^${lines.join('')}`, 'm').exec(`${printed}\n`)
  // A single `…` is any word, and not always the same one.
  for (const [index, word] of words.entries()) if (found && word !== '…') seen.set(word, found[index + 1] ?? '')
  return found !== null
}

/**
 * The hexadecimal start of an abbreviated ID differs in each run; a prefix such as msg_ does not. Any time matches a time, any
 * duration a duration, and any number of spaces matches the spaces between columns.
 */
function patternOf(line: string, words: string[]): string {
  return line
    .split(/(\d{4}-\d\d-\d\dT[\d:.]+Z|\d{4}-\d\d-\d\d [\d:]{8} [A-Z][\w:+-]*|\d\d:\d\d:\d\d|\d+ ms|[\w.-]*…| {2,})/)
    .map((part) => {
      if (/^\d{4}-\d\d-\d\d [\d:]{8} /.test(part)) return '\\d{4}-\\d\\d-\\d\\d [\\d:]{8} [A-Z][\\w:+-]*'
      if (/^\d{4}-.*Z$/.test(part)) return '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z'
      if (/^\d\d:\d\d:\d\d$|^\d+ ms$/.test(part)) return part.replaceAll(/\d+/g, '\\d+')
      if (/^ {2,}$/.test(part)) return ' +'
      if (!part.endsWith('…')) return RegExp.escape(part)
      words.push(part)
      return `(${RegExp.escape(part.slice(0, -1).replace(/[\da-f.-]+$/, ''))}[^\\s"]+)`
    })
    .join('')
}

function indented(output: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(output), null, 2)
  } catch {
    return undefined
  }
}
