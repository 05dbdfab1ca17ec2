import { escapeHtml } from '../../lib/escape-html.ts'

/**
 * Colors code while a page is rendered, so that readers need no script. It knows words, not grammars: enough for the examples of
 * the documentation, and what it does not know stays plain.
 */
export function highlight(code: string, language: string): string {
  const pattern = Object.hasOwn(patterns, language) ? patterns[language] : undefined
  if (!pattern) return escapeHtml(code)
  let html = ''
  let end = 0
  for (const match of code.matchAll(pattern)) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? []
    html += escapeHtml(code.slice(end, match.index))
    html +=
      kind === undefined ? escapeHtml(match[0]) : `<span class="${tokenClasses[kind]}">${escapeHtml(match[0])}</span>`
    end = match.index + match[0].length
  }
  return html + escapeHtml(code.slice(end))
}

/** Short, because a page has hundreds of them. `docs.css` has their colors. */
export const tokenClasses: Record<string, string> = { comment: 'c', string: 's', keyword: 'k', number: 'n', name: 'f' }

type Rules = Partial<Record<'comment' | 'string' | 'keyword' | 'number' | 'name', RegExp>>

/** One pattern for all rules. At each place the first rule that matches counts. */
const patternOf = (rules: Rules, flags = ''): RegExp =>
  new RegExp(
    Object.entries(rules)
      .map(([kind, { source }]) => `(?<${kind}>${source})`)
      .join('|'),
    `gm${flags}`,
  )

const words = (text: string): RegExp => new RegExp(`\\b(?:${text.trim().split(/\s+/).join('|')})\\b`)

const doubleQuoted = /"(?:[^"\\\n]|\\.)*"/
const quoted = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/
const number = /\b\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?\b/
const called = /\b[A-Za-z_]\w*(?=\()/
const slashComment = /\/\/.*|\/\*[\s\S]*?\*\//
const hashComment = /(?<=^|\s)#.*/

const json = patternOf({
  name: /"(?:[^"\\\n]|\\.)*"(?=\s*:)/,
  string: doubleQuoted,
  keyword: /\b(?:true|false|null)\b/,
  number: /-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b/,
})

const script = patternOf({
  comment: slashComment,
  string: /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/,
  keyword:
    words(`as async await break case catch class const continue default else export extends false finally for from
    function if import in instanceof interface let new null of return switch this throw true try type typeof undefined
    void while`),
  name: called,
  number,
})

const shell = patternOf({
  comment: hashComment,
  string: /"(?:[^"\\]|\\[\s\S])*"|'[^']*'/,
  keyword: /(?<![\w-])(?:export|if|then|else|fi|for|in|do|done|while)(?![\w-])/,
  name: /\$\{[^}\n]*\}|\$\w+|(?<=^|\s)[A-Za-z_]\w*(?==)/,
  number: /(?<=\s)--?[A-Za-z][\w-]*/,
})

const proxy = patternOf({
  comment: hashComment,
  string: quoted,
  name: /\$\w+/,
  keyword: /(?<=^\s*)[a-z_-]+(?=\s)/,
  number: /\b\d+[smhdk]?\b/,
})

const patterns: Record<string, RegExp> = {
  json,
  ts: script,
  js: script,
  sh: shell,
  python: patternOf({
    comment: hashComment,
    string: /[bfr]{0,2}(?:"""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')/,
    keyword:
      words(`False None True and as assert async await break class continue def elif else except finally for from if
      import in is lambda not or pass raise return try while with yield`),
    name: /@[\w.]+|\b[A-Za-z_]\w*(?=\()/,
    number,
  }),
  go: patternOf({
    comment: slashComment,
    string: /"(?:[^"\\\n]|\\.)*"|`[^`]*`|'(?:[^'\\\n]|\\.)'/,
    keyword:
      words(`break case chan const continue default defer else false for func go if import interface map nil package
      range return select struct switch true type var`),
    name: called,
    number,
  }),
  php: patternOf({
    comment: /\/\/.*|\/\*[\s\S]*?\*\/|(?<=^|\s)#(?!\[).*/,
    string: quoted,
    keyword: words(`as catch class const echo else elseif exit false fn for foreach function if new null print private
      public require return static throw true try use while`),
    name: /\$\w+|\b[A-Za-z_]\w*(?=\()/,
    number,
  }),
  rb: patternOf({
    comment: hashComment,
    string: quoted,
    keyword: words(`begin class def do else elsif end false if module nil raise require rescue return self true unless
      while`),
    name: called,
    number,
  }),
  sql: patternOf(
    {
      comment: /--.*/,
      string: /'(?:[^']|'')*'/,
      keyword:
        words(`add all alter and any as asc between by case concurrently create database default delete desc distinct
        drop else end exists false for from grant group having in index insert interval into is join left like limit not
        null on or order owner password public role schema select set table then to true union update using values when
        where with`),
      number,
    },
    'i',
  ),
  yaml: patternOf({
    comment: hashComment,
    name: /(?<=^[ \t-]*)[\w./-]+(?=:(?:\s|$))/,
    string: quoted,
    keyword: /\b(?:true|false|null)\b/,
    number,
  }),
  http: patternOf({
    keyword: /^(?:GET|POST|PUT|PATCH|DELETE)\b|^HTTP\/[\d.]+/,
    name: /^[\w-]+(?=:)/,
    string: doubleQuoted,
  }),
  nginx: proxy,
  haproxy: proxy,
}
patterns.typescript = script
patterns.bash = shell
patterns.py = patterns.python as RegExp
