import { readFileSync } from 'node:fs'

/** Commands of a page, and what the page says that they print. */
export interface Step {
  commands: string
  quotes: Quote[]
}

export interface Quote {
  /** An answer in JSON is laid out on the page, and comes in one line. */
  isJson: boolean
  text: string
}

interface Block {
  section: string
  language: string
  text: string
}

export function readBlocks(file: string): Block[] {
  const blocks: Block[] = []
  let section = ''
  for (const [, heading, language = '', text = ''] of readFileSync(file, 'utf8').matchAll(
    /^## (.+)$|^```(\w*)\n([\s\S]*?)^```$/gm,
  )) {
    if (heading) section = heading
    else blocks.push({ section, language, text })
  }
  return blocks
}

/** What a reader of these sections types, in order; what is quoted before the next commands belongs to the ones before. */
export function readSteps(file: string, sections: readonly string[]): Step[] {
  const steps: Step[] = []
  for (const { section, language, text } of readBlocks(file)) {
    if (!sections.includes(section)) continue
    if (language === 'sh') steps.push({ commands: text, quotes: [] })
    else if (language !== 'ts') steps.at(-1)?.quotes.push({ isJson: language === 'json', text })
  }
  return steps
}

/** What the page abbreviates with `…`, and what it stood for when it was last seen. */
export type Seen = Map<string, string>

/** A word that ends in `…`, such as whsec_… or 01a1de10-…; alone it stands for any word. */
const abbreviation = /[\w.-]*…/g

/** The commands as a reader types them, with what was seen in the place of what is abbreviated. */
export function fillIn(commands: string, seen: Seen): string {
  return commands.replace(abbreviation, (word) => {
    const value = seen.get(word)
    if (value === undefined) throw new Error(`the README uses ${word}, but nothing that it showed before is called so`)
    return value
  })
}

/** Whether this was printed, as it stands; remembers what the abbreviations stood for. */
export function isPrinted({ isJson, text }: Quote, output: string, seen: Seen): boolean {
  const printed = isJson ? layOut(output) : output
  if (printed === undefined) return false
  const words: string[] = []
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => (line.trim() === '…' ? '(?:.*\\n)*?' : `${patternOf(line, words)} *\\n`))
  const found = new RegExp(`^${lines.join('')}`, 'm').exec(`${printed}\n`)
  for (const [index, word] of words.entries()) if (found) seen.set(word, found[index + 1] ?? '')
  return found !== null
}

/**
 * The hexadecimal beginning of an id is as much of this one run as its end; what stands before it, such as msg_, is not. Times are
 * any time, and columns are as wide as what is in them.
 */
function patternOf(line: string, words: string[]): string {
  return line
    .split(/(\d{4}-\d\d-\d\dT[\d:.]+Z|\d{4}-\d\d-\d\d [\d:]{8} [A-Z][\w:+-]*|[\w.-]*…| {2,})/)
    .map((part) => {
      if (/^\d{4}-\d\d-\d\d [\d:]{8} /.test(part)) return '\\d{4}-\\d\\d-\\d\\d [\\d:]{8} [A-Z][\\w:+-]*'
      if (/^\d{4}-.*Z$/.test(part)) return '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z'
      if (/^ {2,}$/.test(part)) return ' +'
      if (!part.endsWith('…')) return RegExp.escape(part)
      words.push(part)
      return `(${RegExp.escape(part.slice(0, -1).replace(/[\da-f.-]+$/, ''))}[^\\s"]+)`
    })
    .join('')
}

function layOut(output: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(output), null, 2)
  } catch {
    return undefined
  }
}
