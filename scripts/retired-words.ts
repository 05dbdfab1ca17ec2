// Fails if a retired word is in the repository. docs/start/concepts.md has the terms that we use instead.
//   node scripts/retired-words.ts            prints each hit; ends with 1 if there is one
//   node scripts/retired-words.ts --counts   prints how many lines have each word
//   node scripts/retired-words.ts server/src only files whose path begins so
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

interface RetiredWord {
  pattern: RegExp
  use: string
  /** Lines in which the word means something else. */
  except?: RegExp
  /** Files in which it means something else. */
  exceptIn?: RegExp
}

/** Files about people who answer: forms, questions of a dialog or a command. */
const aboutPeople =
  /(^|\/)(forms|flows|handset)\/|(answers|bubbles|leave-guard|discard-dialog|exact-json)\.tsx?$|privacy|e2e\/docs\/page|submissions|person|parked|redact|inspector|untrusted|mcp\/tools|messages\/console\.test|search\/fill|contacts\/scenario/

/** Files that name the columns `delivery_attempts.answer` and `idempotency_keys.answer`. */
const aboutAnswerColumns =
  /\.sql(\.ts)?$|^bench\/|^server\/testing\/deliveries|domain\/deliveries\/|sending\/(idempotency|store-messages)|every-error/

/** Released migrations are never edited. */
const inMigrations = /^server\/migrations\//

/** Not in code, comments, tests or documents. */
export const retiredEverywhere: readonly RetiredWord[] = [
  { pattern: /\bwhoever\b/i, use: 'the process, client or person that is meant' },
  {
    pattern: /\b(nobody|somebody|anybody)\b/i,
    use: 'no one, someone, or the person or process that is meant',
    except: /[`'"]nobody[`'"]/,
  },
  { pattern: /\btold\b/i, use: 'reported, published, notified' },
  { pattern: /\bthings?\b/i, use: 'the noun that is meant' },
  { pattern: /\bstands\b/i, use: 'is' },
  { pattern: /\blies\b/i, use: 'is, is stored' },
  { pattern: /\bfares?\b/i, use: 'result' },
  { pattern: /\bcomes to\b/i, use: 'a concrete verb' },
  { pattern: /\bbecame of\b/i, use: 'result, status' },
  { pattern: /\b(is|are|be|was|been) seen to\b/i, use: 'handled, processed' },
  { pattern: /\bby hand\b/i, use: 'manually, from the console' },
  { pattern: /\bgiv(e|es|en|ing) back\b/i, use: 'refunded, released, returned' },
  { pattern: /\bfor ever\b/i, use: 'forever, or the limit' },
  { pattern: /\bbeside\b/i, use: 'next to, in addition to, with' },
  { pattern: /\bpretend\b/i, use: 'simulated' },
  { pattern: /(?<!\/)\bmeanwhile\b/i, use: 'while, until, in between', exceptIn: inMigrations },
  { pattern: /\bfor good\b/i, use: 'permanently', exceptIn: inMigrations },
  { pattern: /\b(go|goes|going|went) on\b/i, use: 'continue' },
  { pattern: /\balso (if|when|while|after)\b/i, use: 'even if, even when' },
  { pattern: /\bhouses?\b|useHouse/i, use: 'test server' },
  {
    pattern: /\bwalls?\b/i,
    use: 'tenant isolation, row-level security',
    except: /wall[ -](clock|time)|wallMs|\bwall[:(,]|\.wall\b|create policy wall|const wall =|abs\(wall/,
  },
  { pattern: /\bfloors?\b/i, use: 'layer', except: /Math\.floor|floor\(/ },
  { pattern: /\bdoors?\b/i, use: 'guard, listener' },
  { pattern: /\brooms?\b/i, use: 'capacity' },
  {
    pattern: /\bkeepers?\b/i,
    use: 'the process or record that is meant',
    except: /access_revision|drop column|keeper (uuid|text|int)/,
  },
  { pattern: /\bcouriers?\b/i, use: 'delivery worker' },
  { pattern: /\blanes?\b/i, use: 'queue' },
  { pattern: /\bjudge(s|d|ments?)?\b|\bjudgments?\b/i, use: 'classify, decide' },
  { pattern: /\bsettle[sd]?\b|\bsettling\b/i, use: 'record, apply, finish', except: /allSettled|onSettled|\/settled/ },
  { pattern: /\bdeeds?\b/i, use: 'action, audit entry' },
  { pattern: /\bwish(es|ed)?\b/i, use: 'input, request' },
  { pattern: /\btally\b/i, use: 'counters' },
  { pattern: /\bstor(y|ies)\b/i, use: 'timeline, detail' },
  { pattern: /\bUnfit\b/, use: 'StartupError' },
  {
    pattern: /budget/i,
    use: 'rate limit, limit, deadline',
    // Names of the schema.
    except: /budget_windows|api_keys|(row|k|rules|w|excluded)\.budget|'budget'|budget: (key\.)?rateLimitPerMin/,
    exceptIn: /^server\/(migrations|testing\/filled)\/|domain\/keys\/.*\.sql\.ts$/,
  },
  {
    pattern: /answer/i,
    use: 'response, reply, result',
    exceptIn: new RegExp(`${aboutPeople.source}|${aboutAnswerColumns.source}`),
  },
  {
    pattern: /\bnpx parley\b/,
    use: './parley, because outside of the clone npx runs a package of the npm registry',
    except: /works in the clone|no database/,
    // About the command line in the SDK's package.
    exceptIn: /^cli\/src\/packaged\/|^docs\/tools\/command-line\.md$|^sdk\/(README\.md|build\/pack\.test\.ts)$/,
  },
]

/** Not in text that people read: the console, the handset, the command line, errors and documents. */
export const retiredForPeople: readonly RetiredWord[] = [
  { pattern: /\bRefusals?\b/, use: 'API errors', except: /new Refusal/ },
  { pattern: /\b(No|Nothing)\b.* fits?\b/, use: 'No results, No matching …' },
  { pattern: /\bGet going\b/i, use: 'Get started' },
  { pattern: /\bThere is no such\b/i, use: '… not found' },
  { pattern: /\bas it (must|should) be\b/i, use: 'say what is wrong' },
  { pattern: /\bused up\b/i, use: 'exceeded' },
  { pattern: /\bat once\b/i, use: 'immediately, at the same time' },
  { pattern: /\bE-?mail\b/, use: 'Email (email inside a sentence)', except: /\bEmail\b/ },
  { pattern: /(?<!-)\bId\b/, use: 'ID' },
  { pattern: /\b[Hh]and (this|the|it) link\b|\bMake the link\b/, use: 'Share this link, Create link' },
  { pattern: /\bLook again\b/i, use: 'Run checks' },
  { pattern: /\bwants? your attention\b/i, use: 'Needs attention' },
  { pattern: /\bfewer than \d+ characters?\b/i, use: 'must not be empty, must have at least … characters' },
  { pattern: /\bthe wire\b/i, use: 'Network log' },
  { pattern: /\bhalf within\b|\bTook\b/, use: 'p50, p95, Duration' },
]

const root = join(import.meta.dirname, '..')

/** Real payloads, generated files, and the list itself. */
const skipped =
  /(^|\/)(package-lock\.json|LICENSE)$|\/fixtures\/|\.(png|svg|ogg|woff2?|ico|pdf)$|^scripts\/retired-words(\.test)?\.ts$|^docs\/start\/concepts\.md$/

const isDocument = (file: string): boolean => file.endsWith('.md') || file === 'docs/openapi.json'

interface Hit {
  file: string
  line: number
  word: RetiredWord
  text: string
}

export function wordsIn(text: string, words: readonly RetiredWord[]): RetiredWord[] {
  return words.filter(({ pattern, except }) => pattern.test(text) && !except?.test(text))
}

function hitsIn(file: string): Hit[] {
  const all = isDocument(file) ? [...retiredEverywhere, ...retiredForPeople] : retiredEverywhere
  const words = all.filter(({ exceptIn }) => !exceptIn?.test(file))
  const lines = readFileSync(join(root, file), 'utf8').split('\n')
  return lines.flatMap((text, index) => wordsIn(text, words).map((word) => ({ file, line: index + 1, word, text })))
}

if (import.meta.main) {
  const args = process.argv.slice(2)
  const starts = args.filter((arg) => !arg.startsWith('--'))
  const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file && !skipped.test(file))
    .filter((file) => starts.length === 0 || starts.some((start) => file.startsWith(start)))
  const hits = files.flatMap(hitsIn)
  if (args.includes('--counts')) {
    for (const word of [...retiredEverywhere, ...retiredForPeople]) {
      console.log(String(hits.filter((hit) => hit.word === word).length).padStart(5), word.pattern.source)
    }
  } else {
    for (const { file, line, word, text } of hits) {
      console.log(`${file}:${line}: ${text.trim().slice(0, 140)}\n    instead: ${word.use}`)
    }
  }
  console.log(`${hits.length} retired words in ${new Set(hits.map(({ file }) => file)).size} files`)
  if (hits.length > 0) process.exitCode = 1
}
