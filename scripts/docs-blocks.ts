import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A code block of the documentation. */
export interface DocsBlock {
  /** For example `docs/messages/sending.md:14`. */
  at: string
  file: string
  line: number
  /** The heading above it, of the second level. */
  section: string
  language: string
  /** The words after the language. */
  words: string[]
  text: string
}

const root = join(import.meta.dirname, '..')

/** Every Markdown file of the repository. */
export const docsFiles = (): string[] =>
  globSync('**/*.md', { cwd: root, exclude: ['**/node_modules', 'data', 'dist'] }).sort()

export function blocksOf(file: string): DocsBlock[] {
  const source = readFileSync(join(root, file), 'utf8')
  const blocks: DocsBlock[] = []
  let section = ''
  for (const { 1: heading, 3: info = '', 4: text = '', index } of source.matchAll(
    /^## (.+)$|^( *)```([^\n`]*)\n([\s\S]*?)^\2```$/gm,
  )) {
    if (heading) section = heading
    else {
      const [language = '', ...words] = info.trim().split(/\s+/)
      const line = source.slice(0, index).split('\n').length
      blocks.push({ at: `${file}:${line}`, file, line, section, language, words, text })
    }
  }
  return blocks
}

/** What the commands of the block before it print. */
export const isOutput = ({ words }: DocsBlock): boolean => words.includes('output')

/** Only to read: it cannot be run by a test. */
const isExample = ({ language, words }: DocsBlock): boolean =>
  words.includes('example') || (language === 'text' && !words.includes('output'))

/** Has to be run by a test. */
export const isRun = (block: DocsBlock): boolean => !isOutput(block) && !isExample(block)
