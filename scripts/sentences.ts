// Fails if a sentence of a document is too long, begins with a "What …" clause or describes history.
//   node scripts/sentences.ts        prints each hit; ends with 1 if there is one
//   node scripts/sentences.ts docs   only files whose path begins so
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Sentence {
  line: number
  text: string
}

const maxWords = 30

const patterns: readonly { pattern: RegExp; use: string }[] = [
  { pattern: /^What\b.*[^?]$/, use: 'a noun as the subject: "Filtered events aren\'t stored."' },
  { pattern: /\bno longer\b/i, use: 'the present state: "doesn\'t", "is removed"; history is for CHANGELOG.md' },
  {
    pattern: /\b(the version before|(earlier|previous) versions?|used to be)\b/i,
    use: 'the present state; history is for CHANGELOG.md',
  },
]

/** What is wrong with a sentence, as advice; empty if nothing is. */
export function adviceFor(text: string): string[] {
  const words = text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
  const long = words > maxWords ? [`shorter sentences: this one has ${words} words, the limit is ${maxWords}`] : []
  return [...long, ...patterns.filter(({ pattern }) => pattern.test(text)).map(({ use }) => use)]
}

/** The sentences of a Markdown document, without its code blocks, headings and comments. Table cells and the steps of a flow (`→`) count as sentences. */
export function sentencesOf(markdown: string): Sentence[] {
  const sentences: Sentence[] = []
  let paragraph: { line: number; text: string } | undefined
  let fence: string | undefined
  const end = (): void => {
    if (paragraph) sentences.push(...splitSentences(paragraph))
    paragraph = undefined
  }
  const visible = markdown.replaceAll(/<!--[\s\S]*?-->/g, (comment) => comment.replaceAll(/[^\n]/g, ''))
  for (const [index, raw] of visible.split('\n').entries()) {
    const line = index + 1
    const text = raw.replace(/^[\s>]*/, '')
    const mark = /^(```+|~~~+)/.exec(text)?.[1]
    if (fence) {
      if (mark?.startsWith(fence)) fence = undefined
    } else if (mark) {
      end()
      fence = mark
    } else if (text === '' || /^(#|---|\[[^\]]+\]:)/.test(text)) {
      end()
    } else if (text.startsWith('|')) {
      end()
      // A cell has no full stops: semicolons divide it.
      for (const part of text.split(/(?<!\\)\||; /)) sentences.push(...splitSentences({ line, text: part }))
    } else {
      const item = /^([-*+]|\d+\.)\s+/.exec(text)
      if (item) end()
      const words = text.slice(item?.[0].length ?? 0)
      paragraph = { line: paragraph?.line ?? line, text: paragraph ? `${paragraph.text} ${words}` : words }
    }
  }
  end()
  return sentences
}

function splitSentences({ line, text }: Sentence): Sentence[] {
  return (
    text
      .replaceAll(/(`+).+?\1/g, 'CODE')
      .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/<https?:[^>]*>/g, 'URL')
      // A bold beginning such as "**Why.**" is a heading.
      .replace(/^\s*\*\*[^*]+[.:]\*\*/, '')
      .replaceAll(/[*_]{1,2}(\S)/g, '$1')
      .replaceAll(/(\S)[*_]{1,2}/g, '$1')
      // A sentence ends before a capital, so that "e.g. this" and "v1.2 of it" are one.
      .split(/(?<=[.!?][)"”]?)\s+(?=["“(]?[A-Z0-9])|\s+→\s+/)
      .map((sentence) => ({ line, text: sentence.trim() }))
      .filter((sentence) => sentence.text !== '')
  )
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  const starts = process.argv.slice(2)
  const files = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file && !file.endsWith('CHANGELOG.md'))
    .filter((file) => starts.length === 0 || starts.some((start) => file.startsWith(start)))
  let hits = 0
  for (const file of files) {
    for (const { line, text } of sentencesOf(readFileSync(join(root, file), 'utf8'))) {
      for (const use of adviceFor(text)) {
        hits++
        console.log(`${file}:${line}: ${text}\n    instead: ${use}`)
      }
    }
  }
  console.log(`${hits} sentences to rewrite in ${files.length} documents`)
  if (hits > 0) process.exitCode = 1
}
