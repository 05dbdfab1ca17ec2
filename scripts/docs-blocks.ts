import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A code block of the documentation. */
export interface DocsBlock {
  /** For example `docs/sending.md:14`. */
  at: string
  file: string
  language: string
  /** The words after the language. */
  words: string[]
  text: string
}

const root = join(import.meta.dirname, '..')

/** The README and every page in docs/. */
export const docsFiles = (): string[] => ['README.md', ...globSync('docs/**/*.md', { cwd: root }).sort()]

export function blocksOf(file: string): DocsBlock[] {
  const source = readFileSync(join(root, file), 'utf8')
  return [...source.matchAll(/^( *)```([^\n`]*)\n([\s\S]*?)^\1```$/gm)].map(({ 2: info = '', 3: text = '', index }) => {
    const [language = '', ...words] = info.trim().split(/\s+/)
    const line = source.slice(0, index).split('\n').length
    return { at: `${file}:${line}`, file, language, words, text }
  })
}

/** Not run and not checked: what a command prints, or a file of another program. */
export const isShown = ({ language, words }: DocsBlock): boolean =>
  language === 'text' || words.includes('output') || words.includes('example')
